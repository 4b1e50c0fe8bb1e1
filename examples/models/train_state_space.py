#!/usr/bin/env python3
"""Train the state-space draft model of the novpy pair on texts that the target has written.

    write_texts --target target_1.8M_int8.bin --requests REQUESTS --out TEXTS --length 255 --top 1 --end 2047
    train_state_space.py TEXTS HELD_OUT --target target_1.8M_int8.bin --out draft_ssm_int8.bin [--minutes 30]

A line of REQUESTS is "1 ; 256". The model learns the target's next-token probabilities, which are computed from the
stored states. Prints the probability that a token drafted at temperature 1 is accepted, on the texts held out. The format
of the output is in README.md. Needs torch and numpy from PyPI.
"""
import argparse
import pathlib
import struct
import sys
import time

import numpy
import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from drafter.texts import read_texts  # noqa: E402

VOCAB, DIM, BLOCKS, STATES, RANK, WINDOW = 2048, 64, 3, 8, 4, 4
INNER = 2 * DIM


class Scan(torch.autograd.Function):
    """s_t = decay_t s_(t-1) + input_t along the second dimension, from s_(-1) = 0."""

    @staticmethod
    def forward(ctx, decay, given):
        states = given.clone()
        for t in range(1, given.shape[1]):
            states[:, t].addcmul_(decay[:, t], states[:, t - 1])
        ctx.save_for_backward(decay, states)
        return states

    @staticmethod
    def backward(ctx, gradient):
        decay, states = ctx.saved_tensors
        gradient = gradient.clone()
        for t in range(gradient.shape[1] - 2, -1, -1):
            gradient[:, t].addcmul_(decay[:, t + 1], gradient[:, t + 1])
        of_decay = torch.zeros_like(decay)
        of_decay[:, 1:] = gradient[:, 1:] * states[:, :-1]
        return of_decay, gradient


class Block(nn.Module):
    """Mamba's block (Gu, Dao: arXiv:2312.00752, section 3.4)."""

    def __init__(self):
        super().__init__()
        self.norm = nn.Parameter(torch.ones(DIM))
        self.enter = nn.Linear(DIM, 2 * INNER, bias=False)
        self.window = nn.Parameter(torch.randn(INNER, WINDOW) * WINDOW**-0.5)
        self.window_bias = nn.Parameter(torch.zeros(INNER))
        self.select = nn.Linear(INNER, RANK + 2 * STATES, bias=False)
        self.step = nn.Linear(RANK, INNER)
        steps = torch.exp(torch.empty(INNER).uniform_(-6.9, -2.3))
        self.step.bias.data = torch.log(torch.expm1(steps))
        self.log_decay = nn.Parameter(torch.arange(1, STATES + 1).float().log().repeat(INNER, 1))
        self.skip = nn.Parameter(torch.ones(INNER))
        self.leave = nn.Linear(INNER, DIM, bias=False)

    def forward(self, x):
        u, gate = self.enter(functional.rms_norm(x, (DIM,), self.norm, 1e-5)).split(INNER, -1)
        u = functional.conv1d(functional.pad(u.transpose(1, 2), (WINDOW - 1, 0)), self.window[:, None],
                              self.window_bias, groups=INNER).transpose(1, 2)
        u = functional.silu(u)
        step, enter, leave = self.select(u).split([RANK, STATES, STATES], -1)
        step = functional.softplus(self.step(step))
        decay = torch.exp(step[..., None] * -torch.exp(self.log_decay))
        states = Scan.apply(decay, (step * u)[..., None] * enter[:, :, None])
        y = (states @ leave[..., None]).squeeze(-1) + self.skip * u
        return x + self.leave(y * functional.silu(gate))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(VOCAB, DIM) * 0.05)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.norm = nn.Parameter(torch.ones(DIM))

    def forward(self, tokens):
        x = self.embedding[tokens]
        for block in self.blocks:
            x = block(x)
        return functional.rms_norm(x, (DIM,), self.norm, 1e-5) @ self.embedding.T

    def write(self, path):
        """Matrices become int8 rows with a float32 scale each."""
        def matrix(file, weights):
            weights = weights.detach().numpy()
            scales = numpy.maximum(numpy.abs(weights).max(1) / 127, 1e-12).astype(numpy.float32)
            file.write(numpy.rint(weights / scales[:, None]).astype(numpy.int8).tobytes())
            file.write(scales.tobytes())

        def vector(file, numbers):
            file.write(numbers.detach().numpy().astype(numpy.float32).tobytes())

        with open(path, "wb") as file:
            file.write(b"SSM8" + struct.pack("<7i", DIM, BLOCKS, INNER, STATES, RANK, WINDOW, VOCAB))
            matrix(file, self.embedding)
            for block in self.blocks:
                vector(file, block.norm)
                matrix(file, block.enter.weight)
                vector(file, block.window.T)
                vector(file, block.window_bias)
                matrix(file, block.select.weight)
                matrix(file, block.step.weight)
                vector(file, block.step.bias)
                vector(file, -torch.exp(block.log_decay).T)
                vector(file, block.skip)
                matrix(file, block.leave.weight)
            vector(file, self.norm)


