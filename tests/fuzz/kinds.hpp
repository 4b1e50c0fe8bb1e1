// Kinds of rows, each made from the same plain numbers.
//
//   Kind::format                 what it stores
//   Kind::Memory(numbers)        what owns the numbers
//   Kind::row(memory)            the row
//   Kind::rows(list of memory)   rows by position, as verify is given them
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include <specsample/rows/memory.hpp>
#include <specsample/rows/sparse.hpp>
#include <specsample/shaping/sampling_params.hpp>
#include <specsample/shaping/shape.hpp>

#include "fuzz/numbers.hpp"

namespace fuzz {

template <class Scalar>
std::vector<Scalar> scalars(const Numbers& row) {
    std::vector<Scalar> result;
    for (const double x : row.values) result.push_back(static_cast<Scalar>(x));
    return result;
}

/// Rows in a list, checked to be inside it.
template <class Kind>
struct Listed {
    std::span<const typename Kind::Memory> list;

    std::size_t size() const { return list.size(); }
    decltype(auto) operator[](std::size_t i) const {
        must(i < list.size(), "a row that was not given is not asked for");
        return Kind::row(list[i]);
    }
};

template <class Scalar>
struct Dense {
    static constexpr Format format = format_of<Scalar>(false, false);
    struct Memory {
        std::vector<Scalar> row;
        explicit Memory(const Numbers& numbers) : row(scalars<Scalar>(numbers)) {}
    };
    static const std::vector<Scalar>& row(const Memory& memory) { return memory.row; }
    static auto rows(const std::vector<Memory>& list) { return Listed<Dense>{list}; }
};

/// One field of an array of structs.
template <class Scalar>
struct Strided {
    static constexpr Format format = format_of<Scalar>(false, false);
    struct Candidate {
        Scalar before, p, after;
    };
    struct Memory {
        std::vector<Candidate> candidates;
        explicit Memory(const Numbers& numbers) {
            for (const Scalar x : scalars<Scalar>(numbers)) candidates.push_back({Scalar{-3}, x, Scalar{7}});
        }
    };
    static auto row(const Memory& memory) { return member(memory.candidates, &Candidate::p); }
    static auto rows(const std::vector<Memory>& list) { return Listed<Strided>{list}; }
};

/// A matrix whose rows are padded, of probabilities or of logits at one temperature. All rows have the size of the
/// first.
template <class Scalar, bool is_logits>
struct Padded {
    static constexpr Format format = format_of<Scalar>(is_logits, false);
    struct Memory {
        std::vector<Scalar> row;
        double temperature;
        explicit Memory(const Numbers& numbers) : row(scalars<Scalar>(numbers)), temperature(numbers.temperature) {}
    };
    struct Matrix {
        std::vector<Scalar> numbers;
        Index count, vocab;
        double temperature;

        explicit Matrix(const std::vector<Memory>& list)
            : count(std::ssize(list)), vocab(std::ssize(list[0].row)), temperature(list[0].temperature) {
            for (const Memory& memory : list) {
                numbers.insert(numbers.end(), memory.row.begin(), memory.row.end());
                numbers.resize(numbers.size() + 3, Scalar{1e4f});
            }
        }
        auto rows() const {
            const auto matrix = rows_in_memory(numbers.data(), count, vocab, vocab + 3);
            if constexpr (is_logits) {
                return logits_of(detail::RowsInMemory<Scalar>(matrix), temperature);
            } else {
                return matrix;
            }
        }
    };

    /// Make rows alike, as the rows of one matrix are.
    static void align(std::vector<Numbers>& list) {
        if (list[0].values.empty()) list[0].values = {0};
        for (Numbers& row : list) {
            row.values.resize(list[0].values.size(), 0);
            row.vocab = row.size();
            row.temperature = list[0].temperature;
            row.log_sum_exp.reset();
        }
    }
};

template <class Kind>
concept IsMatrix = requires { typename Kind::Matrix; };

template <class Scalar>
struct OfLogits {
    static constexpr Format format = format_of<Scalar>(true, false);
    struct Memory {
        Logits<std::vector<Scalar>> row;
        explicit Memory(const Numbers& numbers)
            : row(numbers.log_sum_exp
                      ? Logits<std::vector<Scalar>>(scalars<Scalar>(numbers), numbers.temperature, *numbers.log_sum_exp)
                      : Logits<std::vector<Scalar>>(scalars<Scalar>(numbers), numbers.temperature)) {}
    };
    static const auto& row(const Memory& memory) { return memory.row; }
    static auto rows(const std::vector<Memory>& list) { return Listed<OfLogits>{list}; }
};

template <class Scalar>
struct OfIds {
    static constexpr Format format = format_of<Scalar>(false, true);
    struct Memory {
        Sparse<std::vector<std::int64_t>, std::vector<Scalar>> row;
        explicit Memory(const Numbers& numbers)
            : row(std::vector<std::int64_t>(numbers.ids), scalars<Scalar>(numbers), numbers.vocab) {}
    };
    static const auto& row(const Memory& memory) { return memory.row; }
    static auto rows(const std::vector<Memory>& list) { return Listed<OfIds>{list}; }
};

/// Candidates as a sampler chain leaves them: ids and logits in an array of structs.
struct OfCandidates {
    static constexpr Format format = format_of<float>(true, true);
    struct Candidate {
        std::int64_t id;
        float logit, p;
    };
    struct Memory {
        std::vector<Candidate> candidates;
        Index vocab;
        double temperature;
        explicit Memory(const Numbers& numbers) : vocab(numbers.vocab), temperature(numbers.temperature) {
            for (Index place = 0; place < numbers.size(); ++place)
                candidates.push_back({numbers.id(place), static_cast<float>(numbers.value(place)), -1});
        }
    };
    static auto row(const Memory& memory) {
        return Sparse(member(memory.candidates, &Candidate::id),
                      Logits(member(memory.candidates, &Candidate::logit), memory.temperature), memory.vocab);
    }
    static auto rows(const std::vector<Memory>& list) { return Listed<OfCandidates>{list}; }
};

/// A row of another kind behind a request's sampling parameters, shaped on every access.
template <class Kind>
struct Shaped {
    static constexpr Format format = Kind::format;
    static inline SamplingParams settings;  ///< sampling parameters of the input
    static inline std::vector<Token> context;
    static inline std::vector<std::uint32_t> words;  // of settings.mask

