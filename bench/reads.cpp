// The plain reads themselves: how fast this machine gives out one row, and a pair of rows.
#include "bench.hpp"
#include "race.hpp"

namespace bench {
namespace {

/// One reader against all of them.
template <class Reader, class Read>
void read_rows(benchmark::State& state, const Setting& setting, Index rows, const Read& read) {
    Track track(setting);
    const auto times = std::apply(
        [&](const auto&... reader) {
            return race_times(
                state, track, std::vector{0}, [&](int, Index at) { return read(Reader{}, track.rows()[at]); },
                [&](int, Index at) { return read(reader, track.rows()[at]); }...);
        },
        readers);
    state.counters["x_read"] = times[0] / *std::min_element(times.begin() + 1, times.end());
    state.SetBytesProcessed(state.iterations() * rows * setting.vocab * static_cast<Index>(sizeof(float)));
}

template <class Reader>
void register_reader(const Setting& setting) {
    const std::string kernel = std::string("read_") + Reader::name;
    benchmark::RegisterBenchmark(name(kernel + "/row", setting).c_str(), [setting](benchmark::State& state) {
        read_rows<Reader>(state, setting, 1, [](const auto& reader, const Pair& at) { return reader(at.target); });
    })->UseManualTime();
    benchmark::RegisterBenchmark(name(kernel + "/pair", setting).c_str(), [setting](benchmark::State& state) {
        read_rows<Reader>(state, setting, 2,
                          [](const auto& reader, const Pair& at) { return reader(at.target, at.draft); });
    })->UseManualTime();
}

}  // namespace

void register_reads() {
    for_settings([](const Setting& setting) {
        std::apply([&]<class... Readers>(const Readers&...) { (register_reader<Readers>(setting), ...); }, readers);
    });
}

}  // namespace bench
