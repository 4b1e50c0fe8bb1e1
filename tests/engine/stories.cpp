// A llama2.c checkpoint from elsewhere, which is not part of this repository: SPECSAMPLE_STORIES_DIR says where it
// lies.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/model.hpp"
#include "engine/tokenizer.hpp"
#include "support/catch.hpp"

using namespace engine;

TEST_CASE("stories260K tells its story") {
    const char* variable = std::getenv("SPECSAMPLE_STORIES_DIR");
    const std::filesystem::path folder = variable ? variable : "";
    if (!std::filesystem::exists(folder / "stories260K.bin") || !std::filesystem::exists(folder / "tok512.bin")) {
        WARN("skipped: SPECSAMPLE_STORIES_DIR names no folder with stories260K.bin and tok512.bin");
        return;
    }
    Model model = Model::load(folder / "stories260K.bin");
    const Tokenizer tokenizer = Tokenizer::load(folder / "tok512.bin", model.vocab());
    CHECK(tokenizer.encode("Once upon a time") == std::vector<Token>{403, 407, 261, 378});

    std::vector<Token> tokens{tokenizer.begin()};
    std::string text;
    for (int i = 0; i < 60; ++i) {
        Token best = 0;
        model.score(tokens, 1).row(0).maxCoeff(&best);
        text += tokenizer.decode(tokens.back(), best);
        tokens.push_back(best);
    }
    const std::string story =
        "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw "
        "a big, red ball.";
    CHECK(text.substr(0, story.size()) == story);
}
