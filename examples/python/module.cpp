// The Python module: drafts and verifications of a batch, over arrays of any library that has DLPack or the buffer
// protocol. Arrays are read where they lie.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <specsample/values.hpp>

namespace nb = nanobind;
using namespace specsample;

namespace {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;
using Numbers = std::optional<std::vector<std::int64_t>>;
using Temperature = std::optional<double>;

[[noreturn]] void refuse(const std::string& what, const std::string& was, const std::string& must) {
    throw std::invalid_argument("specsample: " + what + " is " + was + ", but must be " + must);
}

Row::Scalar scalar_of(const Array& array, const std::string& name) {
    const nb::dlpack::dtype type = array.dtype();
    const bool is_bfloat = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat);
    const bool is_float = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);
    if (type.lanes == 1 && is_bfloat && type.bits == 16) return Row::Scalar::bf16;
    if (type.lanes == 1 && is_float && type.bits == 16) return Row::Scalar::f16;
    if (type.lanes == 1 && is_float && type.bits == 32) return Row::Scalar::f32;
    if (type.lanes == 1 && is_float && type.bits == 64) return Row::Scalar::f64;
    refuse("the dtype of " + name, "code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits",
           "float16, bfloat16, float32 or float64");
}

/// The tokens of an array [B, K] of 32 or 64 bit integers, side by side.
std::vector<Token> tokens_of(const Array& array) {
    const nb::dlpack::dtype type = array.dtype();
    if (array.ndim() != 2)
        refuse("the number of dimensions of tokens", std::to_string(array.ndim()), "2: batch, tokens");
    if (type.code != static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int) || (type.bits != 32 && type.bits != 64))
        refuse("the dtype of tokens",
               "code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits", "int32 or int64");
    std::vector<Token> tokens;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(array.shape(0)); ++i)
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(array.shape(1)); ++k) {
            const std::int64_t at = i * array.stride(0) + k * array.stride(1);
            const std::int64_t token = type.bits == 32 ? static_cast<const std::int32_t*>(array.data())[at]
                                                       : static_cast<const std::int64_t*>(array.data())[at];
            if (token != static_cast<Token>(token))
                refuse("an entry of tokens", std::to_string(token), "a token id, of 32 bits");
            tokens.push_back(static_cast<Token>(token));
        }
    return tokens;
}

/// The rows of an array [B, n, V], or [B, V] with n = 1.
class RowArray {
  public:
    /// @param temperature   of logits; none for probabilities
    RowArray(const Array& array, const std::string& name, const Temperature& temperature)
        : array_(array), scalar_(scalar_of(array, name)), temperature_(temperature) {
        if (array.ndim() != 2 && array.ndim() != 3)
            refuse("the number of dimensions of " + name, std::to_string(array.ndim()),
                   "2 or 3: batch, rows, vocabulary");
        if (array.stride(array.ndim() - 1) < 1)
            refuse("the last stride of " + name, std::to_string(array.stride(array.ndim() - 1)), "at least 1");
    }

    Index batch() const { return static_cast<Index>(array_.shape(0)); }
    Index count() const { return array_.ndim() == 2 ? 1 : static_cast<Index>(array_.shape(1)); }
    Index vocab() const { return static_cast<Index>(array_.shape(array_.ndim() - 1)); }

    Row row(Index request, Index i) const {
        const Index bytes = scalar_ == Row::Scalar::f64 ? 8 : scalar_ == Row::Scalar::f32 ? 4 : 2;
        Index at = request * array_.stride(0);
        if (array_.ndim() == 3) at += i * array_.stride(1);
        const auto* const numbers = static_cast<const char*>(array_.data()) + at * bytes;
        const Index step = array_.stride(array_.ndim() - 1);
        return !temperature_ ? Row::probs({numbers, scalar_, vocab(), step})
                             : Row::logits({numbers, scalar_, vocab(), step}, *temperature_);
    }

  private:
    const Array& array_;
    Row::Scalar scalar_;
    Temperature temperature_;
};

/// The random numbers of each request, and where its round begins.
struct Requests {
    std::uint64_t seed;
    const Numbers& ids;
    const Numbers& starts;

    void check(Index batch) const {
        const auto check = [&](const Numbers& numbers, const std::string& name) {
            if (numbers && std::ssize(*numbers) != batch)
                refuse("the length of " + name, std::to_string(numbers->size()),
                       "that of the batch, " + std::to_string(batch));
            if (numbers)
                for (const std::int64_t number : *numbers)
                    if (number < 0) refuse("an entry of " + name, std::to_string(number), "at least 0");
        };
        check(ids, "requests");
        check(starts, "starts");
    }
    RoundRng rng(Index i) const {
        const auto at = static_cast<std::size_t>(i);
        return RoundRng(seed, static_cast<std::uint64_t>(ids ? (*ids)[at] : i), starts ? (*starts)[at] : 0);
    }
};

/// Call f(rule) with the rule of a name.
template <class F>
auto with_rule(const std::string& name, const F& f) {
    if (name == "token") return f(TokenVerification{});
    if (name == "block") return f(BlockVerification{});
    if (name == "greedy") return f(GreedyMatch{});
    if (name == "sample") return f(SampleMatch{});
    if (name == "gumbel") return f(GumbelMatch{});
    refuse("rule", "'" + name + "'", "'token', 'block', 'greedy', 'sample' or 'gumbel'");
}

