// The plain reads themselves: the time in which this machine reads one row, and a pair of rows.
#include "kernels.hpp"
#include "row_races.hpp"

namespace bench {
namespace {

/// Race one reader against all of them.
template <class Reader, class Read>
Race reading(const Setting& setting, const Reader& reader, const Read& read) {
    const Pool rows(setting);
    return make_race(
        setting, 1, std::vector{0}, [=](int, Index position) { return read(reader, rows[position]); }, nullptr,
        [=](const auto& by, int, Index position) { return read(by, rows[position]); });
}

template <class Reader>
void add(Kernels& kernels, const Reader& reader) {
    const std::string name = std::string("read_") + Reader::name;
    kernels.push_back({name + "/row", {}, [=](const Setting& at) { return reading(at, reader, target_alone); }, {}});
    kernels.push_back(
        {name + "/pair", {}, [=](const Setting& at) { return reading(at, reader, target_and_draft); }, {}});
}

}  // namespace

void add_reads(Kernels& kernels) {
    std::apply([&](const auto&... reader) { (add(kernels, reader), ...); }, readers);
}

}  // namespace bench
