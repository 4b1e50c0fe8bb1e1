// Drafts as messages: one process drafts, another verifies.
//
// A row of which a message keeps a part is quantised before a token is drawn from it, so that both processes judge by
// the very row that the token was drawn from.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <specsample/core/contract.hpp>
#include <specsample/core/list_ref.hpp>
#include <specsample/core/tree.hpp>
#include <specsample/drafters/wire_format.hpp>
#include <specsample/kernels/top.hpp>
#include <specsample/rows/row.hpp>
#include <specsample/rows/row_view.hpp>
#include <specsample/tree/origin.hpp>

namespace specsample { inline namespace SPECSAMPLE_ABI { namespace wire {

/// The draft of one round, which can be written to a message and read from one, to the bit.
///
///     draft.open(request, start, vocab);                         // where the drafter is
///     const Index row = draft.add_row(Row::logits(logits, temperature));
///     const auto [token, origin] = draft_token(rule, rng, node, draft.row(row));
///     draft.add(parent, token, row);
///     draft.write(message);
///
///     if (const auto fault = draft.read(message, request, start, vocab)) ..   // where the target is
///     round = verify(draft.tree(), draft.origins(), target_rows, rule, rng, limits, workspace);
///
/// A row keeps its likeliest ids, each with a share that is a multiple of 2^-16. The shares add up to 1 exactly, in
/// every type, so that the row is a distribution to the last bit. The text keeps the target's distribution however few
/// ids a row keeps; only acceptance falls.
///
/// The checksum detects accidents. Whoever can write messages can also write a checksum, and a token that was not drawn
/// from its row changes the text's distribution: drafters that are not trusted need another transport.
///
/// @cost   a message has 44 bytes, 2 per row and 6 per id of it, 14 per token and 4 per removed id of it
class Draft {
  public:
    static constexpr Index most_ids = 256;  ///< the largest number of ids that a row keeps

    /// Begin a draft.
    /// @param start   the number of tokens of the text before the draft
    /// @throws        std::invalid_argument for a negative start or a vocabulary that is not 1 to 2^31 - 1
    void open(std::uint64_t request, Index start, Index vocab) {
        detail::require(start >= 0, "wire::Draft", "start", start, "at least 0");
        detail::require(vocab >= 1 && vocab <= std::numeric_limits<Token>::max(), "wire::Draft", "vocab", vocab,
                        "1 to 2^31 - 1");
        clear();
        round_ = {request, static_cast<std::uint64_t>(start), vocab};
    }

    /// Quantise a row, and keep it.
    /// @param row    a row of the vocabulary
    /// @param top    how many ids are kept, 1 to most_ids
    /// @returns      its number
    /// @throws       std::invalid_argument for a row of another size, and for `top` out of range
    /// @cost         one pass, two over logits
    /// @edge         a row in which no id is possible, or that is no distribution, keeps no id: nothing can be drawn
    Index add_row(const Row& row, Index top = 64) {
        constexpr auto where = "wire::Draft::add_row";
        if (row.size() != round_.vocab)
            detail::invalid(where, "the size of the row", row.size(),
                            "the vocabulary, " + detail::to_text(round_.vocab));
        detail::require(top >= 1 && top <= most_ids, where, "top", top, "1 to 256");
        std::array<Token, most_ids> ids{};
        std::array<double, most_ids> weights{};
        const auto keep = [&]<class Value>() {
            const auto view = detail::RowView<Value>(row).probs();
            const auto list = std::span(ids).first(static_cast<std::size_t>(top));
            const auto found = static_cast<std::size_t>(kernels::top_ids(view, list));
            std::ranges::sort(list.first(found));
            for (std::size_t i = 0; i < found; ++i) weights[i] = static_cast<double>(view.coeff(ids[i]));
            return found;
        };
        const std::size_t found = detail::as_read(row.scalar(), keep);
        add_shares(std::span(ids).first(found), std::span(weights).first(found));
        return row_count() - 1;
    }

    Index row_count() const { return std::ssize(row_ends_); }
    /// Return a row. It views this draft until the next row is added.
    /// @throws   std::invalid_argument for a number that no row has
    Row row(Index number) const { return Row::sparse(ids(number), Row::probs(probs(number)), round_.vocab); }
    /// Return the ids of a row, which ascend.
    std::span<const Token> ids(Index number) const { return part(ids_, number); }
    /// Return the probabilities of these ids.
    std::span<const float> probs(Index number) const { return part(probs_, number); }

