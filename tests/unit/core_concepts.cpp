// The concepts of what a user may plug in: types that model them and types that do not.
#include <specsample/concepts.hpp>

#include <memory>
#include <string>

#include "support/catch.hpp"

using namespace specsample;

// Never called, so never defined.
namespace plug_in {

using Prefix = std::span<const Token>;

template <class Answer>
struct Returns {
    Answer operator()(Prefix) const;
};
template <class Answer>
struct ReturnsMany {
    Answer operator()(Prefix, Index) const;
};

// model(prefix)
static_assert(RowModel<Returns<Eigen::VectorXf>> && !RowModel<Returns<std::string>>);
static_assert(RowModel<Returns<std::vector<double>>> && !RowModel<Returns<std::vector<int>>>);
static_assert(RowModel<Returns<std::array<float, 4>>> && !RowModel<Returns<void>>);
static_assert(RowModel<Returns<std::span<const float>>> && !RowModel<Returns<const float*>>);
static_assert(RowModel<Returns<Eigen::Map<const Eigen::VectorXf>>>);
static_assert(RowModel<Returns<Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<>>>>);
static_assert(RowModel<Returns<const Eigen::VectorXf&>> && RowModel<Returns<Eigen::Vector4d>>);
static_assert(!RowModel<Returns<RowMajorMatrix<float>>> && !RowModel<Returns<Token>>);

// An expression would dangle: neither a row by value nor one by view.
using Scaled = decltype(Eigen::VectorXf() * .5f);
using Segment = decltype(std::declval<Eigen::VectorXf&>().head(1));
static_assert(!RowModel<Returns<Scaled>> && !detail::ReturnedRow<Scaled>);
static_assert(!RowModel<Returns<Segment>> && !detail::ReturnedRow<Segment>);
static_assert(detail::ReturnedRow<Eigen::VectorXf> && detail::ReturnedRow<std::vector<float>> &&
              !detail::ReturnedRow<std::string>);

// Prefixes come as spans, and as vectors for models that ask for them.
struct TakesVector {
    Eigen::VectorXf operator()(const std::vector<Token>&) const;
};
struct TakesNothing {
    Eigen::VectorXf operator()() const;
};
struct TakesWritable {
    Eigen::VectorXf operator()(std::span<Token>) const;
};
struct TakesLongTokens {
    Eigen::VectorXf operator()(const std::vector<std::int64_t>&) const;
};
struct TakesByValue {
    Eigen::VectorXf operator()(std::vector<Token>) const;
};
struct TakesAnything {
    template <class Any>
    Eigen::VectorXf operator()(const Any&) const;
};
static_assert(Model<TakesVector> && RowModel<TakesVector> && !Model<TakesNothing>);
static_assert(Model<TakesByValue> && !Model<TakesWritable>);
static_assert(RowModel<TakesAnything> && !Model<TakesLongTokens> && !Model<int>);

// A model may change as it runs, be a function, or be shared by reference.
struct Changes {
    Eigen::VectorXf operator()(Prefix);
};
using Function = Eigen::VectorXf (*)(Prefix);
static_assert(RowModel<Changes> && RowModel<std::reference_wrapper<Changes>> && RowModel<Function>);
static_assert(!RowModel<std::unique_ptr<Changes>> && !RowModel<Changes*>);

// A drafter may return its token alone.
static_assert(TokenModel<Returns<Token>> && TokenModel<Returns<std::int64_t>> && TokenModel<Returns<unsigned short>>);
static_assert(!TokenModel<Returns<bool>> && !TokenModel<Returns<float>> && !TokenModel<Returns<Eigen::VectorXf>>);
static_assert(!TokenModel<Returns<int*>> && TokenModel<Returns<const Token&>>);

// model(prefix, n)
static_assert(BatchModel<ReturnsMany<RowMajorMatrix<float>>> && !BatchModel<ReturnsMany<Eigen::MatrixXf>>);
static_assert(BatchModel<ReturnsMany<const RowMajorMatrix<double>&>> && !BatchModel<Returns<RowMajorMatrix<float>>>);
static_assert(BatchModel<ReturnsMany<Eigen::Map<const RowMajorMatrix<float>>>>);
static_assert(BatchModel<ReturnsMany<Eigen::Map<const RowMajorMatrix<float>, 0, Eigen::OuterStride<>>>>);
static_assert(!BatchModel<ReturnsMany<Eigen::Map<const Eigen::MatrixXf>>>);
static_assert(BatchModel<ReturnsMany<RowMajorMatrix<Eigen::half>>> && !BatchModel<ReturnsMany<RowMajorMatrix<int>>>);
static_assert(BatchModel<ReturnsMany<std::vector<Eigen::VectorXf>>> && !BatchModel<ReturnsMany<std::vector<float>>>);
static_assert(BatchModel<ReturnsMany<std::span<const std::vector<float>>>> && !BatchModel<ReturnsMany<void>>);
static_assert(!BatchModel<ReturnsMany<Eigen::VectorXf>> && !BatchModel<ReturnsMany<Token>>);
static_assert(detail::ManyModel<ReturnsMany<void>> && !detail::ManyModel<Returns<Eigen::VectorXf>>);

// rollback and stable_rows, seen through std::ref as well.
struct Cached : Returns<Eigen::Map<const Eigen::VectorXf>> {
    void rollback(Index);
    static constexpr bool stable_rows = true;
};
struct Unstable : Returns<Eigen::VectorXf> {
    static constexpr bool stable_rows = false;
    void rollback();
};
static_assert(Rewindable<Cached> && Rewindable<std::reference_wrapper<Cached>> && !Rewindable<Unstable>);
static_assert(detail::StableRows<Cached> && detail::StableRows<std::reference_wrapper<Cached>> &&
              !detail::StableRows<Unstable>);
static_assert(!detail::StableRows<Returns<Eigen::VectorXf>> && !Rewindable<Returns<Eigen::VectorXf>>);

}  // namespace plug_in

