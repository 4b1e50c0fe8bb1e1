// An SVG plot of curves over the vocabulary size, hot beside cold, both axes logarithmic. It has a light background of
// its own, so that it looks the same on light and dark pages.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The points of one kernel, (vocabulary, microseconds), and their style.
struct Curve {
    std::string label;  ///< written beside the end; none if empty
    std::string colour;
    std::string dashes;  ///< SVG's stroke-dasharray
    double width = 2;
    std::vector<std::pair<double, double>> points;
};

struct Panel {
    std::string title;
    std::vector<Curve> curves;
};

struct Entry {
    std::string name, colour;
};

class Plot {
  public:
    Plot(std::string title, std::array<Panel, 2> panels, std::vector<Entry> legend)
        : title_(std::move(title)), panels_(std::move(panels)), legend_(std::move(legend)) {
        for (const Panel& panel : panels_) {
            for (const Curve& curve : panel.curves) {
                for (const auto& [x, y] : curve.points) {
                    left_ = std::min(left_, x);
                    right_ = std::max(right_, x);
                    low_ = std::min(low_, y);
                    high_ = std::max(high_, y);
                }
            }
        }
        low_ /= 1.2;
        high_ *= 1.2;
    }

    /// @returns false if the file cannot be written
    bool write(const std::string& path) const {
        std::FILE* file = std::fopen(path.c_str(), "w");
        if (file == nullptr) return false;
        std::fprintf(file,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                     "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n"
                     "<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#fbfbf8\" stroke=\"#ddd\"/>\n"
                     "<text x=\"20\" y=\"26\" font-size=\"15\">%s</text>\n",
                     width, height, width, height, title_.c_str());
        for (std::size_t i = 0; i < panels_.size(); ++i) write_panel(file, panels_[i], 70 + 355 * static_cast<int>(i));
        write_legend(file);
        std::fputs("</svg>\n", file);
        return std::fclose(file) == 0;
    }

  private:
    static constexpr int width = 1000, height = 470, top = 62, bottom = 425, panel_width = 270;

    double x_of(double x, int left) const {
        return right_ > left_ ? left + 8 + (panel_width - 16) * std::log(x / left_) / std::log(right_ / left_)
                              : left + panel_width / 2.;
    }
    double y_of(double y) const { return bottom - (bottom - top) * std::log(y / low_) / std::log(high_ / low_); }

    void write_panel(std::FILE* file, const Panel& panel, int left) const {
        std::fprintf(file,
                     "<text x=\"%d\" y=\"%d\">%s</text>\n<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#888\"/>\n",
                     left, top - 10, panel.title.c_str(), left, top, bottom, left + panel_width);
        for (double power = 1e-3; power < 1e7; power *= 10) {
            for (const double tick : {power, 2 * power, 5 * power}) {
                if (tick < low_ || tick > high_) continue;
                std::fprintf(file,
                             "<path d=\"M%d %.1fh%d\" stroke=\"#e4e4de\"/><text x=\"%d\" y=\"%.1f\" "
                             "text-anchor=\"end\" fill=\"#555\">%g</text>\n",
                             left, y_of(tick), panel_width, left - 6, y_of(tick) + 4, tick);
            }
        }
        std::vector<double> ticks;
        for (const Curve& curve : panel.curves)
            for (const auto& [x, y] : curve.points)
                if (std::ranges::find(ticks, x) == ticks.end()) ticks.push_back(x);
        for (const double tick : ticks)
            std::fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#555\">%.0f</text>\n",
                         x_of(tick, left), bottom + 17, tick);
        std::vector<double> labels;  // their heights, so that none covers another
        for (const Curve& curve : panel.curves) write_curve(file, curve, left, labels);
    }

    void write_curve(std::FILE* file, const Curve& curve, int left, std::vector<double>& labels) const {
        std::fprintf(file,
                     "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" stroke-dasharray=\"%s\" points=\"",
                     curve.colour.c_str(), curve.width, curve.dashes.c_str());
        for (const auto& [x, y] : curve.points) std::fprintf(file, "%.1f,%.1f ", x_of(x, left), y_of(y));
        std::fputs("\"/>\n", file);
        if (curve.dashes.empty())
            for (const auto& [x, y] : curve.points)
                std::fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", x_of(x, left), y_of(y),
                             curve.colour.c_str());
        if (curve.label.empty() || curve.points.empty()) return;
        double place = y_of(curve.points.back().second) + 4;
        const auto covers = [&](double other) { return std::abs(other - place) < 11; };
        while (std::ranges::any_of(labels, covers)) place += 2;
        labels.push_back(place);
        std::fprintf(file, "<text x=\"%d\" y=\"%.1f\" font-size=\"10.5\" fill=\"#777\">%s</text>\n",
                     left + panel_width + 4, place, curve.label.c_str());
    }

    void write_legend(std::FILE* file) const {
        int y = top + 4;
        const auto line = [&](const std::string& name, const std::string& colour, const char* dashes) {
            std::fprintf(file,
                         "<path d=\"M775 %dh22\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>"
                         "<text x=\"803\" y=\"%d\">%s</text>\n",
                         y - 4, colour.c_str(), dashes, y, name.c_str());
            y += 19;
        };
        for (const Entry& entry : legend_) line(entry.name, entry.colour, "");
        y += 8;
        line("its textbook form", "#555", "5 3");
        line("a plain read of that many rows", "#999", "1.5 3");
    }

    std::string title_;
    std::array<Panel, 2> panels_;
    std::vector<Entry> legend_;
    double left_ = 1e12, right_ = 0, low_ = 1e12, high_ = 0;
};

}  // namespace bench
