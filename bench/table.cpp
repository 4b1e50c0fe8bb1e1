// specsample_bench_table: runs the benchmarks and writes a table in Markdown, and plots.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernels.hpp"
#include "plot.hpp"

namespace bench { namespace {

constexpr const char* usage =
    "--runs N       how often all is measured, 5; figures are medians, with the lowest and the highest\n"
    "--seconds S    for one race at least, .1\n"
    "--filter TEXT  only kernels whose name contains it\n"
    "--quick        one short run at the smallest vocabulary\n"
    "--out FOLDER   write table.md there, and one .svg per part\n";

struct Options {
    int runs = 5;
    double seconds = .1;
    bool quick = false;
    std::string filter, out;
};

/// The measurements of one kernel at one setting: figures by run.
struct Sample {
    Index vocab;
    bool cold;
    double rows = 0;  ///< rows that the plain read reads
    bool has_textbook = false;
    std::vector<Figures> runs;
};

struct Measured {
    Kernel kernel;
    std::vector<Sample> samples;  ///< hot, then cold, for each vocabulary size

    const Sample& at(std::size_t vocab, bool cold) const { return samples[2 * vocab + (cold ? 1 : 0)]; }
};

/// The median and the range of a figure over the runs.
struct Spread {
    double median, least, most;
};

template <class Figure>
Spread spread(const Sample& sample, const Figure& figure) {
    std::vector<double> values;
    for (const Figures& run : sample.runs) values.push_back(figure(run));
    std::ranges::sort(values);
    return {values[values.size() / 2], values.front(), values.back()};
}

double microseconds(const Figures& run) { return run.ours / 1e3; }
double textbook_microseconds(const Figures& run) { return run.textbook / 1e3; }
double read_microseconds(const Figures& run) { return run.read / 1e3; }
double of_read(const Figures& run) { return 100 / run.x_read(); }
double x_textbook(const Figures& run) { return run.x_textbook(); }

/// Measure a kernel at the setting of `sample`, and add the figures to it.
/// @returns false if the race was refused
bool measure(const Kernel& kernel, Sample& sample, const Options& options) {
    using Clock = std::chrono::steady_clock;
    Setting setting = kernel.at;
    setting.vocab = sample.vocab;
    setting.cold = sample.cold;
    const Race race = kernel.race(setting);
    if (race.refused != nullptr) {
        std::fprintf(stderr, "%s, V = %td: %s\n", kernel.name.c_str(), sample.vocab, race.refused);
        return false;
    }
    Laps laps(race);
    const auto start = Clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    for (int count = 1;; ++count) {  // at least three laps, fewer for slow kernels
        laps.lap();
        if (seconds() >= (count < 3 ? 5 : 1) * options.seconds) break;
    }
    sample.rows = race.bytes / sizeof(float) / static_cast<double>(sample.vocab);
    sample.has_textbook = bool(race.textbook);
    sample.runs.push_back(laps.figures());
    return true;
}

/// Measure all kernels once per run, so that the runs of one figure are minutes apart.
bool measure_all(std::vector<Measured>& all, const Options& options) {
    bool good = true;
    for (int run = 1; run <= options.runs; ++run) {
        for (std::size_t v = 0; v < std::size(vocabs) && !(options.quick && v > 0); ++v) {
            std::fprintf(stderr, "run %d of %d, V = %td\n", run, options.runs, vocabs[v]);
            for (Measured& one : all) {
                for (const bool cold : {false, true}) {
                    if (run == 1) one.samples.push_back({.vocab = vocabs[v], .cold = cold, .runs = {}});
                    good &= measure(one.kernel, one.samples[2 * v + (cold ? 1 : 0)], options);
                }
            }
        }
    }
    return good;
}

/// A number with three significant digits, all digits before the point, two after it at most.
std::string digits(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", x < 10 ? 2 : x < 100 ? 1 : 0, x);
    return text;
}

std::string cell(const Spread& figure, const char* unit = "") {
    if (figure.least == figure.most) return digits(figure.median) + unit;
    return digits(figure.median) + unit + " (" + digits(figure.least) + ".." + digits(figure.most) + ")";
}

/// The explanation of the figures, and the conditions of the measurement.
std::string preface(const std::vector<Measured>& all, const Options& options) {
    char text[1024];
    std::snprintf(
        text, sizeof text,
        "One core; %s %s, vectors of at most %d bits, pages of %s. Median of %d runs (lowest..highest); every race "
        "takes "
        "turns with its plain read and its textbook form.\n\n"
        "* **of read**: a plain read of the same bytes, the fastest of four ways, takes this share of the kernel's "
        "time; 100%% is what memory allows.\n"
        "* **x textbook**: the time of the textbook's form in Eigen, with the same flags, over the kernel's.\n"
        "* **hot**: the same rows again, in a cache. **cold**: the next rows of a pool of %.0f MB, read round "
        "and round: out of memory.\n",
#ifdef __clang__
        "clang", __clang_version__,
#else
        "g++", __VERSION__,
#endif
        8 * EIGEN_MAX_STATIC_ALIGN_BYTES, has_huge_pages() ? "2 MB" : "4 kB", options.runs,
        static_cast<double>(pool_bytes()) / 1e6);
    std::string result = text;
    for (std::size_t v = 0; 2 * v < all.front().samples.size(); ++v) {
        double gigabytes[2];
        for (const bool cold : {false, true}) {
            const Sample& sample = all.front().at(v, cold);
            const double bytes = sample.rows * static_cast<double>(sample.vocab) * sizeof(float);
            gigabytes[cold] = bytes / 1e3 / spread(sample, read_microseconds).median;
        }
        std::snprintf(text, sizeof text, "%s V = %td: %.0f GB/s hot, %.1f GB/s cold", v == 0 ? "* A plain read," : ";",
                      all.front().at(v, false).vocab, gigabytes[0], gigabytes[1]);
        result += text;
    }
    return result + ".\n";
}

/// The table of one group of kernels.
std::string markdown(const std::string& group, const std::vector<const Measured*>& members) {
    std::string result = "\n### " + group +
                         "\n\n| kernel | V | hot, us | of read | x textbook | cold, us | of read | x textbook |\n"
                         "|---|--:|--:|--:|--:|--:|--:|--:|\n";
    for (const Measured* one : members) {
        for (std::size_t v = 0; 2 * v < one->samples.size(); ++v) {
            result += "| " + (v == 0 ? one->kernel.name : "") + " | " + std::to_string(one->at(v, false).vocab) + " |";
            for (const bool cold : {false, true}) {
                const Sample& sample = one->at(v, cold);
                result += " " + cell(spread(sample, microseconds)) + " | " + cell(spread(sample, of_read), "%") +
                          " | " + (sample.has_textbook ? cell(spread(sample, x_textbook)) : "") + " |";
            }
            result += "\n";
        }
    }
    return result;
}

/// The text "1.7 rows".
std::string in_rows(double rows) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f rows", std::abs(rows - std::round(rows)) < .05 ? 0 : 1, rows);
    return text;
}

template <class Figure>
Curve curve(const Measured& one, bool cold, const Figure& figure) {
    Curve result;
    for (std::size_t v = 0; 2 * v < one.samples.size(); ++v) {
        const Sample& sample = one.at(v, cold);
        result.points.emplace_back(sample.vocab, spread(sample, figure).median);
    }
    return result;
}

Plot plot(const std::string& group, const std::vector<const Measured*>& members) {
    constexpr const char* colours[] = {"#1f6fb4", "#d1495b", "#2e9e4f", "#8e5bb5", "#e08a1e",
                                       "#17a2a2", "#8a6d3b", "#c2559d", "#6b8e23", "#444c8a"};
    std::array<Panel, 2> panels{{{"hot rows: microseconds", {}}, {"cold rows", {}}}};
    std::vector<Entry> legend;
    for (std::size_t i = 0; i < members.size(); ++i)
        legend.push_back({members[i]->kernel.name, colours[i % std::size(colours)]});
    for (const bool cold : {false, true}) {
        auto& curves = panels[cold].curves;
        std::vector<double> limits;  // the numbers of rows that have a line already
        for (const Measured* one : members) {
            const double rows = one->samples.front().rows;
            if (std::ranges::any_of(limits, [&](double other) { return std::abs(rows / other - 1) < .2; })) continue;
            limits.push_back(rows);
            Curve limit = curve(*one, cold, read_microseconds);
            limit.label = rows < 1.05 ? "1 row" : in_rows(rows);
            limit.colour = "#999";
            limit.dashes = "1.5 3";
            curves.push_back(std::move(limit));
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i]->samples.front().has_textbook) {
                Curve textbook = curve(*members[i], cold, textbook_microseconds);
                textbook.colour = legend[i].colour;
                textbook.dashes = "5 3";
                textbook.width = 1;
                curves.push_back(std::move(textbook));
            }
            Curve ours = curve(*members[i], cold, microseconds);
            ours.colour = legend[i].colour;
            curves.push_back(std::move(ours));
        }
    }
    return {group + ": time by vocabulary", std::move(panels), std::move(legend)};
}

