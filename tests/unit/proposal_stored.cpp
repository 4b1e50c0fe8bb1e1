// Stored drafts: laws that are kept to the bit, and bytes that are restored to the bit or not at all.
#include <specsample/proposal/stored.hpp>

#include <array>
#include <memory>

#include <specsample/random/coins.hpp>

#include "support/catch.hpp"

using namespace specsample;

namespace {

constexpr RoundKey key{.seed = 0x0123'4567'89ab'cdef, .request = 0xffff'fffe, .start = 77};
constexpr Index vocab = 1300;  // more than two blocks, and no multiple of anything

/// A row that sums to 1 in no scalar exactly.
Eigen::VectorXd random_row(std::uint64_t seed) {
    Eigen::VectorXd row(vocab);
    for (Index i = 0; i < vocab; ++i)
        row[i] = -std::log(Coin({.seed = seed}).open_uniform(static_cast<std::uint32_t>(i)));
    return row / row.sum();
}

template <class Scalar>
Eigen::Matrix<Scalar, Eigen::Dynamic, 1> row_of(std::uint64_t seed) {
    return random_row(seed).template cast<Scalar>();
}

/// Is a stored law the law that was given, in every number that a rule can ask for?
template <class Scalar, class L>
void check_kept(const L& given) {
    StoredProposal<Scalar> stored;
    stored.open(key);
    stored.add(3, PointMass{});
    stored.add(5, given);
    stored.add(6, given);
    StoredProposal<Scalar> restored;
    REQUIRE_FALSE(restored.restore(stored.save()));
    for (const auto* each : {&stored, &restored}) {
        const auto law = each->law(1);
        CHECK(each->law(0).is_point());
        REQUIRE_FALSE(law.is_point());
        CHECK(law.row().size() == given.row().size());
        CHECK(std::ranges::equal(law.without(), given.without()));
        CHECK(law.rest() == given.rest());
        CHECK(RowWeights(law.row()).sum(0, detail::Blocks(law.row()).size()) ==
              RowWeights(given.row()).sum(0, detail::Blocks(given.row()).size()));
        Index different = 0;
        for (Index id = 0; id < vocab; ++id) different += law.weight(id) == given.weight(id) ? 0 : 1;
        CHECK(different == 0);
    }
}

/// Two tokens: a point mass, and one drawn from a sparse row without an id.
StoredProposal<float> small_draft() {
    const std::vector<Token> ids{2, 4, 5}, without{4};
    const std::vector<float> probs{.5f, .25f, .25f};
    const Sparse row(ids, probs, 7);
    StoredProposal<float> stored;
    stored.open(key);
    stored.add(1, PointMass{});
    stored.add(5, Sampled(row, without, .75));
    return stored;
}

/// One of every kind of law.
StoredProposal<float> draft_of_all_kinds() {
    StoredProposal<float> stored = small_draft();
    const std::vector<float> dense{.125f, .5f, .375f};
    const std::vector<Token> without{0, 2};
    stored.add(1, Sampled(dense));
    stored.add(1, Sampled(dense, without, .5));
    return stored;
}

template <class Scalar>
bool same(const StoredProposal<Scalar>& a, const StoredProposal<Scalar>& b) {
    return a.key() == b.key() && std::ranges::equal(a.tokens(), b.tokens()) && a.save() == b.save();
}

/// Bytes where the last eight are the checksum of those before, as anybody can make them.
std::vector<std::byte> with_checksum(std::vector<std::byte> bytes) {
    bytes.resize(bytes.size() - 8);
    const std::uint64_t sum = detail::checksum(bytes);
    for (int byte = 0; byte < 8; ++byte) bytes.push_back(static_cast<std::byte>(sum >> (8 * byte)));
    return bytes;
}

/// Restore from memory that ends where the bytes end, so that a sanitizer sees whoever reads on; then ask for all laws.
std::optional<StoredFault> restored_alone(const std::vector<std::byte>& bytes) {
    const auto memory = std::make_unique<std::byte[]>(bytes.size());
    std::ranges::copy(bytes, memory.get());
    StoredProposal<float> stored;
    const auto fault = stored.restore({memory.get(), bytes.size()});
    if (fault) {
        CHECK(stored.size() == 0);
        CHECK(stored.key() == RoundKey{});
    }
    double sum = 0;
    for (Index i = 0; i < stored.size(); ++i) {
        const auto law = stored.law(i);
        sum += law.weight(stored.tokens()[static_cast<std::size_t>(i)]) + law.rest();
        if (!law.is_point()) sum += WithoutWeights(law.row(), law.without()).sum(0, detail::Blocks(law.row()).size());
    }
    CHECK((sum <= 0 || sum > 0 || is_nan(sum)));  // it was read
    return fault;
}

}  // namespace

