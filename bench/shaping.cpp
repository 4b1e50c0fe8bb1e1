// Shaping, from a model's row to the row that is sampled: top-k, top-p, a pipeline of shapers, and what whole requests
// ask for: penalties on the tokens of a long text, and a mask.
#include "kernels.hpp"
#include "row_races.hpp"
#include "usual_shaping.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <specsample/shaping.hpp>

namespace bench {
namespace {

using specsample::Token;

/// Race a pipeline on rows of probabilities or logits against the textbook's form, which makes a new row.
template <class Pipeline, class Textbook>
Race shaping(const Setting& setting, const Pipeline& pipeline, const Textbook& textbook) {
    const auto memory = std::make_shared<specsample::filters::ShapedMemory<float>>();
    const Pool rows(setting);
    const auto likeliest = textbook::argmax(rows.contents().target);
    const bool are_logits = setting.numbers == Numbers::logits;
    return race_values(
        setting, rows,
        [=](const Pair& at) {
            const auto left = [&](const auto& row) { return row.probs().coeff(static_cast<Index>(likeliest)); };
            return are_logits ? left(specsample::shape(specsample::Logits(at.target), pipeline, {}, *memory))
                              : left(specsample::shape(at.target, pipeline, {}, *memory));
        },
        [=](const Pair& at) { return textbook(at.target)[likeliest]; }, target_alone);
}

Race nucleus(const Setting& setting) {
    return shaping(setting, specsample::filters::TopP(.95),
                   [](const Row& probs) { return textbook::likeliest(probs, probs.size(), .95f); });
}

Race top_k(const Setting& setting) {
    return shaping(setting, specsample::filters::TopK(40),
                   [](const Row& logits) { return textbook::likeliest(textbook::softmax(logits), 40, 1); });
}

Race pipeline(const Setting& setting) {
    return shaping(setting, usual_shaping, [](const Row& logits) { return textbook_shaping(logits); });
}

/// A text of 4096 tokens, most of them frequent ones, that goes on by 64 of them; and a mask of half of the ids.
struct Request {
    explicit Request(Index vocab) {
        const specsample::Rng random({.seed = 3});
        for (std::uint32_t lane = 0; lane < length; ++lane)
            text.push_back(static_cast<Token>(std::pow(static_cast<double>(vocab), random.uniform(lane))) - 1);
        text.insert(text.end(), text.begin(), text.begin() + 64);
        for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(vocab / 32 + 1); ++lane)
            allowed.push_back(static_cast<std::uint32_t>(random.uniform(length + lane) * 0x1p32));
    }

