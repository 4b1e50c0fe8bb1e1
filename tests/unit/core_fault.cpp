// The message of every fault.
#include <specsample/core/fault.hpp>

#include <limits>

#include "support/catch.hpp"

using namespace specsample;

TEST_CASE("a wrong number of rows or distributions names both numbers", "[core]") {
    CHECK(message({.side = Side::target, .cause = Cause::wrong_count, .value = 3, .bound = 5}) ==
          "the number of target rows is 3, but must be 5, one per position");
    CHECK(message({.side = Side::draft, .cause = Cause::wrong_count, .value = 2, .bound = 4}) ==
          "the number of distributions is 2, but must be 4, one per drafted token");
}

TEST_CASE("an empty row is named", "[core]") {
    CHECK(message({.side = Side::target, .cause = Cause::empty, .row = 2}) ==
          "target row 2 is empty, but must hold one probability per token of the vocabulary");
}

TEST_CASE("a row of the wrong size names both sizes", "[core]") {
    CHECK(message({.side = Side::draft, .cause = Cause::wrong_size, .row = 1, .value = 32000, .bound = 32128}) ==
          "draft row 1 has 32000 entries, but must have 32128 like the first target row; for a draft with another "
          "vocabulary write vocabularies::mapped(draft, vocabularies::IdMap::same_ids(32000, 32128))");
    CHECK(message({.side = Side::target, .cause = Cause::wrong_size, .row = 1, .value = 32000, .bound = 32128}) ==
          "target row 1 has 32000 entries, but must have 32128 like the first target row");
}

TEST_CASE("a bad entry names its row, its id and its value", "[core]") {
    const double infinity = std::numeric_limits<double>::infinity();
    CHECK(message({.side = Side::target, .cause = Cause::not_finite, .row = 0, .value = infinity, .id = 17}) ==
          "target row 0 is inf at id 17, but must be finite");
    CHECK(message({.side = Side::draft, .cause = Cause::negative, .row = 3, .value = -.25, .id = 9}) ==
          "draft row 3 is -0.25 at id 9, but must be non-negative");
    CHECK(message({.side = Side::target, .cause = Cause::above_one, .row = 4, .value = 1.5, .id = 0}) ==
          "target row 4 is 1.5 at id 0, but must be at most 1");
}

TEST_CASE("a row that is not normalised names its sum and the tolerance", "[core]") {
    CHECK(message({.side = Side::target, .cause = Cause::not_normalised, .row = 1, .value = .98, .bound = 1e-3}) ==
          "target row 1 sums to 0.98, but must sum to 1 within 0.001");
}

TEST_CASE("the message for logits names the type to return", "[core]") {
    CHECK(message({.side = Side::draft, .cause = Cause::logits, .row = 0, .value = -12.5}) ==
          "draft row 0 sums to -12.5: these look like logits; return specsample::Logits(row, temperature)");
}

TEST_CASE("a token that its own row cannot give is named", "[core]") {
    CHECK(message({.side = Side::draft, .cause = Cause::zero_at_token, .row = 2, .id = 7}) ==
          "draft row 2 is 0 at its own drafted token 7, but must be the row that the token was drawn from");
}

TEST_CASE("a token outside the vocabulary names its place", "[core]") {
    CHECK(
        message({.side = Side::draft, .cause = Cause::outside_vocabulary, .row = 1, .value = 50257, .bound = 50257}) ==
        "drafted token 1 is 50257, but must be inside the vocabulary [0, 50257)"
        "; for a draft with another one see vocabularies::mapped and vocabularies::IdMap::same_ids");
    CHECK(message({.side = Side::limits, .cause = Cause::outside_vocabulary, .row = 0, .value = -1, .bound = 8}) ==
          "limits.stop_tokens[0] is -1, but must be inside the vocabulary [0, 8)");
}

TEST_CASE("what is wrong between ranks names the rank", "[core]") {
    const auto of = [](Cause cause) { return message({.cause = cause, .row = 1, .value = 30, .bound = 32, .id = 5}); };
    CHECK(
        of(Cause::slice_begin) ==
        "target row 1 has a slice on rank 5 that begins at id 30, but must begin at 32, where the one before it ends");
    CHECK(of(Cause::slice_end) == "target row 1 has a slice on rank 5 that ends at id 30, but must end at 32");
    CHECK(of(Cause::slice_vocabulary) ==
          "target row 1 is of a vocabulary of 30 ids on rank 5, but must be of 32 ids as on the other ranks");
    CHECK(of(Cause::ranks_differ) ==
          "target row 1 is read by rank 5 in another round than by rank 0, but seed, request, text, draft, limits and "
          "the order of calls must be the same on every rank");
}

TEST_CASE("Fault is an invalid_argument with the sentence, the fault and the tokens", "[core]") {
    const RowFault found{.side = Side::target, .cause = Cause::not_normalised, .row = 1, .value = 2, .bound = 1e-3};
    const Fault fault(found, {4, 5, 6});
    const std::invalid_argument& base = fault;
    CHECK(std::string(base.what()) == "specsample::Sampler: target row 1 sums to 2, but must sum to 1 within 0.001");
    CHECK(fault.fault.cause == Cause::not_normalised);
    CHECK(fault.fault.row == 1);
    CHECK(fault.emitted == std::vector<Token>{4, 5, 6});
}