TEMPLATE_TEST_CASE("a law is stored to the bit, from rows of any scalar", "", float, double, Eigen::half,
                   Eigen::bfloat16) {
    const auto row = row_of<TestType>(1);
    const std::vector<Token> without{7, 1000, 3};
    check_kept<TestType>(Sampled(row));
    check_kept<TestType>(Sampled(row, without));
    check_kept<TestType>(Sampled(row, without, .875));
    check_kept<TestType>(Mixed<row_view_t<decltype(row)>>(Sampled(row, without)));
    RowMajorMatrix<TestType> wide(vocab, 3);
    wide.col(1) = row;
    check_kept<TestType>(Sampled(wide.col(1)));
}

TEMPLATE_TEST_CASE("a law is stored to the bit, from sparse rows and rows of logits", "", float, double) {
    const auto row = row_of<TestType>(2);
    std::vector<std::int16_t> ids;
    std::vector<TestType> numbers;
    for (std::int16_t id = 3; id < vocab; id = static_cast<std::int16_t>(id + 1 + id % 3)) {
        ids.push_back(id);
        numbers.push_back(row[id]);
    }
    const std::vector<Token> without{3, 5, 1299};
    const Sparse sparse(ids, numbers, vocab);
    check_kept<TestType>(Sampled(sparse));
    check_kept<TestType>(Sampled(sparse, without, .75));
    const Logits logits(row, .01);
    check_kept<TestType>(Sampled(logits));
    const Logits greedy(row, 0);
    check_kept<TestType>(Sampled(greedy));
    const Sparse sparse_logits(ids, Logits(numbers, .01), vocab);
    check_kept<TestType>(Sampled(sparse_logits, without, .5));
    const Sparse empty(std::vector<Token>(), std::vector<TestType>(), vocab);
    check_kept<TestType>(Sampled(empty));
}

TEST_CASE("rows of half logits are stored as the floats that they mean") {
    const auto row = row_of<Eigen::half>(2);
    const Logits logits(row, .01);
    check_kept<float>(Sampled(logits));
}

TEST_CASE("a stored draft is a value: neither the draft nor a copy is needed") {
    StoredProposal<float> copy;
    {
        const StoredProposal<float> stored = draft_of_all_kinds();
        copy = stored;
        CHECK(same(copy, stored));
    }
    CHECK(copy.law(1).weight(5) == .25);
    CHECK(copy.law(1).rest() == .75);
    CHECK(copy.laws()(2).weight(0) == .125);
    copy.open({});
    CHECK(copy.size() == 0);
    CHECK(copy.key() == RoundKey{});
}

TEST_CASE("what is restored is what was saved, an empty draft as well") {
    for (const auto& stored : {draft_of_all_kinds(), small_draft(), StoredProposal<float>()}) {
        StoredProposal<float> restored = small_draft();
        CHECK_FALSE(restored.restore(stored.save()));
        CHECK(same(restored, stored));
    }
}

