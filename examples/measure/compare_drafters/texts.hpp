// The texts of compare_drafters: prose, Python, and recorded edits.
#pragma once

#include <string_view>
#include <vector>

struct Texts {
    std::string_view name;
    std::vector<std::string_view> prompts;
};

inline const std::vector<Texts> written{
    {"prose",
     {"The old lighthouse had not been lit for years when", "She closed the letter, put it back in the drawer, and",
      "Nobody in the village remembered who had built the bridge, but"}},
    {"Python",
     {"def add(first, second):\n    return", "for i in range(10):\n    print(",
      "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"}}};

/// A recorded edit: the text before and after it.
struct Edit {
    std::string_view before, after;
};

inline const std::vector<Edit> recorded{
    {"def mean(values):\n    total = 0\n    for value in values:\n        total = total + value\n    return total / "
     "len(values)\n\ndef largest(values):\n    best = values[0]\n    for value in values:\n        if value > best:\n  "
     "  "
     "        best = value\n    return best\n",
     "def mean(values):\n    total = 0\n    for value in values:\n        total += value\n    return total / "
     "len(values)\n\ndef largest(values):\n    best = values[0]\n    for value in values[1:]:\n        if value > "
     "best:\n            best = value\n    return best\n"},
    {"The committee will meet on Monday at ten. Members who cannot attend should tell the secretary by Friday. The "
     "minutes of the last meeting are attached, and the budget will be discussed first.\n",
     "The committee will meet on Tuesday at ten. Members who cannot attend should tell the secretary by Friday noon. "
     "The minutes of the last meeting are attached, and the budget will be discussed first.\n"},
    {"import sys\n\ndef main():\n    name = sys.argv[1]\n    with open(name) as file:\n        for line in file:\n     "
     "   "
     "    print(line.strip())\n\nmain()\n",
     "import sys\n\ndef main():\n    path = sys.argv[1]\n    with open(path) as file:\n        for line in file:\n     "
     "   "
     "    print(line.rstrip())\n\nif __name__ == '__main__':\n    main()\n"}};