using Prefix = std::span<const Token>;

TEST_CASE("a model that takes spans and vectors is asked with a span", "[core]") {
    struct {
        std::string span_or_vector(Prefix) const { return "span"; }
        std::string operator()(Prefix) const { return "span"; }
        std::string operator()(const std::vector<Token>&) const { return "vector"; }
    } both;
    CHECK(detail::ask(both, std::vector<Token>{1}) == "span");
}

TEST_CASE("a model sees the prefix itself, not a copy", "[core]") {
    const std::vector<Token> prefix{3, 1, 4};
    auto by_span = [&](Prefix seen) { return seen.data() == prefix.data() && seen.size() == 3; };
    auto by_vector = [&](const std::vector<Token>& seen) { return &seen == &prefix; };
    CHECK(detail::ask(by_span, prefix));
    CHECK(detail::ask(by_vector, prefix));
    auto reference = std::ref(by_span);
    CHECK(detail::ask(reference, prefix));
}

TEST_CASE("rows are taken from matrices, containers and callables alike", "[core]") {
    RowMajorMatrix<double> matrix(2, 2);
    matrix << 1, 2, 3, 4;
    const std::vector<std::vector<float>> vectors{{1, 2}, {3, 4}};
    const auto callable = [&](Index i) { return Eigen::VectorXd(matrix.row(i)); };
    CHECK(detail::as_row(detail::element(matrix, 1))[0] == 3);
    CHECK(detail::as_row(detail::element(vectors, 1))[0] == 3);
    CHECK(detail::element(callable, 1)[0] == 3);
    CHECK(detail::element_count(matrix) == 2);
    CHECK(detail::element_count(vectors) == 2);
    CHECK(detail::element_count(callable) == -1);
    CHECK(detail::element_count(callable, 5) == 5);
    CHECK(detail::as_row(detail::element(matrix, 1)).data() == matrix.data() + 2);
}
