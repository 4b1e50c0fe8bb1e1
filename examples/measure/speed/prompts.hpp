// The prompts of the measurement: code to go on with, chats, and edits of given code or text.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer.hpp"
#include "exact/prompts.hpp"

namespace speed {

inline constexpr std::array<std::string_view, 12> chats = {
    "Write a short story about a lighthouse keeper who finds a letter in a bottle.",
    "Explain in a few paragraphs why the sky is blue.",
    "What are the main differences between a crocodile and an alligator?",
    "Write a polite email to my landlord about a broken heater.",
    "Give me five ideas for the birthday of a ten-year-old.",
    "How do I bake a simple loaf of bread at home?",
    "Describe how rain forms in plain language.",
    "Write a poem about autumn leaves in four short verses.",
    "What should I pack for a week of hiking in the mountains?",
    "Tell me about the life of Marie Curie.",
    "How does a refrigerator keep food cold?",
    "Write a Python function that checks whether a word is a palindrome, and explain it.",
};

inline constexpr std::array<std::string_view, 8> edits = {
    "Rewrite this function with type hints, and change nothing else:\n\n```python\ndef average(values):\n    total = "
    "0\n"
    "    for value in values:\n        total += value\n    if not values:\n        return 0.0\n    return total / "
    "len(values)\n```",
    "Rename the variable `x` to `price` in this code:\n\n```python\ndef discount(x, percent):\n    if percent < 0 or "
    "percent > 100:\n        raise ValueError('percent')\n    x = x - x * percent / 100\n    return round(x, 2)\n\n\n"
    "print(discount(100, 15))\nprint(discount(59.9, 20))\n```",
    "Correct the spelling mistakes in this text:\n\nThe wether was beautifull yesterday, so we desided to go to the "
    "beach. "
    "We swam in the see for an hour and than had lunch under a big umbrela. In the evning we walked along the shore "
    "and "
    "watched the sunset togather.",
    "Rewrite this text in the past tense:\n\nAnna wakes up early and makes a cup of coffee. She opens the window and "
    "listens to the birds. Then she sits down at her desk, opens her notebook and writes a letter to her sister. When "
    "she is done, she puts on her coat and walks to the post office.",
    "Add a docstring to this class:\n\n```python\nclass Counter:\n    def __init__(self):\n        self.count = 0\n\n  "
    "  "
    "def increment(self):\n        self.count += 1\n\n    def decrement(self):\n        self.count -= 1\n\n    def "
    "reset(self):\n        self.count = 0\n```",
    "Repeat this recipe, but for four people instead of two:\n\nIngredients: 200 g of pasta, 2 tomatoes, 1 onion, 2 "
    "cloves of garlic, 2 spoons of olive oil. Boil the pasta for ten minutes. Chop the tomatoes, the onion and the "
    "garlic, and fry them in the oil. Mix everything and serve hot.",
    "Make this paragraph a little more formal:\n\nHey everyone, just a quick note to say that the meeting on Monday is "
    "moved to Tuesday at ten. Please bring your notes from last week, and tell me if you can't make it. We'll talk "
    "about "
    "the new schedule and the budget for the next month.",
    "Change this function so that it returns None for an empty list:\n\n```python\ndef largest(numbers):\n    best = "
    "numbers[0]\n    for number in numbers[1:]:\n        if number > best:\n            best = number\n    return "
    "best\n```",
};

struct Prompt {
    std::string_view group;
    std::vector<engine::Token> tokens;
};

/// @param file   JSON lines with a "prompt" each, as HumanEval has them, in place of the code here; or empty
inline std::vector<Prompt> prompts(const engine::Tokenizer& tokenizer, const std::filesystem::path& file) {
    std::vector<Prompt> result;
    const auto all = exact::all_prompts(file);  // code, then prose, which is left out
    for (std::size_t i = 0; i < all.size() - exact::prose_prompts.size(); ++i)
        result.push_back({"code", tokenizer.with_begin(tokenizer.encode(all[i]))});
    const auto chat = [&](std::string_view message) {
        if (auto tokens = tokenizer.chat(message)) return *tokens;
        return tokenizer.with_begin(tokenizer.encode(message));
    };
    for (const auto message : chats) result.push_back({"chat", chat(message)});
    for (const auto message : edits) result.push_back({"edit", chat(message)});
    return result;
}

}  // namespace speed
