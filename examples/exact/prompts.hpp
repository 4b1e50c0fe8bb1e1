// The prompts of the check: code and prose.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace exact {

inline constexpr std::array<std::string_view, 12> code_prompts = {
    "def add_all(numbers):\n    \"\"\"Return the sum of a list of numbers.\n    >>> add_all([1, 2, 3])\n    6\n    "
    "\"\"\"\n",
    "def is_prime(n: int) -> bool:\n    \"\"\"Is n a prime number?\"\"\"\n    if n < 2:\n        return False\n",
    "def fibonacci(n):\n    \"\"\"Return the first n Fibonacci numbers.\"\"\"\n",
    "def count_words(text: str) -> dict:\n    \"\"\"Map every word of a text to how often it occurs.\"\"\"\n",
    "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n",
    "def reverse_words(sentence):\n    \"\"\"Reverse the order of the words in a sentence.\"\"\"\n    words =",
    "#include <stdio.h>\n\n/* Print the numbers from 1 to 10. */\nint main(void) {\n",
    "def binary_search(values, wanted):\n    low, high = 0, len(values) - 1\n    while low <= high:\n",
    "SELECT name, COUNT(*) AS orders\nFROM customers\nJOIN",
    "function largest(numbers) {\n  // Return the largest number of an array.\n  let best =",
    "def celsius_to_fahrenheit(c):\n    return c * 9 / 5 + 32\n\ndef fahrenheit_to_celsius(f):\n",
    "def remove_duplicates(items):\n    \"\"\"Keep the first of equal items, in their order.\"\"\"\n    seen = set()\n",
};

inline constexpr std::array<std::string_view, 12> prose_prompts = {
    "The harbour was quiet that morning, and the fishermen",
    "Water boils at a lower temperature on a mountain because",
    "My grandmother kept a garden behind her house, where",
    "The history of the printing press begins",
    "Dear Sir or Madam,\n\nI am writing to complain about",
    "A good loaf of bread needs only four ingredients:",
    "Once upon a time, in a village at the edge of a forest, there lived",
    "The difference between weather and climate is",
    "Question: What is the capital of France?\nAnswer:",
    "Photosynthesis is the process by which",
    "The train left the station an hour late, so",
    "Three reasons to learn a musical instrument are",
};

/// The string after "prompt": in a line of JSON.
inline std::string prompt_of(const std::string& line) {
    const std::string key = "\"prompt\": \"";
    const auto begin = line.find(key);
    if (begin == std::string::npos) throw std::runtime_error("a line of the prompts has no \"prompt\"");
    std::string text;
    for (std::size_t i = begin + key.size(); i < line.size() && line[i] != '"'; ++i) {
        if (line[i] != '\\') {
            text += line[i];
        } else {
            const char next = line[++i];
            text += next == 'n' ? '\n' : next == 't' ? '\t' : next;
        }
    }
    return text;
}

/// The first 12 prompts of a file of JSON lines, or those above; then prose.
inline std::vector<std::string> all_prompts(const std::filesystem::path& file) {
    std::vector<std::string> prompts;
    if (file.empty()) {
        prompts.assign(code_prompts.begin(), code_prompts.end());
    } else {
        std::ifstream lines(file);
        std::string line;
        while (prompts.size() < code_prompts.size() && std::getline(lines, line)) prompts.push_back(prompt_of(line));
        if (prompts.empty()) throw std::runtime_error("there are no prompts in " + file.string());
    }
    prompts.insert(prompts.end(), prose_prompts.begin(), prose_prompts.end());
    return prompts;
}

}  // namespace exact
