"""The texts that write_texts stored, as tensors."""
import numpy


def read_texts(path):
    """Yields (tokens, prompt length, temperature, states, ids, log-probabilities) of each text; the states of a token are
    its residual stream after a third and two thirds of the layers (each of mean square 1), and the classifier's input."""
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
        """How much probability every id has where the model writes and the id was not in the text before, and where it was."""
        new, old = numpy.zeros(vocab), numpy.zeros(vocab)
        for tokens, prompt, _, _, ids, logs in self.texts:
            first = numpy.full(vocab, len(tokens))
            first[tokens[::-1]] = numpy.arange(len(tokens))[::-1]
            written = slice(max(prompt - 1, 0), None)
            ids, weights = ids[written], numpy.exp(logs[written].astype(numpy.float32))
            is_new = first[ids] > numpy.arange(len(tokens))[written, None]
            numpy.add.at(new, ids[is_new], weights[is_new])
            numpy.add.at(old, ids[~is_new], weights[~is_new])
        return self.torch.from_numpy(new), self.torch.from_numpy(old)

    def batches(self, size):
        """Lists of `size` texts, all texts but a few once, in a random order. Texts of a batch are about as long, and so
        are their prompts: little is computed for padding and for places that are not drafted."""
        torch = self.torch
        order, result = torch.randperm(len(self.texts)).tolist(), []
        for begin in range(0, len(order), 16 * size):
            group = sorted(order[begin:begin + 16 * size], key=lambda i: len(self.texts[i][0]))
            for first in range(0, len(group), 4 * size):
                part = sorted(group[first:first + 4 * size], key=lambda i: self.texts[i][1])
                result += [part[i:i + size] for i in range(0, len(part) - size + 1, size)]
        return [result[i] for i in torch.randperm(len(result)).tolist()]

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
