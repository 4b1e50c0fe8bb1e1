"""The texts that write_texts stored, as tensors."""
import numpy


def read_texts(path):
    """Yields (tokens, prompt length, temperature, states, ids, log-probabilities) of each text."""
    data = numpy.memmap(path, numpy.uint8, "r")
    dim, top = data[:8].view(numpy.int32)
    at = 8

    def take(kind, *shape):
        nonlocal at
        size = int(numpy.prod(shape)) * numpy.dtype(kind).itemsize
        at += size
        return data[at - size:at].view(kind).reshape(shape)

    while at < len(data):
        count, prompt = (int(x) for x in take(numpy.int32, 2))
        temperature = float(take(numpy.float32, 1)[0])
        yield (take(numpy.int32, count), prompt, temperature, take(numpy.float16, count, dim),
               take(numpy.int32, count, top), take(numpy.float16, count, top))


class Texts:
    """All texts of some files, in memory. `mask` is true where a token of the model's own is drafted: neither in the prompt
    nor in the padding of a batch. `tokens` counts these."""

    def __init__(self, paths):
        import torch

        self.torch = torch
        self.texts = [text for path in paths for text in read_texts(path) if len(text[0]) > 8]
        if not self.texts:
            raise SystemExit("there are no texts to train on")
        self.tokens = sum(len(tokens) - prompt + 1 for tokens, prompt, *_ in self.texts)

    def frequencies(self, vocab):
        """How much probability every id has in all places."""
        torch = self.torch
        mass = torch.zeros(vocab, dtype=torch.float64)
        for tokens, _, _, _, ids, logs in self.texts:
            mass.index_add_(0, torch.from_numpy(ids.reshape(-1).astype(numpy.int64)),
                            torch.from_numpy(logs.reshape(-1).astype(numpy.float64)).exp())
            mass.index_add_(0, torch.from_numpy(tokens.astype(numpy.int64)),
                            torch.full((len(tokens),), 1e-3, dtype=torch.float64))
        return mass

    def batch(self, which):
        torch = self.torch
        texts = [self.texts[i] for i in which]
        length, dim, top = max(len(t[0]) for t in texts), texts[0][3].shape[1], texts[0][4].shape[1]
        tokens = torch.zeros(len(texts), length, dtype=torch.long)
        states = torch.zeros(len(texts), length, dim)
        ids = torch.zeros(len(texts), length, top, dtype=torch.long)
        weights = torch.zeros(len(texts), length, top)
        mask = torch.zeros(len(texts), length, dtype=torch.bool)
        for i, (t, prompt, _, s, j, w) in enumerate(texts):
            n = len(t)
            tokens[i, :n] = torch.from_numpy(t.astype(numpy.int64))
            states[i, :n] = torch.from_numpy(s.astype(numpy.float32))
            ids[i, :n] = torch.from_numpy(j.astype(numpy.int64))
            weights[i, :n] = torch.from_numpy(w.astype(numpy.float32)).exp()
            mask[i, max(prompt - 1, 0) : n] = True
        return tokens, states, ids, weights, mask