/// A new array of integers, filled with -1.
template <class Id, class... Sizes>
std::pair<Id*, nb::ndarray<nb::numpy, Id>> filled(Sizes... sizes) {
    auto* const data = new Id[static_cast<std::size_t>((sizes * ...))];
    std::fill_n(data, (sizes * ...), Id{-1});
    nb::capsule owner(data, [](void* memory) noexcept { delete[] static_cast<Id*>(memory); });
    return {data, nb::ndarray<nb::numpy, Id>(data, {static_cast<std::size_t>(sizes)...}, owner)};
}

nb::object draft_batch(const Array& rows, Index node, const Temperature& temperature, const std::string& rule,
                       std::uint64_t seed, const Numbers& ids, const Numbers& starts) {
    const RowArray array(rows, "rows", temperature);
    if (array.count() != 1) refuse("the number of rows per request", std::to_string(array.count()), "1");
    const Requests requests{seed, ids, starts};
    requests.check(array.batch());
    auto [tokens, result] = filled<std::int32_t>(array.batch());
    with_rule(rule, [&](const auto& judge) {
        for (Index i = 0; i < array.batch(); ++i)
            tokens[i] = draft_token(judge, requests.rng(i), node, array.row(i, 0)).token;
    });
    return nb::cast(result);
}

nb::object verify_batch(const Array& given_tokens, const std::optional<Array>& drafts, const Array& targets,
                        const Temperature& temperature, const std::string& rule, std::uint64_t seed, const Numbers& ids,
                        const Numbers& starts, const std::vector<Token>& stop_tokens) {
    const std::vector<Token> tokens = tokens_of(given_tokens);
    const auto batch = static_cast<Index>(given_tokens.shape(0)), count = static_cast<Index>(given_tokens.shape(1));
    const RowArray p(targets, "targets", temperature);
    if (p.batch() != batch || p.count() != count + 1)
        refuse("the shape of targets", "[" + std::to_string(p.batch()) + ", " + std::to_string(p.count()) + ", V]",
               "[" + std::to_string(batch) + ", " + std::to_string(count + 1) + ", V], as tokens are [B, K]");
    std::optional<RowArray> q;
    if (drafts) q.emplace(*drafts, "drafts", temperature);
    if (q && (q->batch() != batch || q->count() != count || q->vocab() != p.vocab()))
        refuse("the shape of drafts",
               "[" + std::to_string(q->batch()) + ", " + std::to_string(q->count()) + ", " +
                   std::to_string(q->vocab()) + "]",
               "[" + std::to_string(batch) + ", " + std::to_string(count) + ", " + std::to_string(p.vocab()) + "]");
    const Requests requests{seed, ids, starts};
    requests.check(batch);

    auto [emitted, emitted_array] = filled<std::int32_t>(batch, count + 1);
    auto [accepted, accepted_array] = filled<std::int64_t>(batch);
    nb::list faults;
    Workspace workspace;
    with_rule(rule, [&](const auto& judge) {
        const bool shares_noise = rule == "gumbel";
        for (Index i = 0; i < batch; ++i) {
            std::vector<Origin> origins;
            for (Index k = 0; k < count && q; ++k)
                origins.push_back(shares_noise ? Origin::shared_noise() : Origin::sampled(q->row(i, k)));
            std::vector<Row> rows;
            for (Index k = 0; k <= count; ++k) rows.push_back(p.row(i, k));
            const std::span drafted(tokens.data() + i * count, static_cast<std::size_t>(count));
            const RoundLimits limits{.stop_tokens = stop_tokens};
            const Round round = q ? verify(drafted, origins, rows, judge, requests.rng(i), limits, workspace)
                                  : verify(drafted, PointMass{}, rows, judge, requests.rng(i), limits, workspace);
            faults.append(round.fault ? nb::cast(message(round)) : nb::none());
            if (round.fault) continue;
            std::copy(round.tokens.begin(), round.tokens.end(), emitted + i * (count + 1));
            accepted[i] = round.accepted;
        }
    });
    return nb::make_tuple(emitted_array, accepted_array, faults);
}

}  // namespace

NB_MODULE(_specsample, module) {
    using namespace nb::literals;
    module.def("draft_batch", &draft_batch, "rows"_a, nb::kw_only(), "node"_a, "temperature"_a = nb::none(),
               "rule"_a = "token", "seed"_a = 0, "requests"_a = nb::none(), "starts"_a = nb::none(),
               "Draw the token at place `node` of each request's draft from its row of [B, V]: int32 [B].");
    module.def("verify_batch", &verify_batch, "tokens"_a, "drafts"_a.none(), "targets"_a, nb::kw_only(),
               "temperature"_a = nb::none(), "rule"_a = "token", "seed"_a = 0, "requests"_a = nb::none(),
               "starts"_a = nb::none(), "stop_tokens"_a = std::vector<Token>(),
               "Judge the drafts of a batch.\n\n"
               "tokens [B, K], int32 or int64; drafts [B, K, V], the rows that they were drawn from, or None if they "
               "were not\n"
               "drawn; targets [B, K + 1, V]: float16, bfloat16, float32 or float64, on the CPU. A temperature makes\n"
               "them logits; without one they are probabilities. Random numbers depend on seed, on requests[i] (by\n"
               "default i) and on starts[i], the length of the text before the round (by default 0).\n\n"
               "Returns the emitted tokens [B, K + 1] filled up with -1, how many drafted ones each accepted [B], and\n"
               "for each request None or the sentence that says what was wrong with its data.");
}