    static constexpr std::uint32_t length = 4096;
    std::vector<Token> text;
    std::vector<std::uint32_t> allowed;
    std::size_t rows = 0;  ///< that were shaped: each has a text of its own, a few tokens longer or shorter
};

/// DRY by a comparison at every place of the text.
void lower_repetitions(Eigen::ArrayXf& logits, std::span<const Token> text, const specsample::filters::Dry& dry) {
    std::vector<std::pair<Token, std::size_t>> longest;
    for (std::size_t end = 1; end < text.size(); ++end) {
        std::size_t length = 0;
        while (length < end && text[end - 1 - length] == text[text.size() - 1 - length]) ++length;
        if (static_cast<Index>(length) < dry.allowed_length) continue;
        const auto known = std::ranges::find(longest, text[end], &std::pair<Token, std::size_t>::first);
        if (known == longest.end())
            longest.emplace_back(text[end], length);
        else
            known->second = std::max(known->second, length);
    }
    for (const auto& [token, length] : longest)
        logits[token] -= static_cast<float>(
            dry.multiplier * std::pow(dry.base, static_cast<double>(static_cast<Index>(length) - dry.allowed_length)));
}

/// The textbook's form of a request, which changes a copy of the logits.
Eigen::ArrayXf textbook_request(Eigen::ArrayXf logits, const Request& request,
                                const specsample::SamplingParams& params) {
    std::vector<bool> seen(static_cast<std::size_t>(logits.size()));
    const auto penalty = static_cast<float>(params.repetition_penalty);
    for (const Token token : request.text) {
        if (seen[static_cast<std::size_t>(token)]) continue;
        seen[static_cast<std::size_t>(token)] = true;
        logits[token] = logits[token] > 0 ? logits[token] / penalty : logits[token] * penalty;
    }
    for (const auto& [token, bias] : params.logit_bias) logits[token] += static_cast<float>(bias);
    if (params.dry.multiplier > 0) lower_repetitions(logits, request.text, params.dry);
    if (params.mask)
        for (Index id = 0; id < logits.size(); ++id)
            if ((request.allowed[static_cast<std::size_t>(id / 32)] >> id % 32 & 1) == 0) logits[id] = -INFINITY;
    const bool is_greedy = params.temperature == 0;
    const Index most = is_greedy ? 1 : params.top_k > 0 ? params.top_k : logits.size();
    Eigen::ArrayXf probs = textbook::softmax(logits, is_greedy ? 1 : static_cast<float>(params.temperature));
    if (params.typical_p < 1) probs = textbook::typical(probs, static_cast<float>(params.typical_p));
    return textbook::likeliest(probs, most, static_cast<float>(params.top_p), static_cast<float>(params.min_p));
}

/// Race what a request asks for. Its value is the probability of the likeliest token that is left.
Race request(const Setting& setting, specsample::SamplingParams params, bool has_mask) {
    const auto memory = std::make_shared<specsample::filters::ShapedMemory<float>>();
    const auto request = std::make_shared<Request>(setting.vocab);
    if (has_mask) params.mask = std::span<const std::uint32_t>(request->allowed);
    const Pool rows(setting);
    const auto likeliest = textbook::argmax(textbook_request(rows[0].target, *request, params));
    return race_values(
        setting, rows,
        [=](const Pair& at) {
            const auto text = std::span(request->text).first(Request::length + ++request->rows % 64);
            const auto row = specsample::shape(specsample::Logits(at.target), params, text, *memory);
            return row.probs().coeff(static_cast<Index>(likeliest));
        },
        [=](const Pair& at) { return textbook_request(at.target, *request, params)[likeliest]; }, target_alone);
}

}  // namespace

void add_shaping(Kernels& kernels) {
    const Setting flat, peaked{.peaked = true}, logits{.numbers = Numbers::logits};
    const std::string group = "shaping";
    kernels.push_back({"top_p/flat", group, nucleus, flat});
    kernels.push_back({"top_p/peaked", group, nucleus, peaked});
    kernels.push_back({"top_k/logits", group, top_k, logits});
    kernels.push_back({"pipeline/logits", group, pipeline, logits});
    const auto add = [&](const char* name, const specsample::SamplingParams& params, bool has_mask, bool is_peaked) {
        const auto make = [=](const Setting& setting) { return request(setting, params, has_mask); };
        kernels.push_back({name, group, make, {.numbers = Numbers::logits, .peaked = is_peaked}});
    };
    const specsample::SamplingParams usual{.temperature = .8, .top_k = 50, .top_p = .9, .min_p = .05};
    specsample::SamplingParams penalised = usual;
    penalised.repetition_penalty = 1.1;
    add("request/mask", usual, true, false);
    add("request/penalty", penalised, false, false);
    add("request/penalty+mask", penalised, true, false);
    add("request/top_p/flat", {.temperature = .8, .top_p = .9}, false, false);
    add("request/top_p/peaked", {.temperature = .8, .top_p = .9}, false, true);
    add("request/typical", {.temperature = .8, .typical_p = .9}, false, false);
    specsample::SamplingParams dry = usual;
    dry.dry = {.multiplier = .8};
    add("request/dry", dry, false, false);
    specsample::SamplingParams biased = usual;
    for (Token i = 0; i < 300; ++i) biased.logit_bias.emplace_back(97 * i, i % 2 == 0 ? 1.5 : -2.);
    add("request/biases", biased, false, false);
    add("request/greedy+penalty", {.temperature = 0, .repetition_penalty = 1.1}, false, false);
}

}  // namespace bench
