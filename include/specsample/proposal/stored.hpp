// A draft that survives: what a preempted request takes along, to another moment or another machine.
//
//   RoundKey            the coins of its round
//   StoredProposal      tokens and the rows they were drawn from, in memory of its own
//   save, restore       the same as bytes
//
// A row per token is most of it: 4 tokens and 128k floats are 2 MB. A draft from fewer ids needs fewer bytes, half a
// kilobyte per token for 64 of them: draft with shaped(model, TopK{64}), or draw from shape(row, TopK{64}, ..), and
// what is left of the row is what the token was drawn from and what is stored.
//
// The order decides: cut, renormalise, draw. The ids that are kept must not depend on the token. A row that is cut
// around a token drawn from the whole row says that it was drawn more often than it was, and a ratio rule that believes
// this is biased (total variation .05 to .12 on models of four ids). Where a draft has to be drawn from the whole row,
// a token outside the ids that are kept may be named a PointMass: exact as well, though accepted less often.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <specsample/proposal/proposal.hpp>
#include <specsample/proposal/stored_rows.hpp>

namespace specsample {

/// Where the coins of a round are: Coins(key.seed, key.request, key.start).
struct RoundKey {
    std::uint64_t seed = 0;
    std::uint64_t request = 0;  ///< below 2^32
    Index start = 0;            ///< tokens of the text before the round, below 2^32

    friend bool operator==(const RoundKey&, const RoundKey&) = default;
};

/// Why bytes are no stored proposal.
enum class StoredFault {
    truncated,      ///< there are fewer bytes than were saved
    foreign,        ///< they begin like something else
    other_version,  ///< another version of this format
    other_scalar,   ///< rows of another scalar
    damaged         ///< they differ from what was saved, or were never saved
};

/// The sentence for it.
constexpr std::string_view message(StoredFault fault) {
    switch (fault) {
        case StoredFault::truncated:
            return "the bytes end too early, but must be all that StoredProposal::save returned";
        case StoredFault::foreign:
            return "the bytes are something else, but must be what StoredProposal::save returned";
        case StoredFault::other_version:
            return "the bytes are of another format, but must have been saved by this version of the library";
        case StoredFault::other_scalar:
            return "the bytes hold rows of another scalar, but must be restored to the type that saved them";
        case StoredFault::damaged:
            return "the bytes are damaged, but must be what StoredProposal::save returned";
    }
    return "the bytes are bad";
}

/// A chain of drafted tokens with the laws they were drawn from, and the key of its round. A value: it borrows nothing.
///
///     StoredProposal<float> stored;
///     stored.keep({seed, request, start}, proposal);            // or open, and add each token as it is drawn
///     std::vector<std::byte> bytes = stored.save();             // the request is preempted
///
///     if (const auto bad = stored.restore(bytes)) report(message(*bad));
///     const RoundKey& key = stored.key();                       // and goes on, to the bit
///     verify(stored.tokens(), stored.laws(), rows, rule, Coins(key.seed, key.request, key.start), limits, workspace);
///
/// A draft for a match rule that was drawn with the target's noise (Raced) needs no keeping: its text does not depend
/// on it.
///
/// @tparam Scalar   what the rows hold. Rows of logits are kept as the probabilities that they mean, in float (double
///                  for double logits)
template <Floating Scalar>
class StoredProposal {
  public:
    using Law = typename detail::StoredRows<Scalar>::Law;

    /// Begin a new draft; its memory is used again.
    /// @throws   std::invalid_argument for a key that no coins have
    void open(const RoundKey& key) {
        detail::require(key.request <= most, "StoredProposal", "key.request", key.request, "below 2^32");
        detail::require(key.start >= 0 && std::cmp_less_equal(key.start, most), "StoredProposal", "key.start",
                        key.start, "in [0, 2^32)");
        key_ = key;
        tokens_.clear();
        rows_.clear();
    }

    /// Add a token, and copy its law.
    /// @param token   of any integral type
    /// @throws        std::invalid_argument for a token below 0 or of more than 31 bits
    /// @cost          what the row holds; allocates for more than ever before
    template <Integer Id, RatioLaw L>
    void add(Id token, const L& law) {
        if constexpr (RowLaw<L>) {
            static_assert(std::same_as<detail::RowScalar<L>, Scalar>,
                          "specsample::StoredProposal: a row must be kept as it is; give StoredProposal the scalar of "
                          "the rows that the draft was drawn from");
        }
        detail::require(std::cmp_greater_equal(token, 0) && std::in_range<Token>(token), "StoredProposal", "token",
                        token, "a token id of 31 bits");
        tokens_.push_back(static_cast<Token>(token));
        rows_.add(law);
    }

