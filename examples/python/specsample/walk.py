"""Every outcome of a function that draws random numbers, with its probability.

The function runs once per outcome. Meanwhile the walk answers its random draws: a draw among weights takes each index in
turn, and a uniform number stays undecided until it is compared, where each answer is taken with its probability. So the
result is exact up to rounding, and no seed matters.
"""
import math
import random
import sys
from contextlib import ExitStack
from unittest import mock


class NotWalkable(RuntimeError):
    """A use of a random number that the walk cannot follow: anything but comparing it, moved and scaled, with numbers."""


UNANSWERED = ("the function gives another outcome for the same answers to its random draws: it keeps a state, or draws from "
              "a generator that was made before the walk, such as numpy.random.default_rng() outside of the function")


class Walk:
    """One run of the function: what its draws gave so far, and which draws have answers left."""

    def __init__(self):
        self.script = []
        self.begin()

    def choose(self, weights):
        """Return an index, with a probability proportional to its weight."""
        weights = [float(weight) for weight in weights]
        total = sum(weights)
        if not 0 < total < math.inf or min(weights) < 0:
            raise ValueError(f"a draw among the weights {weights}: none may be negative, and their sum must be positive")
        possible = [i for i, weight in enumerate(weights) if weight > 0]
        if self.at == len(self.script):
            self.script.append((possible, 0))
        known, place = self.script[self.at]
        if known != possible:
            raise NotWalkable(UNANSWERED)
        self.at += 1
        index = possible[place]
        self.probability *= weights[index] / total
        return index

    def advance(self):
        """Go to the next outcome; return whether there is one."""
        while self.script:
            possible, place = self.script.pop()
            if place + 1 < len(possible):
                self.script.append((possible, place + 1))
                break
        self.begin()
        return bool(self.script)

    def begin(self):
        """Answer the draws of another run, as the script says."""
        self.at, self.probability = 0, 1.0


class Uniform:
    """scale u + shift, with u uniform on an interval that every comparison narrows."""

    __array_ufunc__ = None  # numpy leaves arithmetic to this class

    def __init__(self, walk, interval=None, scale=1.0, shift=0.0):
        self.walk, self.interval, self.scale, self.shift = walk, interval or [0.0, 1.0], scale, shift

    def is_below(self, bound):
        """Decide whether this number is below a bound."""
        bound = number_of(bound) - self.shift
        if math.isnan(bound) or self.scale == 0:
            return bound > 0
        at = bound / self.scale if self.scale > 0 else -bound / -self.scale
        low, high = self.interval
        if low < at < high:
            at_least = self.walk.choose([at - low, high - at])
            self.interval[1 - at_least] = at
        else:
            at_least = at <= low
        return bool(at_least) != (self.scale > 0)

    def is_above(self, bound):
        return not (math.isnan(number_of(bound)) or self.is_below(bound))

    __lt__ = __le__ = is_below  # the two differ with probability 0
    __gt__ = __ge__ = is_above

    def moved(self, scale, shift):
        return Uniform(self.walk, self.interval, self.scale * scale, self.shift * scale + shift)

    def __add__(self, other):
        return self.moved(1, number_of(other))

    def __sub__(self, other):
        return self.moved(1, -number_of(other))

    def __rsub__(self, other):
        return self.moved(-1, number_of(other))

    def __mul__(self, other):
        return self.moved(number_of(other), 0)

    def __truediv__(self, other):
        return self.moved(1 / number_of(other), 0)

    def __neg__(self):
        return self.moved(-1, 0)

    def not_walkable(self, *_):
        raise NotWalkable("a random number is used for more than comparisons with numbers: its outcomes cannot be walked")

    __radd__, __rmul__ = __add__, __mul__
    __float__ = __int__ = __bool__ = __index__ = __rtruediv__ = __pow__ = __abs__ = __eq__ = __ne__ = not_walkable
    __hash__ = None


def number_of(value):
    if isinstance(value, Uniform):
        value.not_walkable()
    return float(value)


def current():
    """Return the walk that is under way."""
    if not walks:
        raise RuntimeError("specsample.draw: there is no walk; call it in a function given to exact_distribution")
    return walks[-1]


walks = []


def draw(weights):
    """Draw an index with a probability proportional to its weight, inside of a walked function."""
    return current().choose(weights)


def exact_distribution(run, most=1_000_000):
    """Return {outcome: probability} of run(), whose random draws come from random, numpy.random or torch.

    Walked are draws among weights (choices, choice, multinomial), integers and booleans, and uniform numbers that are
    compared. Other draws raise NotWalkable, as do more outcomes than `most` and a function whose outcome depends on more
    than its draws, which is run twice for each of the first 100 outcomes.
    """
    distribution, walk = {}, Walk()
    walks.append(walk)
    try:
        with ExitStack() as stack:
            for patch in patches(walk):
                stack.enter_context(patch)
            for count in range(most):
                outcome = run()
                probability, draws = walk.probability, walk.at
                if count < 100:  # a draw that nobody answers is soon noticed
                    walk.begin()
                    if run() != outcome or walk.at != draws:
                        raise NotWalkable(UNANSWERED)
                distribution[outcome] = distribution.get(outcome, 0) + probability
                if not walk.advance():
                    return distribution
    finally:
        walks.pop()
    raise NotWalkable(f"there are more than {most} outcomes")


def patches(walk):
    """What stands in for the random draws of the modules that are loaded."""
    yield from patched(random, python_draws(walk))
    yield from patched(random.Random, {name: method(f) for name, f in python_draws(walk).items()})
    if "numpy" in sys.modules:
        from . import numpy_draws
        yield from patched(sys.modules["numpy"].random, numpy_draws.draws(walk))
    if "torch" in sys.modules:
        from . import torch_draws
        for owner, draws in torch_draws.draws(walk):
            yield from patched(owner, draws)


def patched(owner, functions):
    return [mock.patch.object(owner, name, function) for name, function in functions.items()]


def method(function):
    return lambda self, *args, **kwargs: function(*args, **kwargs)


def python_draws(walk):
    def choices(population, weights=None, *, cum_weights=None, k=1):
        if cum_weights is not None:
            weights = [b - a for a, b in zip([0, *cum_weights], cum_weights)]
        weights = [1] * len(population) if weights is None else weights
        return [population[walk.choose(weights)] for _ in range(k)]

    def randrange(start, stop=None, step=1):
        return choices(range(start) if stop is None else range(start, stop, step))[0]

    def unknown(*_, **__):
        raise NotWalkable("this draw of the module random cannot be walked")

    return {"random": lambda: Uniform(walk), "uniform": lambda a, b: Uniform(walk) * (b - a) + a, "choices": choices,
            "choice": lambda population: choices(population)[0], "randrange": randrange,
            "randint": lambda a, b: randrange(a, b + 1), "shuffle": unknown, "sample": unknown, "gauss": unknown,
            "expovariate": unknown}
