"""Whether a verification of drafts keeps the target's distribution, found by walking every outcome."""
import itertools
import random
from dataclasses import dataclass, field

from .walk import draw, exact_distribution


def total_variation(one, other):
    """Return half the sum of |one - other| over two distributions {outcome: probability}."""
    return sum(abs(one.get(x, 0) - other.get(x, 0)) for x in {*one, *other}) / 2


class ToyModel:
    """Rows that depend on the whole prefix, with an impossible token if the model is told so."""

    def __init__(self, vocab, seed, has_zeros):
        self.vocab, self.seed, self.has_zeros, self.rows = vocab, seed, has_zeros, {}

    def __call__(self, prefix):
        prefix = tuple(prefix)
        if prefix not in self.rows:
            generator = random.Random(f"{self.seed} {self.vocab} {prefix}")
            weights = [generator.random() ** 2 + 0.02 for _ in range(self.vocab)]
            if self.has_zeros:
                weights[generator.randrange(self.vocab)] = 0.0
            self.rows[prefix] = [weight / sum(weights) for weight in weights]
        return self.rows[prefix]

    def know(self, length):
        """Make the rows of all prefixes up to a length, before random numbers are walked."""
        for n in range(length + 1):
            for prefix in itertools.product(range(self.vocab), repeat=n):
                self(prefix)
        return self


@dataclass
class Case:
    """A draft model, a target model and a number of drafted tokens, with what the verification wrote."""
    vocab: int
    lookahead: int
    draft: ToyModel
    target: ToyModel
    distance: float     # total variation of lookahead + 1 tokens
    first_token: float  # of the first token alone
    found: dict
    expected: dict

    def __str__(self):
        def row(values):
            return "[" + ", ".join(f"{value:.4f}" for value in values) + "]"

        def first(distribution):
            return row(sum(p for text, p in distribution.items() if text[0] == token) for token in range(self.vocab))

        lines = [f"V = {self.vocab}, K = {self.lookahead}: total variation {self.distance:.4g} "
                 f"({self.first_token:.4g} of the first token)",
                 f"  draft rows after the prefix   {row(self.draft(()))}", f"  target's                      {row(self.target(()))}",
                 f"  first token, as written       {first(self.found)}", f"  as the target would           {first(self.expected)}"]
        worst = max({*self.found, *self.expected}, key=lambda x: abs(self.found.get(x, 0) - self.expected.get(x, 0)))
        lines.append(f"  tokens {worst}: {self.found.get(worst, 0):.4f} instead of {self.expected.get(worst, 0):.4f}")
        return "\n".join(lines)


@dataclass
class Report:
    tolerance: float
    cases: list = field(default_factory=list)

    @property
    def distance(self):
        """The largest total variation of a case."""
        return max(case.distance for case in self.cases)

    @property
    def is_lossless(self):
        return self.distance <= self.tolerance

    @property
    def shortest(self):
        """The first case that is off: of the smallest vocabulary, then of the fewest drafted tokens."""
        return next((case for case in self.cases if case.distance > self.tolerance), None)

    def __str__(self):
        if self.is_lossless:
            return f"lossless: total variation at most {self.distance:.2g} in {len(self.cases)} cases"
        off = sum(case.distance > self.tolerance for case in self.cases)
        return (f"not lossless: total variation up to {self.distance:.4g}, above {self.tolerance:g} in {off} of "
                f"{len(self.cases)} cases; the shortest:\n{self.shortest}")


def check_lossless(verify, *, drawn_from=None, vocab=(2, 3, 4), lookahead=(1, 2, 3), models=4, tolerance=1e-6):
    """Compare what a verification writes with the target's distribution, on toy models, exactly.

    verify(tokens, draft_rows, target_rows) gets K drafted tokens, the K rows that the draft model has for them, and the
    target's K + 1 rows, as lists; it returns the tokens that the round emits. What follows these up to K + 1 tokens is
    drawn from the target, so that the joint distribution must be the target's.

    drawn_from(row) returns the row that drafted tokens are drawn from; by default it is the row itself. Float32 inside
    of `verify` needs a tolerance of about 1e-6.
    """
    report = Report(tolerance)
    for v, k in itertools.product(vocab, lookahead):
        if v ** k > 64:
            continue
        for seed in range(models):
            draft = ToyModel(v, f"draft {seed}", seed % 2 == 1).know(k)
            target = ToyModel(v, f"target {seed}", seed // 2 % 2 == 1).know(k)
            report.cases.append(judge(verify, draft, target, k, drawn_from or (lambda row: row)))
    return report


def judge(verify, draft, target, k, drawn_from):
    def complete(text):
        while len(text) < k + 1:
            text.append(draw(target(text)))
        return tuple(text)

    def round_of():
        tokens, draft_rows = [], []
        for _ in range(k):
            draft_rows.append(draft(tokens))
            tokens.append(draw(drawn_from(draft_rows[-1])))
        target_rows = [target(tokens[:i]) for i in range(k + 1)]
        emitted = [int(token) for token in verify(list(tokens), [list(r) for r in draft_rows], [list(r) for r in target_rows])]
        if not 1 <= len(emitted) <= k + 1 or not all(0 <= token < target.vocab for token in emitted):
            raise ValueError(f"verify returned {emitted}, but must return 1 to {k + 1} token ids below {target.vocab}")
        return complete(emitted)

    def first(distribution):
        found = {}
        for text, p in distribution.items():
            found[text[0]] = found.get(text[0], 0) + p
        return found

    found, expected = exact_distribution(round_of), exact_distribution(lambda: complete([]))
    return Case(target.vocab, k, draft, target, total_variation(found, expected),
                total_variation(first(found), first(expected)), found, expected)