    /// Keep a whole draft.
    /// @throws   std::invalid_argument if it is not a chain; as open
    template <class L>
    void keep(const RoundKey& key, const Proposal<L>& chain) {
        open(key);
        for (Index i = 0; i < chain.size(); ++i) {
            if (chain.parent(i) != i - 1)
                detail::invalid("StoredProposal", "the parent of node " + detail::to_text(i), chain.parent(i),
                                "the node before it, as in a chain");
            add(chain.token(i), chain.laws()[static_cast<std::size_t>(i)]);
        }
    }

    const RoundKey& key() const { return key_; }
    Index size() const { return std::ssize(tokens_); }
    std::span<const Token> tokens() const { return tokens_; }

    /// The law of token i: a view of this object, until its next change.
    Law law(Index i) const { return rows_.law(i); }

    /// All of them, for verify.
    auto laws() const {
        return [this](Index i) { return law(i); };
    }

    /// The bytes that `restore` takes, on any machine.
    std::vector<std::byte> save() const {
        detail::ByteWriter writer;
        writer.put(magic);
        writer.put(version);
        writer.put(scalar_code);
        writer.put(std::uint64_t{header_bytes + std::span(tokens_).size_bytes() + rows_.byte_count() + checksum_bytes});
        writer.put(key_.seed);
        writer.put(key_.request);
        writer.put(static_cast<std::uint64_t>(key_.start));
        writer.put(std::uint64_t{tokens_.size()});
        writer.put(std::span(tokens_));
        rows_.write(writer);
        writer.put(detail::checksum(writer.bytes()));
        return writer.take();
    }

    /// Become what was saved; on a fault, a draft without tokens. Reads nothing outside the bytes, whatever they are,
    /// and restores nothing that could not be judged.
    std::optional<StoredFault> restore(std::span<const std::byte> bytes) {
        const auto fault = read(bytes);
        if (fault) open({});
        return fault;
    }

  private:
    // The bytes: magic 8, version 4, scalar 4, size of all 8, seed 8, request 8, start 8, number of tokens 8; a token
    // each 4; the laws; checksum 8.
    static constexpr std::uint64_t magic = 0x6c70'6d73'6365'7073;  // "specsmpl"
    static constexpr std::uint32_t version = 1;
    static constexpr std::uint32_t scalar_code = std::same_as<Scalar, float>         ? 1
                                                 : std::same_as<Scalar, double>      ? 2
                                                 : std::same_as<Scalar, Eigen::half> ? 3
                                                                                     : 4;
    static constexpr std::uint64_t most = 0xffff'ffff;  // of what an address holds in 32 bits
    static constexpr std::size_t header_bytes = 56, checksum_bytes = 8;

    std::optional<StoredFault> read(std::span<const std::byte> bytes) {
        detail::ByteReader reader(bytes);
        const auto begin = reader.take<std::uint64_t>();
        const auto written_by = reader.take<std::uint32_t>(), scalar = reader.take<std::uint32_t>();
        const auto size = reader.take<std::uint64_t>();
        if (reader.is_short()) return StoredFault::truncated;
        if (begin != magic) return StoredFault::foreign;
        if (written_by != version) return StoredFault::other_version;
        if (scalar != scalar_code) return StoredFault::other_scalar;
        if (bytes.size() < size) return StoredFault::truncated;
        if (bytes.size() > size || size < header_bytes + checksum_bytes) return StoredFault::damaged;
        detail::ByteReader end(bytes.last(checksum_bytes));
        if (end.take<std::uint64_t>() != detail::checksum(bytes.first(bytes.size() - checksum_bytes)))
            return StoredFault::damaged;
        return read_draft(reader) ? std::nullopt : std::optional(StoredFault::damaged);
    }

    /// What follows the size. Anybody can make a checksum, so nothing is taken at its word.
    bool read_draft(detail::ByteReader& reader) {
        key_.seed = reader.take<std::uint64_t>();
        key_.request = reader.take<std::uint64_t>();
        const auto start = reader.take<std::uint64_t>(), count = reader.take<std::uint64_t>();
        if (key_.request > most || start > most) return false;
        key_.start = static_cast<Index>(start);
        const std::size_t left = reader.left() - checksum_bytes;
        if (count > left / sizeof(Token)) return false;
        tokens_.resize(static_cast<std::size_t>(count));
        reader.take(std::span(tokens_));
        return std::ranges::all_of(tokens_, [](Token token) { return token >= 0; }) &&
               rows_.read(reader, tokens_, reader.left() - checksum_bytes);
    }

    RoundKey key_;
    std::vector<Token> tokens_;
    detail::StoredRows<Scalar> rows_;
};

}  // namespace specsample
