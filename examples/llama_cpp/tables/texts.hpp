// The prompts of the tables: prose, Python, and edits of the text just read. No prompt ends in blanks: models have
// tokens of blanks and what follows them.
#pragma once

#include <string_view>
#include <vector>

struct Kind {
    std::string_view name;
    std::vector<std::string_view> prompts;
};

inline const std::vector<Kind> kinds{
    {"prose",
     {"The ferry left the island only twice a week, and on the morning of the storm",
      "My grandmother kept a box of letters under her bed. When I was old enough to read, she",
      "There are three reasons why cities that were built on rivers grew faster than others. The first is that",
      "Alan Turing theorized that computers would one day become"}},
    {"code",
     {"def is_prime(n):\n    \"\"\"Return True if n is a prime number, and False otherwise.\"\"\"",
      "import csv\n\n\ndef read_prices(path):\n    \"\"\"Read a CSV file with the columns name and price, and return a "
      "dict of prices by name.\"\"\"",
      "class Queue:\n    \"\"\"A first-in, first-out queue with a maximum size.\"\"\"\n\n    def __init__(self, "
      "maximum):",
      "def merge_sorted(first, second):\n    \"\"\"Merge two sorted lists into one sorted list.\"\"\"\n    result = "
      "[]"}},
    {"editing",
     {"The settings:\nname = \"harbour\"\nport = 8080\nthreads = 4\ntimeout = 30\nlog_level = \"info\"\nlog_file = "
      "\"harbour.log\"\nretries = 3\ncache_size = 1024\n\nThe same settings with port 9090 and log level debug:\nname "
      "= "
      "\"harbour\"\nport = 9090",
      "Original:\n```python\ndef mean(values):\n    total = 0\n    for value in values:\n        total = total + "
      "value\n"
      "    return total / len(values)\n\n\ndef largest(values):\n    best = values[0]\n    for value in values:\n"
      "        if value > best:\n            best = value\n    return best\n```\n\nEdited, with `best` renamed to "
      "`top`:\n```python\ndef mean(values):\n    total = 0",
      "<p>The harbour office</p>\n<table>\n<tr><td>Monday</td><td>8 to 12</td></tr>\n<tr><td>Tuesday</td><td>8 to "
      "12</td></tr>\n<tr><td>Wednesday</td><td>closed</td></tr>\n<tr><td>Thursday</td><td>8 to 18</td></tr>\n"
      "<tr><td>Friday</td><td>8 to 12</td></tr>\n</table>\n\nThe same with Monday closed:\n\n<p>The harbour "
      "office</p>\n<table>\n<tr><td>Monday</td><td>closed</td></tr>",
      "Original:\n```python\nclass Account:\n    def __init__(self, owner, balance):\n        self.owner = owner\n"
      "        self.balance = balance\n\n    def deposit(self, amount):\n        self.balance += amount\n\n    def "
      "withdraw(self, amount):\n        self.balance -= amount\n```\n\nEdited, with a check in `withdraw`:\n```python\n"
      "class Account:\n    def __init__(self, owner, balance):"}}};