    struct Memory {
        typename Kind::Memory given;
        mutable filters::ShapedMemory<detail::ShapedValue<std::remove_cvref_t<decltype(Kind::row(given))>>> memory{};
        explicit Memory(const Numbers& numbers) : given(numbers) {}
    };
    static auto row(const Memory& memory) {
        const auto& given = Kind::row(memory.given);
        return shape(given, settings, context, memory.memory);
    }
    static auto rows(const std::vector<Memory>& list) {
        return [&list](Index i) {
            must(i >= 0 && i < std::ssize(list), "a row that was not given is not asked for");
            return row(list[static_cast<std::size_t>(i)]);
        };
    }

    static void read_settings(Bytes& bytes, Index vocab, bool only_good) {
        const auto some = [&](double off, double on) { return bytes.one_in(3) ? on : off; };
        const auto share = [&] { return static_cast<double>(1 + bytes.byte()) / 256; };
        settings = {};
        context.clear();
        // Logits bring one along, and a temperature is given once.
        settings.temperature = bytes.one_in(3) && !format.is_logits ? temperature_of(bytes) : 1;
        settings.top_k = bytes.one_in(2) ? bytes.below(vocab + 2) : 0;
        settings.top_p = some(1, share());
        settings.min_p = some(0, share());
        settings.typical_p = some(1, share());
        if (only_good || bytes.one_in(2)) return;
        settings.repetition_penalty = some(1, 4 * share());
        settings.frequency_penalty = some(0, static_cast<double>(static_cast<std::int8_t>(bytes.byte())));
        settings.presence_penalty = some(0, static_cast<double>(static_cast<std::int8_t>(bytes.byte())));
        for (Index left = bytes.below(4); left > 0; --left)
            context.push_back(static_cast<Token>(bytes.one_in(4) ? bytes.word(4) : bytes.word(1)));
        for (Index left = bytes.below(4); left > 0; --left) {
            const auto token = static_cast<Token>(bytes.below(vocab + 2));
            settings.logit_bias.emplace_back(token, bytes.one_in(2) ? -infinity : bytes.byte());
        }
        if (bytes.one_in(3)) {
            words.clear();
            for (Index left = bytes.below(3); left > 0; --left)
                words.push_back(static_cast<std::uint32_t>(bytes.word(4)));
            settings.mask = words;
        }
        settings.top_n_sigma = some(0, 4 * share());
        settings.epsilon_cutoff = some(0, share() / 2);
        settings.eta_cutoff = some(0, share() / 2);
        settings.xtc = {.probability = some(0, 1), .threshold = share() / 2};
        settings.dry.multiplier = some(0, bytes.byte());
        settings.min_tokens = bytes.below(3);
        settings.stop_token_ids = {static_cast<Token>(bytes.below(vocab + 2))};
        if (bytes.one_in(3)) settings.bad_words = {{{static_cast<Token>(bytes.below(vocab + 2))}}};
    }

    /// May the settings leave this token, if the row itself allows it?
    static bool allows(const Numbers& numbers, Index token) {
        if (settings.mask) {
            const auto word = static_cast<std::size_t>(token / 32);
            if (word >= words.size() || (words[word] >> (token % 32) & 1) == 0) return false;
        }
        for (const auto& [id, bias] : settings.logit_bias)
            if (id == token && bias == -infinity) return false;
        for (const auto& word : settings.bad_words.token_ids)
            if (token == word.front()) return false;
        if (std::ssize(context) < settings.min_tokens && token == settings.stop_token_ids.front()) return false;
        const bool is_ranked = settings.logit_bias.empty() && context.empty() && !settings.mask;
        if (!is_ranked || settings.top_k == 0) return true;
        const double own = numbers.at(token).value_or(-infinity);
        return std::ranges::count_if(numbers.values, [&](double x) { return x > own; }) < settings.top_k;
    }
};

template <class Kind>
inline constexpr bool is_shaped = false;
template <class Kind>
inline constexpr bool is_shaped<Shaped<Kind>> = true;

}  // namespace fuzz
