"""The random draws of torch that a walk answers. Uniform numbers are tensors of a class that knows how to compare itself."""
import torch

from .walk import NotWalkable, Uniform

OPERATORS = {"add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__", "true_divide": "__truediv__",
             "rsub": "__rsub__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__", "less": "__lt__",
             "less_equal": "__le__", "greater": "__gt__", "greater_equal": "__ge__", "neg": "__neg__"}
SWAPPED = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__", "__sub__": "__rsub__",
           "__rsub__": "__sub__", "__add__": "__radd__", "__radd__": "__add__", "__mul__": "__rmul__",
           "__rmul__": "__mul__", "__truediv__": "__rtruediv__", "__neg__": "__neg__"}
SHAPES = {"__getitem__", "squeeze", "unsqueeze", "view", "reshape", "flatten", "expand", "to", "float", "double", "cpu",
          "clone", "detach", "contiguous", "transpose", "permute", "index_select", "select", "narrow", "gather"}


class Uniforms(torch.Tensor):
    """Undecided uniform numbers: the tensor has their places in `numbers`, so that views and indices need no code."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name, kwargs = function.__name__, kwargs or {}
        plain = [a.as_subclass(torch.Tensor) if isinstance(a, Uniforms) else a for a in args]
        own = next(a for a in args if isinstance(a, Uniforms))
        with torch._C.DisableTorchFunctionSubclass():
            if name in SHAPES:
                kept = {k: v for k, v in kwargs.items() if k != "dtype"}
                places = [a for a in plain[1:] if not isinstance(a, torch.dtype)]
                return own.like(getattr(torch.Tensor, name)(plain[0], *places, **kept))
            if name in ("size", "dim", "__len__", "__get__", "numel") and own is args[0]:
                return function(*plain, **kwargs)
            if len(args) > 2 or kwargs:
                raise NotWalkable(f"torch.{name} of random numbers, with these arguments, cannot be walked")
            operator = OPERATORS.get(name, name)
            if operator in SWAPPED:
                return own.each(operator, args, plain)
        raise NotWalkable(f"torch.{name} of random numbers cannot be walked: they may be compared, moved and scaled")

    def like(self, places):
        made = places.as_subclass(Uniforms)
        made.numbers = self.numbers
        return made

    def each(self, operator, args, plain):
        """Apply an operator to every number and what the other argument has at its place."""
        sides = torch.broadcast_tensors(*[torch.as_tensor(a, dtype=a.dtype if isinstance(a, torch.Tensor) else torch.float64)
                                          for a in plain])
        is_number = [isinstance(a, Uniforms) for a in args]
        if sum(is_number) > 1:
            raise NotWalkable("random numbers are compared with random numbers, which cannot be walked")
        if not is_number[0]:
            operator = SWAPPED[operator]
        found = []
        for values in zip(*[side.reshape(-1).tolist() for side in sides]):
            number = self.numbers[int(values[is_number.index(True)])]
            found.append(getattr(number, operator)(*[v for v, own in zip(values, is_number) if not own]))
        if operator in ("__lt__", "__le__", "__gt__", "__ge__"):
            return torch.tensor(found, dtype=torch.bool).reshape(sides[0].shape)
        return uniforms(found, sides[0].shape)


def uniforms(numbers, shape):
    made = torch.arange(len(numbers), dtype=torch.float64).reshape(shape).as_subclass(Uniforms)
    made.numbers = numbers
    return made


def draws(walk):
    def rand(*size, **kwargs):
        shape = torch.Size(size[0] if len(size) == 1 and not isinstance(size[0], int) else size or kwargs["size"])
        return uniforms([Uniform(walk) for _ in range(shape.numel())], shape)

    def multinomial(weights, num_samples=1, replacement=False, **_):
        rows = weights.reshape(-1, weights.shape[-1]).tolist()
        if num_samples > 1 and not replacement:
            unknown()
        drawn = [[walk.choose(row) for _ in range(num_samples)] for row in rows]
        return torch.tensor(drawn).reshape(*weights.shape[:-1], num_samples)

    def bernoulli(chances, **_):
        drawn = [1 - walk.choose([p, 1 - p]) for p in chances.reshape(-1).tolist()]
        return torch.tensor(drawn, dtype=chances.dtype).reshape(chances.shape)

    def unknown(*_, **__):
        raise NotWalkable("this draw of torch cannot be walked")

    module = {"rand": rand, "rand_like": lambda like, **_: rand(*like.shape) if like.shape else rand(()),
              "multinomial": multinomial, "bernoulli": bernoulli, "randn": unknown, "randint": unknown, "randperm": unknown}
    methods = {"multinomial": multinomial, "bernoulli": bernoulli, "exponential_": unknown, "uniform_": unknown}
    return [(torch, module), (torch.Tensor, methods)]