def classifier(path):
    """The target's embedding, which is also its output."""
    data = numpy.fromfile(path, numpy.uint8)
    dim, *_, vocab, _ = data[4:32].view(numpy.int32)
    codes = data[32:32 + vocab * dim].view(numpy.int8).reshape(vocab, dim)
    scales = data[32 + vocab * dim:32 + vocab * (dim + 4)].view(numpy.float32)
    return torch.from_numpy(codes * scales[:, None])


def texts_of(path, dim):
    """Tokens behind the begin token [texts, length], and the target's classifier inputs [texts, length, dim]."""
    tokens, states = [], []
    for text, _, _, of_text, _, _ in read_texts(path):
        if len(text) != 255:
            continue
        tokens.append(torch.from_numpy(text.astype(numpy.int64)))
        states.append(torch.from_numpy(of_text[:, -dim:].copy()))
    return torch.stack(tokens), torch.stack(states)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("held_out")
    parser.add_argument("--target", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--rate", type=float, default=4e-3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    output = classifier(options.target)
    tokens, states = texts_of(options.texts, output.shape[1])
    others, other_states = texts_of(options.held_out, output.shape[1])
    model = Model()
    decayed = [p for p in model.parameters() if p.ndim == 2]
    rest = [p for p in model.parameters() if p.ndim != 2]
    optimiser = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.05}, {"params": rest, "weight_decay": 0}],
                                  betas=(0.9, 0.98))
    begin, seen, step, at, order = time.time(), 0, 0, 0, torch.randperm(len(tokens))
    while (past := (time.time() - begin) / (60 * options.minutes)) < 1:
        rate = options.rate * min(1, step / 100) * (1 - past if past > 0.3 else 0.7) / 0.7
        for group in optimiser.param_groups:
            group["lr"] = rate
        if at + options.batch > len(order):
            at, order = 0, torch.randperm(len(tokens))
        which = order[at:at + options.batch]
        at += options.batch
        wanted = functional.softmax(states[which].float() @ output.T, -1)
        loss = functional.cross_entropy(model(tokens[which]).flatten(0, 1), wanted.flatten(0, 1))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimiser.step()
        seen += which.numel() * 255
        step += 1
        if step % 100 == 0:
            with torch.no_grad():
                p = functional.softmax(other_states[:32].float() @ output.T, -1)
                q = functional.softmax(model(others[:32]), -1)
            overlap = torch.minimum(p, q).sum(-1).mean()
            print(f"{past:.2f}  {seen} tokens  loss {loss:.3f}  accepted {overlap:.4f}", flush=True)
            model.write(options.out)
    model.write(options.out)


main()
