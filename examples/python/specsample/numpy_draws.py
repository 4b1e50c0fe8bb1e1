"""The random draws of numpy that a walk answers. Uniform numbers are arrays of objects, which compare element by element."""
import numpy

from .walk import NotWalkable, Uniform


def draws(walk):
    def filled(make, size):
        if size is None or size == ():
            return make()
        array = numpy.empty(size, dtype=object)
        for at in numpy.ndindex(array.shape):
            array[at] = make()
        return array

    def uniform(low=0.0, high=1.0, size=None):
        return filled(lambda: Uniform(walk) * (high - low) + low, size)

    def choice(a, size=None, replace=True, p=None):
        options = numpy.arange(a) if numpy.ndim(a) == 0 else numpy.asarray(a)
        if not replace and size is not None:
            unknown()
        drawn = filled(lambda: options[walk.choose(numpy.ones(len(options)) if p is None else p)], size)
        return drawn.astype(options.dtype) if isinstance(drawn, numpy.ndarray) else drawn

    def integers(low, high=None, size=None, dtype=None, endpoint=False):
        low, high = (0, low) if high is None else (low, high)
        return choice(numpy.arange(low, high + endpoint), size)

    def unknown(*_, **__):
        raise NotWalkable("this draw of numpy.random cannot be walked")

    known = {"random": lambda size=None: uniform(size=size), "uniform": uniform, "choice": choice}

    class Generator:
        def __getattr__(self, name):
            return {**known, "integers": integers}.get(name, unknown)

    return {**known, "random_sample": known["random"], "rand": lambda *size: uniform(size=size), "randint": integers,
            "multinomial": unknown, "exponential": unknown, "gumbel": unknown, "permutation": unknown,
            "default_rng": lambda *_: Generator()}
