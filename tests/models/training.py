"""How examples/models/train_drafter.py computes; skipped where torch is missing."""

import pathlib
import sys
import tempfile
import unittest

MODELS = pathlib.Path(__file__).parents[2] / "examples" / "models"
sys.path.insert(0, str(MODELS))
try:
    import numpy
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from drafter.file import read_drafter, write_drafter
from drafter.four_bits import rounded
from drafter.head import MATRICES, Head
from drafter.loss import PLACES, Distance
from drafter.texts import Texts

CONFIG = {"dim": 64, "hidden": 96, "heads": 4, "kv_heads": 2, "vocab": 50, "context": 40, "rms_epsilon": 1e-5,
          "rope_theta": 1e4}


def random_head(seed):
    torch.manual_seed(seed)
    head = Head(CONFIG, torch.randn(50, 64), torch.randperm(50)[:20])
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, mean=float(parameter.dim() == 1), std=.2)
    return head


class Drafts(unittest.TestCase):
    def test_places_before_the_first_that_is_wanted_change_nothing(self):
        head = random_head(1)
        states, tokens = torch.randn(2, 15, 3 * 64), torch.randint(0, 50, (2, 15))
        with torch.no_grad():
            whole, part = head.drafts(states, tokens, 3), head.drafts(states, tokens, 3, 6)
        for j in range(3):
            self.assertEqual(part[j].shape, (2, 9, 64))
            torch.testing.assert_close(part[j][:, j:], whole[j][:, 6 + j:])

    def test_a_draft_is_what_steps_along_it_give(self):
        """Step 2 at position i continues step 1 at i - 1 by its g, and the middle layers are read in step 1 alone."""
        head = random_head(2)
        states, tokens = torch.randn(1, 9, 3 * 64), torch.randint(0, 50, (1, 9))
        changed = states.clone()
        changed[:, 6:] += 1  # not known where the draft begins
        with torch.no_grad():
            drafts, others = head.drafts(states, tokens, 3), head.drafts(changed, tokens, 3)
        for j, at in enumerate((5, 6, 7)):
            torch.testing.assert_close(drafts[j][:, at], others[j][:, at])
            self.assertGreater(float((drafts[j][:, at + 1] - others[j][:, at + 1]).abs().max()), 1e-3)


class Loss(unittest.TestCase):
    def test_value_and_gradient_are_those_of_the_definition(self):
        torch.manual_seed(3)
        n = PLACES + 44
        g, classifier = torch.randn(n, 16, requires_grad=True), torch.randn(50, 16)
        ids = torch.stack([torch.randperm(50)[:8] for _ in range(n)])
        weights = torch.rand(n, 8) ** 3
        weights = .9 * weights / weights.sum(-1, keepdim=True)
        for rejected in (0, 3):
            value = Distance.apply(g, classifier, ids, weights, rejected)
            gradient, = torch.autograd.grad(2 * value, g)
            q = (g @ classifier.t()).softmax(-1).gather(-1, ids)
            expected = (-(weights * q.log()).sum(-1) + rejected * (1 - torch.minimum(weights, q).sum(-1))).mean()
            torch.testing.assert_close(value, expected)
            torch.testing.assert_close(gradient, *torch.autograd.grad(2 * expected, g))


class File(unittest.TestCase):
    def test_a_drafter_that_was_written_is_read(self):
        head = random_head(4)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "drafter.spqd"
            write_drafter(head, path)
            ids, parts = read_drafter(path, CONFIG)
            with self.assertRaisesRegex(ValueError, "is for a target with dim 64, but this one has 32"):
                read_drafter(path, {**CONFIG, "dim": 32})
        self.assertTrue(torch.equal(ids, head.ids))
        self.assertEqual(set(parts), {name for name, _ in head.named_parameters()})
        for name, part in parts.items():
            own = getattr(head, name).detach()
            torch.testing.assert_close(part, rounded(own) if name in MATRICES else own)


class Batches(unittest.TestCase):
    def setUp(self):
        """Of the texts' tokens 7 occurs in the prompts; the ids after each are its successor and 7."""
        self.file = tempfile.NamedTemporaryFile()
        rng = numpy.random.default_rng(5)
        with open(self.file.name, "wb") as file:
            file.write(numpy.array([6, 2], "i4").tobytes())
            for n in rng.integers(12, 30, 100):
                tokens = numpy.arange(7, 7 + n)
                ids = numpy.stack([tokens + 1, numpy.full(n, 7)], 1)
                for part, kind in (([n, 4], "i4"), ([0], "f4"), (tokens, "i4"), (numpy.zeros((n, 6)), "f2"), (ids, "i4"),
                                   (numpy.log(numpy.full((n, 2), .5)), "f2")):
                    file.write(numpy.array(part, kind).tobytes())
        self.texts = Texts([self.file.name])

    def test_every_text_but_a_few_is_in_one_batch(self):
        batches = self.texts.batches(3)
        which = [i for batch in batches for i in batch]
        self.assertEqual(len(set(which)), len(which))
        self.assertGreater(len(which), 90)
        padding = [max(sizes) - min(sizes) for sizes in ([len(self.texts.texts[i][0]) for i in b] for b in batches)]
        self.assertLess(sum(padding) / len(padding), 6)  # 9 at random

    def test_frequencies_are_of_what_is_written_new_or_again(self):
        new, old = self.texts.frequencies(64)
        places = sum(len(text[0]) - 3 for text in self.texts.texts)
        self.assertAlmostEqual(float(new.sum()), places / 2, delta=1)
        self.assertAlmostEqual(float(old[7]), places / 2, delta=1)
        self.assertEqual(float(new[7] + new[10]), 0)  # 10 is the last of every prompt
        self.assertAlmostEqual(float(new[11]), 50, delta=1)


if __name__ == "__main__":
    unittest.main()
