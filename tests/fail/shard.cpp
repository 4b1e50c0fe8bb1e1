// Rows of slices.
#include <specsample/shard.hpp>
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/verify.hpp>
#include <specsample/vocabularies.hpp>

// case: strided_slice
// expect: error: static assertion failed.*specsample::Sharded: a slice must be contiguous in memory; copy it to a
// vector
namespace strided_slice {

using namespace specsample;

Index program(const Eigen::MatrixXf& logits, shard::Ranks& ranks) {
#ifdef FIXED
    const std::vector<float> slice(logits.row(0).begin(), logits.row(0).end());
#else
    const auto slice = logits.row(0);  // of a matrix by columns
#endif
    return shard::Sharded(slice, 0, 100, ranks).argmax();
}

}  // namespace strided_slice

// case: slices_made_for_the_call
// What ranks exchanged about a row is kept with the row.
// expect: error: static assertion failed.*specsample::Sharded: rows.i. must return the same row every time
namespace slices_made_for_the_call {

using namespace specsample;

struct GivenRows {
    std::vector<std::vector<float>> slices;
    shard::Ranks& ranks;

    std::size_t size() const { return slices.size(); }
    auto operator[](std::size_t i) const { return shard::Sharded(std::span<const float>(slices[i]), 0, 100, ranks); }
};

Index program(const GivenRows& rows, const std::vector<Token>& tokens, Workspace& workspace) {
#ifdef FIXED
    std::vector<decltype(rows[0])> given;
    for (std::size_t i = 0; i < rows.size(); ++i) given.push_back(rows[i]);
#else
    const GivenRows& given = rows;
#endif
    return verify(tokens, PointMass{}, given, TokenVerification{}, RoundRng(1, 2, 3), {}, workspace).accepted;
}

}  // namespace slices_made_for_the_call

// case: k_seq_over_slices
// expect: error: static assertion failed.*specsample::KSeq: this rule looks at whole rows several times
namespace k_seq_over_slices {

using namespace specsample;

Index program(const std::vector<shard::Sharded<std::vector<float>>>& rows, const std::vector<Token>& tokens,
              const std::vector<DraftedFrom<std::vector<float>, TokenVerification>>& distributions,
              Workspace& workspace) {
#ifdef FIXED
    const RecursiveRejection rule;
#else
    const KSeq rule;
#endif
    return verify(tokens, distributions, rows, rule, RoundRng(1, 2, 3), {}, workspace).accepted;
}

}  // namespace k_seq_over_slices

// case: no_communicator
// expect: error: static assertion failed.*specsample::shard::Ranks: the argument must be a communicator, an object with
namespace no_communicator {

using namespace specsample;

Index program() {
#ifdef FIXED
    shard::OneRank communicator;
#else
    int communicator = 0;
#endif
    shard::Ranks ranks(communicator);
    return ranks.size();
}

}  // namespace no_communicator

// case: split_row_mapped
// The numbers of a slice are no row of their own.
// expect: error: static assertion failed.*specsample::Row: a row that is split over ranks cannot be the row inside of
// another
namespace split_row_mapped {

using namespace specsample;

Index program(const vocabularies::IdMap& map, const std::vector<float>& numbers, shard::Ranks& ranks,
              filters::ShapedMemory<float>& memory) {
#ifdef FIXED
    const Logits row(numbers);
    (void)ranks;
#else
    const Logits slice(numbers);
    const shard::Sharded row(slice, 0, 100, ranks);
#endif
    return vocabularies::push_forward(map, row, memory).size();
}

}  // namespace split_row_mapped

// case: split_row_in_a_sparse_row
// expect: error: static assertion failed.*specsample::Row: a row that is split over ranks cannot be the row inside of
// another
namespace split_row_in_a_sparse_row {

using namespace specsample;

Index program(const std::vector<Token>& ids, const std::vector<float>& numbers, shard::Ranks& ranks) {
#ifdef FIXED
    const std::vector<float>& row = numbers;
    (void)ranks;
#else
    const shard::Sharded row(numbers, 0, 100, ranks);
#endif
    return kernels::argmax(Sparse(ids, row, 200));
}

}  // namespace split_row_in_a_sparse_row

// case: gathered_logits
// A temperature would be lost: numbers are gathered as they are stored.
// expect: error: static assertion failed.*specsample::shard::GatheredNumbers: slice must be plain numbers
namespace gathered_logits {

using namespace specsample;

Index program(const std::vector<float>& slice, shard::Ranks& ranks) {
#ifdef FIXED
    const shard::GatheredNumbers numbers(slice, 0, 100, ranks);
#else
    const shard::GatheredNumbers numbers(Logits(slice, .8), 0, 100, ranks);
#endif
    return Row::logits({numbers, numbers.scalar()}, .8).size();
}

}  // namespace gathered_logits
