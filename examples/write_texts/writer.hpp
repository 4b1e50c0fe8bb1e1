// Writes texts, many at a time: whenever one ends, the next request takes its place.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include <specsample/specsample.hpp>

#include "engine/batch.hpp"
#include "write_texts/arguments.hpp"
#include "write_texts/requests.hpp"

/// A text in the making, and what is stored of it.
struct TextInWork {
    TextRequest request{};
    std::uint64_t number = 0;
    std::vector<engine::Token> tokens{};
    std::vector<engine::Token> given{};  ///< to be fed next, before anything is drawn; the first one last
    bool is_message = false;             ///< the model invents a message
    std::size_t message_begin = 0;
    std::size_t prompt = 0;
    std::vector<Eigen::half> states{};
    std::vector<engine::Token> ids{};
    std::vector<Eigen::half> log_probabilities{};
};

class Writer {
  public:
    explicit Writer(const WriterArguments& arguments)
        : arguments_(arguments),
          weights_(engine::Weights::load(arguments.target)),
          batch_(weights_, std::make_shared<engine::Team>(arguments.threads), engine::Trunk::max_pass,
                 arguments.length),
          works_(static_cast<std::size_t>(engine::Trunk::max_pass)) {
        for (TextRequest& request : read_requests(arguments.requests, weights_->config.vocab))
            waiting_.push_back(std::move(request));
        texts_ = waiting_.size();
        out_.open(arguments.out, std::ios::binary);
        if (!out_) throw std::runtime_error(arguments.out.string() + " cannot be written");
        put(static_cast<std::int32_t>(engine::states_per_position * weights_->config.dim));
        put(static_cast<std::int32_t>(arguments.top));
    }

    /// Throws std::runtime_error if the output cannot be written.
    void run() {
        const auto start = std::chrono::steady_clock::now();
        for (std::vector<engine::Batch::Next> next = fill(); !next.empty(); next = fill()) {
            const engine::Logits logits = batch_.forward(next);
            for (std::size_t i = 0; i < next.size(); ++i)
                advance(next[i].text, next[i].token, logits.row(static_cast<Eigen::Index>(i)));
        }
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        std::fprintf(stderr, "write_texts: %zu texts of %ld tokens in %.0f s\n", texts_, tokens_, seconds.count());
    }

  private:
    /// Gives every free place a request. Returns the next token of every text.
    std::vector<engine::Batch::Next> fill() {
        std::vector<engine::Batch::Next> next;
        for (std::size_t i = 0; i < works_.size(); ++i) {
            const auto text = static_cast<engine::Index>(i);
            if (!works_[i] && !waiting_.empty()) {
                works_[i] = TextInWork{.request = std::move(waiting_.front()), .number = begun_++};
                waiting_.pop_front();
                TextInWork& work = *works_[i];
                work.given.assign(work.request.prompt.rbegin(), work.request.prompt.rend());
                work.is_message = !work.request.behind_message.empty();
                work.message_begin = work.prompt = work.request.prompt.size();
                batch_.clear(text);
            }
            if (works_[i]) {
                next.push_back({text, works_[i]->given.back()});
                works_[i]->given.pop_back();
            }
        }
        return next;
    }

    template <class LogitsRow>
    void advance(engine::Index text, engine::Token fed, const LogitsRow& logits) {
        auto& place = works_[static_cast<std::size_t>(text)];
        TextInWork& work = *place;
        work.tokens.push_back(fed);
        const Eigen::ArrayXf row = logits.transpose();
        store(work, text, row);
        if (std::ssize(work.tokens) == arguments_.length) return finish(place);
        if (!work.given.empty()) return;
        const bool ends = work.tokens.back() == arguments_.end && work.tokens.size() > work.prompt;
        if (work.is_message) {
            const auto written = static_cast<int>(work.tokens.size() - work.message_begin);
            if (ends || written >= arguments_.message) return answer(work);
        } else if (ends) {
            return finish(place);
        }
        const specsample::RoundRng rng(static_cast<std::uint64_t>(arguments_.seed), work.number,
                                       static_cast<specsample::Index>(work.tokens.size()));
        const double temperature = work.is_message ? 1.0 : work.request.temperature;
        const auto token = specsample::race(rng.at(specsample::Purpose::race, 0), specsample::Logits(row, temperature));
        work.given.push_back(static_cast<engine::Token>(token));
    }

    /// The message is complete: what follows it is given, then the model answers.
    void answer(TextInWork& work) {
        const auto& behind = work.request.behind_message;
        const bool repeats_end = work.tokens.back() == behind.front();  // the model ended the message itself
        work.given.assign(behind.rbegin(), behind.rend() - (repeats_end ? 1 : 0));
        work.prompt = work.tokens.size() + work.given.size();
        work.is_message = false;
    }

    void store(TextInWork& work, engine::Index text, const Eigen::ArrayXf& row) {
        for (engine::Index which = 0; which < engine::states_per_position; ++which) {
            const engine::ConstVector state = batch_.state(text, which);
            // The residual stream may be too large for 16 bits, and a drafter normalises it anyway.
            const bool is_final = which + 1 == engine::states_per_position;
            const float scale = is_final ? 1.0f : 1.0f / std::sqrt(state.square().mean() + 1e-20f);
            for (const float value : state) work.states.push_back(Eigen::half(scale * value));
        }
        // top_ids wants positive numbers: all that are less likely than the best by a factor of e^40 are left out.
        const float best = row.maxCoeff();
        const Eigen::ArrayXf raised = row - (best - 40.0f);
        std::vector<specsample::Token> top(static_cast<std::size_t>(arguments_.top), 0);
        const auto found = specsample::kernels::top_ids(raised, top);
        const double normaliser = specsample::kernels::log_sum_exp(row);
        for (std::size_t i = 0; i < top.size(); ++i) {
            const bool is_there = static_cast<specsample::Index>(i) < found;
            work.ids.push_back(top[i]);
            work.log_probabilities.push_back(
                Eigen::half(is_there ? static_cast<float>(row(top[i]) - normaliser) : -40.0f));
        }
    }

    void finish(std::optional<TextInWork>& place) {
        TextInWork& work = *place;
        put(static_cast<std::int32_t>(work.tokens.size()));
        put(static_cast<std::int32_t>(work.prompt));
        put(static_cast<float>(work.request.temperature));
        put_all(work.tokens);
        put_all(work.states);
        put_all(work.ids);
        put_all(work.log_probabilities);
        if (!out_.flush()) throw std::runtime_error(arguments_.out.string() + " cannot be written: is the disk full?");
        tokens_ += std::ssize(work.tokens);
        place.reset();
    }

    template <class T>
    void put(T value) {
        out_.write(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T>
    void put_all(const std::vector<T>& values) {
        out_.write(reinterpret_cast<const char*>(values.data()),
                   static_cast<std::streamsize>(sizeof(T) * values.size()));
    }

    WriterArguments arguments_;
    std::shared_ptr<const engine::Weights> weights_;
    engine::Batch batch_;
    std::deque<TextRequest> waiting_{};
    std::vector<std::optional<TextInWork>> works_;
    std::ofstream out_{};
    std::size_t texts_ = 0;
    std::uint64_t begun_ = 0;
    long tokens_ = 0;
};
