// Vocabularies: id maps and models behind them.
#include <specsample/shaping.hpp>
#include <specsample/specsample.hpp>
#include <specsample/vocabularies.hpp>

// case: mapped_by_a_list
// A list of ids has no inverse by which the draft could be shown a text.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: map must be an IdMap, or std::cref of
// one.*write mapped
namespace mapped_by_a_list {

using namespace specsample;
using namespace specsample::vocabularies;

int program() {
    const std::vector<Token> ids{1, 0};
    const auto draft = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(draft, IdMap(ids, 2));
#else
    auto model = mapped(draft, ids);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace mapped_by_a_list

// case: mapped_by_offsets
// A map of offsets says what an output head means, and not which ids the model reads.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: a map of offsets .* write mapped.model,
// map, TargetIds
namespace mapped_by_offsets {

using namespace specsample;
using namespace specsample::vocabularies;

int program() {
    const auto map = IdMap::from_offsets(std::vector{1, 1}, 3);
    const auto head = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(head, map, TargetIds{});
#else
    auto model = mapped(head, map);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace mapped_by_offsets

// case: mapped_prefix_mapped
// A prefix that is translated already must not be translated by the map as well.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: model translates its prefix already.*write
// mapped
namespace mapped_prefix_mapped {

using namespace specsample;
using namespace specsample::vocabularies;

int program() {
    const IdMap map = IdMap::same_ids(2, 2);
    const auto retokenise = [](std::span<const Token> text) { return std::vector<Token>(text.begin(), text.end()); };
    const auto draft = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(draft, map, retokenise);
#else
    auto model = mapped(prefix_mapped(draft, retokenise), map);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace mapped_prefix_mapped

// case: mapped_reads_a_number
// The id that stands for unknown tokens is no translation by itself.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: the third argument says what the draft is
// shown
namespace mapped_reads_a_number {

using namespace specsample;
using namespace specsample::vocabularies;

int program() {
    const IdMap map = IdMap::same_ids(2, 3);
    const auto draft = [](std::span<const Token>) { return std::vector<float>{.5f, .5f}; };
#ifdef FIXED
    auto model = mapped(draft, map, OwnIds(map, 1));
#else
    auto model = mapped(draft, map, 1);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace mapped_reads_a_number

// case: mapped_row_of_a_temporary_map
// A row that is pushed forward views the map's images, so the map must not be a temporary.
// expect: error: (use of|call to) deleted function
namespace mapped_row_of_a_temporary_map {

using namespace specsample;
using namespace specsample::vocabularies;

int program() {
    filters::ShapedMemory<float> memory;
    const std::vector<float> row{.5f, .5f};
#ifdef FIXED
    const IdMap map = IdMap::same_ids(2, 3);
    return static_cast<int>(push_forward(map, row, memory).size());
#else
    push_forward(IdMap::same_ids(2, 3), row, memory);
#endif
}

}  // namespace mapped_row_of_a_temporary_map

// case: mapped_token_model
// A draft that names its token has no row to map.
// expect: error: static assertion failed.*specsample::vocabularies::mapped: model must return rows, which have a number
// for every id
namespace mapped_token_model {

using namespace specsample;
using namespace specsample::vocabularies;

int program() {
    const IdMap map = IdMap::same_ids(2, 2);
#ifdef FIXED
    auto model = mapped([](std::span<const Token>) { return std::vector<float>{.5f, .5f}; }, map);
#else
    auto model = mapped([](std::span<const Token>) -> Token { return 0; }, map);
#endif
    return static_cast<int>(model(std::span<const Token>{}).size());
}

}  // namespace mapped_token_model

// case: reencoded_token_by_token
// Two tokenizers share a text, not tokens.
// expect: error: static assertion failed.*specsample::vocabularies::Reencoded: the second argument must be a callable
// expect: a callable of a whole text
namespace reencoded_token_by_token {

using namespace specsample;

int program() {
    const auto draft = [](std::span<const Token>) { return Eigen::VectorXf{{.5f, .5f}}; };
    const auto text = [](std::span<const Token> tokens) { return std::vector<Token>(tokens.begin(), tokens.end()); };
#ifdef FIXED
    vocabularies::Reencoded drafter(draft, text, text);
#else
    vocabularies::Reencoded drafter(draft, [](Token token) { return token; }, text);
#endif
    return static_cast<int>(drafter.depth());
}

}  // namespace reencoded_token_by_token

// case: mask_of_wider_words
// A mask in words of 64 bits.
// expect: error: static assertion failed.*specsample::vocabularies::reduce_mask: words must be
namespace mask_of_wider_words {

using namespace specsample;

int program() {
    const vocabularies::IdMap map(std::vector{1, 0}, 2);
#ifdef FIXED
    const std::vector<std::uint32_t> words{3};
#else
    const std::vector<std::uint64_t> words{3};
#endif
    std::vector<std::uint32_t> draft(1);
    vocabularies::reduce_mask(map, words, draft);
    return static_cast<int>(draft[0]);
}

}  // namespace mask_of_wider_words
