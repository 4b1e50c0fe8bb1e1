"""The checker of examples/python: what it walks, and that it knows a lossless verification from a biased one."""
import contextlib
import io
import math
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples" / "python"))
try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

from specsample import NotWalkable, check_lossless, draw, exact_distribution, total_variation


def choose(weights):
    return random.choices(range(len(weights)), weights)[0]


def verification(accepts, residual):
    """Token verification with an acceptance test and a residual of one's own."""
    def verify(tokens, draft_rows, target_rows):
        emitted = []
        for x, q, p in zip(tokens, draft_rows, target_rows):
            if not accepts(p[x], q[x]):
                left = residual(p, q)
                return emitted + [choose(left if sum(left) > 0 else p)]
            emitted.append(x)
        return emitted + [choose(target_rows[-1])]
    return verify


def left_over(p, q):
    return [max(0, a - b) for a, b in zip(p, q)]


class Walks(unittest.TestCase):
    def expect(self, run, expected):
        found = exact_distribution(run)
        self.assertEqual(found.keys(), expected.keys())
        for outcome, probability in expected.items():
            self.assertAlmostEqual(found[outcome], probability, delta=1e-15)

    def test_uniform_numbers_are_decided_when_they_are_compared(self):
        self.expect(lambda: random.random() < .3, {True: .3, False: .7})
        self.expect(lambda: .3 > random.random(), {True: .3, False: .7})
        self.expect(lambda: random.random() >= .3, {True: .7, False: .3})
        self.expect(lambda: random.random() < 1.5, {True: 1})
        self.expect(lambda: random.random() > 1.5, {False: 1})
        self.expect(lambda: 2 * random.random() + 1 < 1.5, {True: .25, False: .75})
        self.expect(lambda: 1 - random.random() < .3, {True: .3, False: .7})
        self.expect(lambda: -random.random() / 2 > -.1, {True: .2, False: .8})
        self.expect(lambda: 0 * random.random() < .1, {True: 1})
        self.expect(lambda: random.uniform(2, 4) < 2.5, {True: .25, False: .75})

    def test_a_number_keeps_what_comparisons_said_of_it(self):
        def thirds():
            u = random.random()
            return "low" if u < 1 / 3 else "middle" if u < 2 / 3 else "high"

        self.expect(thirds, {"low": 1 / 3, "middle": 1 / 3, "high": 1 / 3})

        def twice():
            u = random.random()
            return u < .5, 1 - u > .75, u < .5

        self.expect(twice, {(True, True, True): .25, (True, False, True): .25, (False, False, False): .5})

    def test_no_comparison_with_nan_holds(self):
        for compare in (lambda u: u < math.nan, lambda u: u >= math.nan, lambda u: u > math.nan, lambda u: u <= math.nan):
            self.expect(lambda: compare(random.random()), {False: 1})

    def test_draws_take_every_index_that_has_a_weight(self):
        self.expect(lambda: draw([1, 0, 3]), {0: .25, 2: .75})
        self.expect(lambda: random.choices("ab", cum_weights=[1, 4])[0], {"a": .25, "b": .75})
        self.expect(lambda: random.randint(1, 2) + random.choice([0, 10]), {1: .25, 2: .25, 11: .25, 12: .25})
        self.expect(lambda: random.Random(7).randrange(2), {0: .5, 1: .5})
        self.expect(lambda: 5, {5: 1})

    def test_what_cannot_be_walked_is_refused(self):
        for use in (math.log, float, bool, lambda u: u == .5, lambda u: 1 / u, lambda u: u < random.random()):
            with self.assertRaises(NotWalkable):
                exact_distribution(lambda: use(random.random()))
        with self.assertRaises(NotWalkable):
            exact_distribution(lambda: random.gauss(0, 1))
        with self.assertRaisesRegex(NotWalkable, "more than 100 outcomes"):
            exact_distribution(lambda: [draw([1, 1]) for _ in range(20)][0], most=100)
        with self.assertRaisesRegex(ValueError, "none may be negative, and their sum must be positive"):
            exact_distribution(lambda: draw([0, 0]))
        with self.assertRaisesRegex(RuntimeError, "there is no walk"):
            draw([1])

    def test_a_function_that_depends_on_more_than_its_draws_is_refused(self):
        before = random.Random(3)
        hidden = before.getrandbits  # of the generator itself, which no walk answers
        count = iter(range(1000))
        for run in (lambda: hidden(1), lambda: next(count), lambda: draw([1] * (1 + next(count) % 2))):
            with self.assertRaisesRegex(NotWalkable, "gives another outcome for the same answers"):
                exact_distribution(lambda: (draw([1, 1, 1, 1]), draw([1, 1, 1, 1]), run()))

    def test_random_is_itself_again_after_a_walk(self):
        before = random.random, random.choices
        with self.assertRaises(ZeroDivisionError):
            exact_distribution(lambda: 1 / 0)
        self.assertEqual((random.random, random.choices), before)
        self.assertIsInstance(random.random(), float)
        self.assertIsInstance(random.Random(3).random(), float)

    @unittest.skipUnless(numpy, "numpy is missing")
    def test_numpy(self):
        self.expect(lambda: tuple(map(bool, numpy.random.random(2) < numpy.array([.5, .25]))),
                    {(True, True): .125, (True, False): .375, (False, True): .125, (False, False): .375})
        self.expect(lambda: bool(numpy.random.default_rng(3).random() < numpy.float64(.25)), {True: .25, False: .75})
        self.expect(lambda: bool(numpy.float64(.25) > numpy.float64(2) * numpy.random.rand()), {True: .125, False: .875})
        self.expect(lambda: int(numpy.random.choice(3, p=[.5, 0, .5])), {0: .5, 2: .5})
        self.expect(lambda: int(numpy.random.default_rng().integers(2)), {0: .5, 1: .5})
        self.expect(lambda: int(numpy.random.default_rng().integers(1, 2, endpoint=True)), {1: .5, 2: .5})
        made_before = numpy.random.default_rng(1)
        with self.assertRaisesRegex(NotWalkable, "a generator that was made before the walk"):
            exact_distribution(lambda: (draw([1] * 8), made_before.random() < .5))
        with self.assertRaises(NotWalkable):
            exact_distribution(lambda: numpy.random.default_rng().exponential())

    @unittest.skipUnless(torch, "torch is missing")
    def test_torch(self):
        bounds = torch.tensor([[.5, .25]])
        four = {(True, True): .125, (True, False): .375, (False, True): .125, (False, False): .375}
        self.expect(lambda: tuple((torch.rand_like(bounds) <= bounds)[0].tolist()), four)
        self.expect(lambda: tuple((bounds > torch.rand(1, 2)).flatten().tolist()), four)
        self.expect(lambda: tuple((2 * torch.rand(2, dtype=torch.float32) < 2 * bounds[0]).tolist()), four)
        self.expect(lambda: tuple((1 - torch.rand(2)).unsqueeze(0).ge(1 - bounds)[0].tolist()), four)
        self.expect(lambda: bool(torch.rand(3)[1] < .25), {True: .25, False: .75})
        self.expect(lambda: tuple((torch.rand(0) < .25).shape), {(0,): 1})
        self.expect(lambda: bool((-torch.rand(1) / 2 > -.1)[0]), {True: .2, False: .8})
        self.expect(lambda: bool(torch.rand(2, 2)[0].reshape(2, 1)[1, 0] < .25), {True: .25, False: .75})
        self.expect(lambda: torch.multinomial(torch.tensor([[1., 0., 3.]]), 1).item(), {0: .25, 2: .75})
        self.expect(lambda: torch.tensor([1., 1.]).multinomial(1).item(), {0: .5, 1: .5})
        self.expect(lambda: torch.bernoulli(torch.tensor([.25])).item(), {1: .25, 0: .75})
        for use in (torch.log, torch.sort, lambda u: u < torch.rand(2), lambda u: u.cumsum(0)):
            with self.assertRaises(NotWalkable):
                exact_distribution(lambda: use(torch.rand(2)))
        with self.assertRaises(NotWalkable):
            exact_distribution(lambda: torch.empty(2).exponential_())