// The format is a promise to bytes that lie in some store: where this goes red, the version must change.
TEST_CASE("the bytes of a stored draft are these on any machine") {
    std::vector<int> expected{'s', 'p', 'e', 'c', 's', 'm', 'p', 'l', 1, 0, 0, 0, 1, 0, 0, 0};
    const auto put = [&](std::uint64_t number, int bytes) {
        for (; bytes > 0; --bytes, number >>= 8) expected.push_back(static_cast<int>(number & 255));
    };
    put(56 + 2 * 4 + 2 * 36 + 4 * 4 + 3 * 4 + 8, 8);
    put(key.seed, 8), put(key.request, 8), put(77, 8), put(2, 8);
    put(1, 4), put(5, 4);
    put(0, 4), put(0, 8), put(0, 8), put(0, 8), put(0x3ff0'0000'0000'0000, 8);
    put(2, 4), put(7, 8), put(3, 8), put(1, 8), put(0x3fe8'0000'0000'0000, 8);  // .75 is left
    put(2, 4), put(4, 4), put(5, 4), put(4, 4);
    put(0x3f00'0000, 4), put(0x3e80'0000, 4), put(0x3e80'0000, 4);
    std::vector<int> bytes;
    for (const std::byte byte : small_draft().save()) bytes.push_back(std::to_integer<int>(byte));
    put(0x7390'9e73'1cae'880d, 8);  // the checksum, from a program in another language
    CHECK(bytes == expected);
}

TEST_CASE("bytes that end anywhere before their end are refused") {
    const auto bytes = draft_of_all_kinds().save();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        INFO(size << " of " << bytes.size() << " bytes");
        const std::vector<std::byte> part(bytes.begin(), bytes.begin() + static_cast<Index>(size));
        CHECK(restored_alone(part) == StoredFault::truncated);
        if (size < 64) continue;
        // As if it had been all: the size and the checksum say so.
        auto forged = part;
        for (std::size_t byte = 0; byte < 8; ++byte) forged[16 + byte] = static_cast<std::byte>(size >> (8 * byte));
        CHECK(restored_alone(with_checksum(forged)) == StoredFault::damaged);
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    CHECK(restored_alone(longer) == StoredFault::damaged);
}

TEST_CASE("a single changed byte is seen wherever it is") {
    const auto bytes = draft_of_all_kinds().save();
    for (std::size_t place = 0; place < bytes.size(); ++place)
        for (int change = 1; change < 256; ++change) {
            auto changed = bytes;
            changed[place] ^= static_cast<std::byte>(change);
            if (!restored_alone(changed)) FAIL("byte " << place << " changed by " << change);
        }
}

TEST_CASE("bytes that were made to deceive are refused, or can be judged") {
    const auto bytes = draft_of_all_kinds().save();
    Index restored = 0;
    const auto forge = [&](std::vector<std::byte> forged) {
        if (!restored_alone(with_checksum(std::move(forged)))) ++restored;
    };
    for (std::size_t place = 0; place + 8 < bytes.size(); ++place)
        for (int bit = 0; bit < 8; ++bit) {
            auto forged = bytes;
            forged[place] ^= static_cast<std::byte>(1 << bit);
            forge(forged);
        }
    CHECK(restored > 500);  // other numbers, seeds and tokens
    // Counts that no memory has, at every place.
    for (std::size_t place = 24; place + 16 < bytes.size(); place += 4)
        for (const std::uint64_t count : {std::uint64_t{0x7fff'ffff}, std::uint64_t{0xffff'ffff},
                                          std::uint64_t{0x7fff'ffff'ffff'ffff}, ~std::uint64_t{0}}) {
            auto forged = bytes;
            for (std::size_t byte = 0; byte < 8; ++byte)
                forged[place + byte] = static_cast<std::byte>(count >> (8 * byte));
            forge(forged);
        }
}

TEST_CASE("ids that no row could have are refused") {
    // Of small_draft: tokens at 56, laws at 64 and 100, ids at 136: 2, 4, 5, and 4 left out.
    const auto bytes = small_draft().save();
    const auto with = [&](std::size_t place, int value) {
        auto changed = bytes;
        for (std::size_t byte = 0; byte < 4; ++byte)
            changed[place + byte] = static_cast<std::byte>(static_cast<std::uint32_t>(value) >> (8 * byte));
        return restored_alone(with_checksum(changed));
    };
    CHECK_FALSE(with(136, 2));
    CHECK_FALSE(with(136, 0));
    CHECK(with(136, -1) == StoredFault::damaged);
    CHECK(with(136, 4) == StoredFault::damaged);
    CHECK(with(140, 2) == StoredFault::damaged);
    CHECK_FALSE(with(144, 6));
    CHECK(with(144, 7) == StoredFault::damaged);
    CHECK_FALSE(with(148, 6));
    CHECK(with(148, 7) == StoredFault::damaged);
    CHECK(with(148, -1) == StoredFault::damaged);
    CHECK_FALSE(with(56, 100));
    CHECK(with(56, -1) == StoredFault::damaged);
    CHECK_FALSE(with(60, 6));
    CHECK(with(60, 7) == StoredFault::damaged);
    CHECK(with(64, 3) == StoredFault::damaged);  // a kind
    CHECK(with(68, 5) == StoredFault::damaged);  // a point mass with a vocabulary
    CHECK(with(36, 1) == StoredFault::damaged);  // a request of 33 bits
    CHECK(with(44, 1) == StoredFault::damaged);  // a start of 33 bits
}

TEST_CASE("bytes of something else are told apart") {
    const auto bytes = small_draft().save();
    StoredProposal<double> doubles;
    CHECK(doubles.restore(bytes) == StoredFault::other_scalar);
    CHECK(StoredProposal<Eigen::half>().restore(bytes) == StoredFault::other_scalar);
    CHECK(StoredProposal<Eigen::bfloat16>().restore(StoredProposal<Eigen::half>().save()) == StoredFault::other_scalar);
    auto other = bytes;
    other[8] = std::byte{2};
    CHECK(restored_alone(with_checksum(other)) == StoredFault::other_version);
    other[0] = std::byte{'S'};
    CHECK(restored_alone(with_checksum(other)) == StoredFault::foreign);
    CHECK(restored_alone(std::vector<std::byte>(1000)) == StoredFault::foreign);
    CHECK(restored_alone({}) == StoredFault::truncated);
    for (const auto fault : {StoredFault::truncated, StoredFault::foreign, StoredFault::other_version,
                             StoredFault::other_scalar, StoredFault::damaged})
        CHECK(std::string(message(fault)).find(", but must") != std::string::npos);
}

TEST_CASE("a whole draft is kept, if it is a chain") {
    const std::vector<double> row{.5, .25, .25};
    Proposal<Sampled<detail::Column<double>>> proposal;
    proposal.open(3, {}, 3);
    for (Index node = root_node; proposal.grows(node);) node = proposal.add(node, node + 1, Sampled(row));
    StoredProposal<double> stored;
    stored.keep(key, proposal);
    CHECK(stored.key() == key);
    CHECK(std::ranges::equal(stored.tokens(), std::array<Token, 3>{0, 1, 2}));
    CHECK(stored.law(2).weight(0) == .5);

    proposal.open(3, {}, 3);
    proposal.add(root_node, 1, Sampled(row));
    proposal.add(root_node, 2, Sampled(row));
    CHECK_THROWS_WITH(stored.keep(key, proposal),
                      "specsample::StoredProposal: the parent of node 1 is -1, but must be the node before it, as in a "
                      "chain");
}

TEST_CASE("a token that is no token is not stored") {
    StoredProposal<float> stored;
    CHECK_THROWS_WITH(stored.add(-1, PointMass{}),
                      "specsample::StoredProposal: token is -1, but must be a token id of 31 bits");
    CHECK_THROWS_AS(stored.add(std::int64_t{1} << 31, PointMass{}), std::invalid_argument);
    stored.add(std::uint64_t{0x7fff'ffff}, PointMass{});
    CHECK(stored.tokens()[0] == 0x7fff'ffff);
}

TEST_CASE("a key that no coins have is not stored") {
    StoredProposal<float> stored;
    CHECK_THROWS_WITH(stored.open({.request = std::uint64_t{1} << 32}),
                      "specsample::StoredProposal: key.request is 4294967296, but must be below 2^32");
    CHECK_THROWS_WITH(stored.open({.start = -1}),
                      "specsample::StoredProposal: key.start is -1, but must be in [0, 2^32)");
    CHECK_THROWS_AS(stored.open({.start = Index{1} << 32}), std::invalid_argument);
    stored.open({.request = 0xffff'ffff, .start = 0xffff'ffff});
    CHECK_FALSE(StoredProposal<float>(stored).restore(stored.save()));
}
