// The times of all drafters as a bar chart.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace speed {

/// The groups of prompts, all of them first.
inline constexpr std::array<std::string_view, 4> groups{"all", "code", "chat", "edit"};

/// A drafter and how many times as fast as plain decoding it wrote each group.
struct Bars {
    std::string name;
    std::array<double, groups.size()> ratios;
};

struct Panel {
    double temperature;
    std::vector<Bars> bars;
};

/// An SVG of one panel per temperature. A line at 1 marks plain decoding.
class Chart {
  public:
    /// Throws std::runtime_error if the file cannot be opened: before anything is measured for it.
    explicit Chart(std::filesystem::path path) : path_(std::move(path)), file_(path_) { check(); }

    void add(Panel panel) { panels_.push_back(std::move(panel)); }

    /// Throws std::runtime_error if the file cannot be written.
    void write() {
        std::string body;
        int y = top;
        for (const Panel& panel : panels_) y = draw(panel, body, y);
        file_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << " " << y
              << "\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
              << "<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#fbfbf8\" stroke=\"#ddd\"/>\n"
              << legend() << body << "</svg>\n";
        file_.flush();
        check();
    }

  private:
    static constexpr int width = 720, top = 56, left = 150, bar = 11, gap = 10, title = 30, labels = 60;
    static constexpr std::array<std::string_view, groups.size()> colours{"#3f4a5a", "#3b7dd8", "#2e9e4f", "#d68a2e"};

    void check() const {
        if (!file_) throw std::runtime_error("the chart " + path_.string() + " cannot be written");
    }

    int draw(const Panel& panel, std::string& body, int y) const {
        const double one = (width - left - labels) / most();
        body += text(20, y + 14, "temperature " + number(panel.temperature, 1), "font-weight=\"bold\"");
        const int begin = y += title;
        for (const Bars& bars : panel.bars) {
            body += text(left - 10, y + 2 * bar + 4, bars.name, "text-anchor=\"end\"");
            for (std::size_t i = 0; i < groups.size(); ++i, y += bar) {
                const double length = bars.ratios[i] * one;
                body += "<rect x=\"" + std::to_string(left) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
                        number(length) + "\" height=\"" + std::to_string(bar - 1) + "\" fill=\"" +
                        std::string(colours[i]) + "\"/>\n";
                body += text(left + length + 5, y + bar - 2, number(bars.ratios[i], 2), "font-size=\"10\"");
            }
            y += gap;
        }
        const std::string plain = number(left + one);
        body += "<line x1=\"" + plain + "\" x2=\"" + plain + "\" y1=\"" + std::to_string(begin - 4) + "\" y2=\"" +
                std::to_string(y - gap + 4) + "\" stroke=\"#d64545\" stroke-dasharray=\"4 3\"/>\n";
        return y + gap;
    }

    std::string legend() const {
        std::string result = text(20, 30, "times plain decoding (dashed)", "font-weight=\"bold\"");
        double x = 300;
        for (std::size_t i = 0; i < groups.size(); ++i, x += 90) {
            result += "<rect x=\"" + number(x) + "\" y=\"20\" width=\"12\" height=\"12\" fill=\"" +
                      std::string(colours[i]) + "\"/>\n";
            result += text(x + 18, 30, std::string(groups[i]), "");
        }
        return result;
    }

    double most() const {
        double result = 1;
        for (const Panel& panel : panels_)
            for (const Bars& bars : panel.bars) result = std::max(result, std::ranges::max(bars.ratios));
        return result;
    }

    static std::string text(double x, double y, const std::string& what, std::string_view attributes) {
        return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" " + std::string(attributes) + ">" + what +
               "</text>\n";
    }

    static std::string number(double value, int decimals = 1) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
        return digits;
    }

    std::filesystem::path path_;
    std::ofstream file_;
    std::vector<Panel> panels_{};
};

}  // namespace speed