class Checks(unittest.TestCase):
    def test_token_verification_is_lossless(self):
        for accepts in (lambda p, q: random.random() < p / q, lambda p, q: random.random() * q < p,
                        lambda p, q: p / q > random.random()):
            report = check_lossless(verification(accepts, left_over), tolerance=1e-14)
            self.assertTrue(report.is_lossless)
            self.assertIsNone(report.shortest)
            self.assertIn("lossless: total variation at most", str(report))

    def test_tokens_of_the_target_alone_are_lossless(self):
        self.assertTrue(check_lossless(lambda tokens, q, p: [choose(p[0])]).is_lossless)

    def test_the_distance_of_a_biased_verification_is_the_one_that_follows_from_its_rule(self):
        # After a rejection drawn from p: q min(1, p / q) + (1 - A) p instead of p.
        report = check_lossless(verification(lambda p, q: random.random() < p / q, lambda p, q: p))
        self.assertFalse(report.is_lossless)
        for case in report.cases:
            p, q = case.target(()), case.draft(())
            accepted = sum(map(min, p, q))
            first = sum(abs(min(a, b) + (1 - accepted) * a - a) for a, b in zip(p, q)) / 2
            self.assertAlmostEqual(case.first_token, first, delta=1e-14)
            self.assertGreaterEqual(case.distance, case.first_token - 1e-14)
        self.assertEqual((report.shortest.vocab, report.shortest.lookahead), (2, 1))
        self.assertRegex(str(report), r"not lossless: total variation up to 0\.\d+.*\n.*V = 2, K = 1")

    def test_a_row_that_tokens_were_not_drawn_from_is_found(self):
        exact = verification(lambda p, q: random.random() < p / q, left_over)
        self.assertFalse(check_lossless(exact, drawn_from=lambda row: [float(x == max(row)) for x in row]).is_lossless)

    def test_a_bonus_token_of_the_wrong_row_is_seen_beyond_the_first_token(self):
        def verify(tokens, q, p):
            return verification(lambda a, b: random.random() < a / b, left_over)(tokens, q, [*p[:-1], p[0]])

        report = check_lossless(verify)
        self.assertFalse(report.is_lossless)
        self.assertTrue(all(case.first_token < 1e-14 for case in report.cases))

    def test_what_is_no_round_is_refused(self):
        for emitted in ([], [0] * 5, [9], [-1]):
            with self.assertRaisesRegex(ValueError, "must return 1 to 2 token ids below 2"):
                check_lossless(lambda tokens, q, p: emitted)

    def test_the_page_shows_what_its_program_prints(self):
        page = (pathlib.Path(__file__).parents[2] / "examples" / "python" / "README.md").read_text()
        program, printed = re.findall(r"```(?:python)?\n(.*?)```", page, re.S)[:2]
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(program, {})
        self.assertEqual(output.getvalue(), printed)

    def test_total_variation(self):
        self.assertEqual(total_variation({"a": .5, "b": .5}, {"a": .5, "c": .5}), .5)


unittest.main()
