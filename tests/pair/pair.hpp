// The pair of models of the examples, and some prompts.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model.hpp"
#include "engine/tokenizer.hpp"
#include "generate/language_model.hpp"

namespace pair {

using specsample::Index;
using specsample::Token;

inline const std::filesystem::path models = SPECSAMPLE_MODELS_DIR;

inline engine::Model target() {
    static const engine::Model model = engine::Model::load(models / "target_1.8M_int8.bin");
    return model;
}

inline engine::Model draft() {
    static const engine::Model model = engine::Model::load(models / "draft_230K_kd_int8.bin");
    return model;
}

inline std::vector<Token> encode(std::string_view text) {
    static const auto tokenizer = engine::Tokenizer::load(models / "bpe2048.merges.u16", target().vocab());
    std::vector<Token> tokens = tokenizer.encode(text);
    tokens.insert(tokens.begin(), tokenizer.begin());
    return tokens;
}

inline constexpr std::array<std::string_view, 24> prompts{
    "The old lighthouse had not been lit for years when",
    "She closed the letter, put it back in the drawer, and",
    "It was the coldest morning of the winter, and the horses",
    "\"You are late again,\" said the baker without looking up.",
    "Nobody in the village could remember who had built the bridge",
    "My dear sir, I write to you in some haste because",
    "When the train stopped for the third time, the passengers",
    "He had promised his mother that he would never",
    "In the garden behind the house there stood a tree which",
    "The captain counted the barrels twice and then",
    "After dinner they spoke of the war, of the price of corn, and",
    "What the doctor told her that evening she repeated to no one,",
    "def add(first, second):\n    return",
    "import os\n\nclass Reader:\n    def __init__(self, path):\n",
    "for i in range(10):\n    print(",
    "def test_empty_list():\n    assert",
    "# Count the words of a text and\n# return the most common ones.\ndef",
    "try:\n    value = int(text)\nexcept ValueError:\n",
    "class Point:\n    \"\"\"A point in the plane.\"\"\"\n",
    "if __name__ == \"__main__\":\n    ",
    "1, 2, 3, 4, 5,",
    "THE END OF THE FIRST CHAPTER\n\n",
    "\xc3\xa9t\xc3\xa9 \xe2\x80\x94 ",
    ""};

}  // namespace pair