    /// Add a token that was drawn from a row.
    /// @param parent    an earlier node, or root_node
    /// @param without   the tokens that could not be drawn, because older siblings have them
    /// @returns         the number of the node
    /// @throws          std::invalid_argument for a parent, row, or removed id that is not there, and for a token
    ///                  outside the vocabulary: -1 says that nothing could be drawn, so the draft ends before it
    Index add(Index parent, Token token, Index row, ListRef<Token> without = {}) {
        const std::span<const Token> removed = without;
        if (row < 0 || row >= row_count())
            detail::invalid("wire::Draft::add", "row", row, "one of the " + detail::to_text(row_count()) + " rows");
        return add_node(parent, token, row, removed);
    }
    /// Add a token that was not drawn: from a lookup, an argmax, a beam.
    Index add_named(Index parent, Token token) { return add_node(parent, token, -1, {}); }

    std::uint64_t request() const { return round_.request; }
    Index start() const { return static_cast<Index>(round_.start); }
    Index vocab() const { return round_.vocab; }

    /// Return the tokens and their parents.
    Tree<Token, Index> tree() const { return {tokens_, parents_}; }
    /// Return what each token was drawn from. The list views this draft until it changes.
    const std::vector<Origin>& origins() const {
        origins_.clear();
        for (std::size_t node = 0; node < rows_.size(); ++node) {
            const std::size_t begin = node == 0 ? 0 : removed_ends_[node - 1];
            const auto removed = std::span(removed_).subspan(begin, removed_ends_[node] - begin);
            origins_.push_back(rows_[node] < 0 ? Origin::named() : Origin::sampled(row(rows_[node]), removed));
        }
        return origins_;
    }

    /// Write the message of this draft.
    void write(std::vector<std::byte>& message) const {
        message.clear();
        detail::WireWriter out{message};
        out.put(magic), out.put(std::uint32_t{0}), out.put(std::uint64_t{0});
        out.put(round_.request), out.put(round_.start), out.put(static_cast<std::uint32_t>(round_.vocab));
        out.put(static_cast<std::uint32_t>(row_count())), out.put(static_cast<std::uint32_t>(tokens_.size()));
        for (Index number = 0; number < row_count(); ++number) {
            out.put(static_cast<std::uint16_t>(ids(number).size()));
            for (const Token id : ids(number)) out.put(static_cast<std::uint32_t>(id));
            for (const float share : probs(number)) out.put(static_cast<std::uint16_t>(share * whole - 1));
        }
        for (std::size_t node = 0, begin = 0; node < tokens_.size(); begin = removed_ends_[node++]) {
            out.put(static_cast<std::uint32_t>(parents_[node])), out.put(static_cast<std::uint32_t>(tokens_[node]));
            out.put(static_cast<std::uint32_t>(rows_[node]));
            out.put(static_cast<std::uint16_t>(removed_ends_[node] - begin));
            for (std::size_t i = begin; i < removed_ends_[node]; ++i) out.put(static_cast<std::uint32_t>(removed_[i]));
        }
        detail::WireWriter{message, 4}.set(static_cast<std::uint32_t>(message.size()));
        detail::WireWriter{message, 8}.set(detail::wire_checksum(message));
    }

    /// Read a message: the draft for this request, position and vocabulary.
    /// @returns   what is wrong with it, if anything is; the draft is then empty
    /// @cost      O(bytes)
    [[nodiscard]] std::optional<Fault> read(std::span<const std::byte> message, std::uint64_t request, Index start,
                                            Index vocab) {
        open(request, start, vocab);
        const auto fault = parse(message);
        if (fault) clear();
        return fault;
    }

  private:
    static constexpr std::uint32_t magic = 0x31647373;  // "ssd1"
    static constexpr float whole = 65536;               // the shares of a row add up to this

    struct RoundOf {
        std::uint64_t request = 0, start = 0;
        Index vocab = 0;
    };

    template <class T>
    std::span<const T> part(const std::vector<T>& all, Index number) const {
        if (number < 0 || number >= row_count())
            detail::invalid("wire::Draft", "row", number, "one of the " + detail::to_text(row_count()) + " rows");
        const auto at = static_cast<std::size_t>(number);
        const std::size_t begin = at == 0 ? 0 : row_ends_[at - 1];
        return std::span(all).subspan(begin, row_ends_[at] - begin);
    }

    void clear() {
        for (auto* list : {&ids_, &tokens_, &removed_}) list->clear();
        for (auto* list : {&parents_, &rows_}) list->clear();
        for (auto* list : {&row_ends_, &removed_ends_}) list->clear();
        probs_.clear();
        origins_.clear();
    }

