// A toy of a recurrent model, whose state is what it has read: nothing can be cut off it.
#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include <specsample/models/recurrent.hpp>
#include <specsample/testing/models.hpp>

/// Rows of another model after the text that the state has read: a state that read a rejected token gives other rows.
struct RecurrentToy {
    using State = std::vector<specsample::Token>;

    specsample::testing::ContextModel truth;
    State text{};
    specsample::Index calls = 0, tokens_read = 0;
    specsample::Index fails_at = -1;  ///< the call that throws in the middle of its tokens, counted from 0

    specsample::RowMajorMatrix<double> read(std::span<const specsample::Token> tokens, specsample::Index n,
                                            specsample::Index sure, State& state) {
        const bool fails = calls++ == fails_at;
        const auto first = static_cast<std::ptrdiff_t>(text.size() + tokens.size()) - n + 1;
        specsample::RowMajorMatrix<double> rows(n, truth(std::span<const specsample::Token>()).size());
        const auto see = [&] {
            if (const auto i = std::ssize(text) - first; i >= 0) rows.row(i) = truth(text).transpose();
        };
        see();
        if (sure == 0) state = text;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (fails && i == tokens.size() / 2) throw std::runtime_error("the device is lost");
            text.push_back(tokens[i]), ++tokens_read;
            see();
            if (static_cast<specsample::Index>(i) + 1 == sure) state = text;
        }
        return rows;
    }
    void restore(const State& state) { text = state; }
};