bool write(const std::string& path, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return false;
    std::fputs(text.c_str(), file);
    return std::fclose(file) == 0;
}

int run(const Options& options) {
    std::vector<Measured> all;
    for (const Kernel& kernel : all_kernels())
        if (!kernel.group.empty() && kernel.name.find(options.filter) != std::string::npos) all.push_back({kernel, {}});
    if (all.empty() || !measure_all(all, options)) return 1;

    std::vector<std::string> groups;
    for (const Measured& one : all)
        if (std::ranges::find(groups, one.kernel.group) == groups.end()) groups.push_back(one.kernel.group);
    std::string table = preface(all, options);
    bool written = true;
    for (const std::string& group : groups) {
        std::vector<const Measured*> members;
        for (const Measured& one : all)
            if (one.kernel.group == group) members.push_back(&one);
        table += markdown(group, members);
        if (options.out.empty()) continue;
        std::string file = group;
        std::ranges::replace(file, ' ', '_');
        written &= plot(group, members).write(options.out + "/" + file + ".svg");
    }
    std::fputs(table.c_str(), stdout);
    if (!options.out.empty()) written &= write(options.out + "/table.md", table);
    if (!written) std::fprintf(stderr, "cannot write into %s\n", options.out.c_str());
    return written ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int count, char** values) {
    bench::Options options;
    for (int i = 1; i < count; ++i) {
        const std::string name = values[i];
        const char* value = i + 1 < count ? values[i + 1] : "";
        if (name == "--quick") {
            options.quick = true;
            options.runs = 1;
            options.seconds = .01;
            continue;
        }
        if (name == "--runs") {
            options.runs = std::max(1, std::atoi(value));
        } else if (name == "--seconds") {
            options.seconds = std::atof(value);
        } else if (name == "--filter") {
            options.filter = value;
        } else if (name == "--out") {
            options.out = value;
        } else {
            std::fputs(bench::usage, stderr);
            return name == "--help" ? 0 : 2;
        }
        ++i;
    }
    return bench::run(options);
}