    /// Round weights to shares. Every id keeps one, and the largest takes what is left over or missing: with 256 ids at
    /// most, it always has that much.
    void add_shares(std::span<const Token> ids, std::span<const double> weights) {
        double sum = 0;
        for (const double weight : weights) sum += weight;
        if (detail::is_finite(sum) && sum > 0) {
            const auto largest = static_cast<std::size_t>(std::ranges::max_element(weights) - weights.begin());
            const std::size_t first = probs_.size();
            double left = whole;
            for (const double weight : weights) {
                const double share = std::max(1.0, std::floor(weight / sum * whole));
                left -= share;
                probs_.push_back(static_cast<float>(share / whole));
            }
            probs_[first + largest] += static_cast<float>(left / whole);
            ids_.insert(ids_.end(), ids.begin(), ids.end());
        }
        row_ends_.push_back(ids_.size());
    }

    Index add_node(Index parent, Token token, Index row, std::span<const Token> removed) {
        constexpr auto where = "wire::Draft::add";
        const Index node = std::ssize(tokens_);
        detail::require(parent >= root_node && parent < node, where, "parent", parent, "root_node or an earlier node");
        require_id("token", token);
        for (const Token id : removed) require_id("an id of without", id);
        tokens_.push_back(token);
        parents_.push_back(parent);
        rows_.push_back(row);
        removed_.insert(removed_.end(), removed.begin(), removed.end());
        removed_ends_.push_back(removed_.size());
        return node;
    }
    void require_id(const char* what, Token id) const {
        if (id < 0 || id >= round_.vocab)
            detail::invalid("wire::Draft::add", what, id, "in the vocabulary of " + detail::to_text(round_.vocab));
    }

    std::optional<Fault> parse(std::span<const std::byte> message) {
        detail::WireReader in{message};
        if (message.size() < 4) return Fault::truncated;
        if (in.get<std::uint32_t>() != magic) return Fault::version;
        if (in.get<std::uint32_t>() != message.size()) return Fault::truncated;
        if (in.get<std::uint64_t>() != detail::wire_checksum(message)) return Fault::corrupted;
        const auto request = in.get<std::uint64_t>(), start = in.get<std::uint64_t>();
        const auto vocab = in.get<std::uint32_t>(), rows = in.get<std::uint32_t>(), nodes = in.get<std::uint32_t>();
        if (in.is_over) return Fault::malformed;
        if (request != round_.request || start != round_.start || std::cmp_not_equal(vocab, round_.vocab))
            return Fault::another_round;
        for (std::uint32_t i = 0; i < rows; ++i)
            if (!read_row(in)) return Fault::malformed;
        for (std::uint32_t i = 0; i < nodes; ++i)
            if (!read_node(in)) return Fault::malformed;
        if (!in.bytes.empty() || nodes > most_drafted) return Fault::malformed;
        return std::nullopt;
    }

    bool read_row(detail::WireReader& in) {
        const std::uint16_t count = in.get<std::uint16_t>();
        if (in.is_over || count > most_ids || in.bytes.size() < std::size_t{6} * count) return false;
        std::int64_t before = -1;
        for (std::uint16_t i = 0; i < count; ++i) {
            const std::int64_t id = in.get_signed();
            if (id <= before || id >= round_.vocab) return false;
            ids_.push_back(static_cast<Token>(before = id));
        }
        float left = whole;
        for (std::uint16_t i = 0; i < count; ++i) {
            const float share = static_cast<float>(in.get<std::uint16_t>()) + 1;
            left -= share;
            probs_.push_back(share / whole);
        }
        row_ends_.push_back(ids_.size());
        return count == 0 || left == 0;
    }

    bool read_node(detail::WireReader& in) {
        const std::int64_t parent = in.get_signed(), token = in.get_signed(), row = in.get_signed();
        const std::uint16_t removed = in.get<std::uint16_t>();
        const auto is_id = [&](std::int64_t id) { return id >= 0 && id < round_.vocab; };
        if (in.is_over || in.bytes.size() < std::size_t{4} * removed || parent < root_node ||
            parent >= std::ssize(tokens_) || !is_id(token) || row < -1 || row >= row_count() ||
            (row < 0 && removed > 0))
            return false;
        for (std::uint16_t i = 0; i < removed; ++i) {
            const std::int64_t id = in.get_signed();
            if (!is_id(id)) return false;
            removed_.push_back(static_cast<Token>(id));
        }
        tokens_.push_back(static_cast<Token>(token));
        parents_.push_back(static_cast<Index>(parent));
        rows_.push_back(static_cast<Index>(row));
        removed_ends_.push_back(removed_.size());
        return true;
    }

    RoundOf round_;
    std::vector<Token> ids_;  // of all rows, one after the other
    std::vector<float> probs_;
    std::vector<std::size_t> row_ends_;
    std::vector<Token> tokens_;
    std::vector<Index> parents_, rows_;  // by node; a row of -1: named
    std::vector<Token> removed_;         // of all nodes, one after the other
    std::vector<std::size_t> removed_ends_;
    mutable std::vector<Origin> origins_;
};

}}}  // namespace specsample::wire
