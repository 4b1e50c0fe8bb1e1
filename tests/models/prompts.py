"""What a drafter's training texts begin with (drafter/prompts.py): needs nothing but Python."""
import pathlib
import re
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES / "models"))
from drafter.prompts import MESSAGES, WORDS, Requests, Texts  # noqa: E402

CODE = '''import os


def half(number: int) -> float:
    """Half of a number.
    >>> half(3)
    1.5
    """
    return number / 2 if number else 0.0 * 1.0 + 0.0 * 2.0  # long enough to be a piece


def undocumented(number):
    return number * 2 + number * 3 + number * 4 + number * 5 + number * 6 + number * 7
'''
PROSE = "A paragraph that is long enough to be taken for one, because it goes on and on for more than eighty letters."


def texts():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.py", CODE), ("b.txt", PROSE + "\n\nshort"), ("c.dat", "no text")):
            (pathlib.Path(folder) / name).write_text(text)
        return Texts([folder])


class Prompts(unittest.TestCase):
    def test_pieces(self):
        found = texts()
        self.assertEqual(found.prose, [PROSE])
        self.assertEqual(len(found.code), 2)
        (prompt, what), = found.functions
        self.assertEqual(prompt, CODE[CODE.index("def half"):CODE.index("    return number / 2")])
        self.assertEqual(what, "Half of a number")

    def test_answers_join_the_pieces(self):
        found = texts()
        block = CODE[CODE.index("def half"):CODE.index("def undocumented")]
        found.add_answer(f"{PROSE} One.\n\n```python\n{block}```\n{PROSE} Two.\n\n```\nno Python\n```\n```python\ndef cut(")
        self.assertEqual([p.strip() for p in found.prose], [PROSE, PROSE + " One.", PROSE + " Two."])
        self.assertEqual(len(found.code), 3)
        self.assertEqual(len(found.functions), 2)
        found.add_answer("```python\nnot Python at all\n```")
        self.assertEqual(len(found.code), 3)

    def test_messages_are_filled_in(self):
        names = {name for message in MESSAGES for name in re.findall(r"{(\w+)}", message)}
        self.assertEqual(names, set(WORDS))
        measured = (EXAMPLES / "measure" / "speed" / "prompts.hpp").read_text()
        seen = []
        requests = Requests(texts(), lambda text: seen.append(text) or [1] * len(text.split()), ("<", ">"), "seed")
        kinds = [requests.line().split(" ; ") for _ in range(500)]
        self.assertFalse([text for text in seen if re.search(r"{\w+}", text)])
        self.assertFalse([text for text in seen if len(text) > 2 and text.strip("<>") in measured])
        self.assertTrue(all(float(temperature) >= 0 for temperature, *_ in kinds))
        self.assertEqual({len(parts) for parts in kinds}, {2, 3})  # with and without an invented message
        self.assertGreater(sum(parts[0] == "0" for parts in kinds), 200)
        self.assertFalse([part for _, *parts in kinds for part in parts if not 1 <= len(part.split()) <= 240])

    def test_a_seed_gives_the_same_requests(self):
        def lines(seed):
            requests = Requests(texts(), lambda text: list(text.encode()), ("<", ">"), seed)
            return [requests.line() for _ in range(20)]
        self.assertEqual(lines("1/0"), lines("1/0"))
        self.assertNotEqual(lines("1/0"), lines("1/1"))


if __name__ == "__main__":
    unittest.main()
