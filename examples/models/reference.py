#!/usr/bin/env python3
"""The forward pass of a Llama model as a textbook has it, in float32 with numpy: what the engine must agree with.

    reference.py weights.spqg ID...    prints the ids that follow most likely
"""

import argparse

import numpy as np

from spqg import read_spqg


def rms_norm(x, weights, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weights


def silu(x):
    return x / (1 + np.exp(-x))


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def rotate(heads, theta):
    """Turns the pairs (2 i, 2 i + 1) of heads, [positions, heads, size], by position * theta^(-2 i / size)."""
    positions, _, size = heads.shape
    angles = np.arange(positions)[:, None] * theta ** (-np.arange(0, size, 2) / size)
    cosine, sine = (table(angles).astype(np.float32)[:, None] for table in (np.cos, np.sin))
    a, b = heads[..., 0::2], heads[..., 1::2]
    return np.stack((a * cosine - b * sine, a * sine + b * cosine), axis=-1).reshape(heads.shape)


def attend(queries, keys, values):
    """Causal attention; queries [positions, heads, size] in turn share the fewer heads of keys and values."""
    positions, heads, size = queries.shape
    shared = heads // keys.shape[1]
    keys, values = (np.repeat(each, shared, axis=1) for each in (keys, values))
    scores = np.einsum("qhs,khs->hqk", queries, keys) / np.float32(np.sqrt(size))
    future = np.triu(np.ones((positions, positions), bool), 1)
    return np.einsum("hqk,khs->qhs", softmax(np.where(future, -np.inf, scores)), values)


class Reference:
    def __init__(self, config, weights):
        self.config, self.weights = config, weights

    def attention(self, layer, x):
        heads, kv_heads = self.config["heads"], self.config["kv_heads"]
        size = self.config["dim"] // heads
        rows = x @ self.weights[f"{layer}.query_key_value"].T
        split = rows.reshape(len(x), heads + 2 * kv_heads, size)
        queries, keys, values = np.split(split, (heads, heads + kv_heads), axis=1)
        theta = self.config["rope_theta"]
        mixed = attend(rotate(queries, theta), rotate(keys, theta), values)
        return mixed.reshape(len(x), -1) @ self.weights[f"{layer}.attention_output"].T

    def feed_forward(self, layer, x):
        gate, up = np.split(x @ self.weights[f"{layer}.gate_up"].T, 2, axis=1)
        return (silu(gate) * up) @ self.weights[f"{layer}.down"].T

    def norm(self, name, x):
        return rms_norm(x, self.weights[name], np.float32(self.config["rms_epsilon"]))

    def logits(self, tokens):
        """Row i says what follows tokens[: i + 1]."""
        x = self.weights["embedding"][np.asarray(tokens)]
        for layer in range(self.config["layers"]):
            x = x + self.attention(layer, self.norm(f"{layer}.attention_norm", x))
            x = x + self.feed_forward(layer, self.norm(f"{layer}.feed_forward_norm", x))
        classifier = self.weights["embedding" if self.config["tied"] else "classifier"]
        return self.norm("final_norm", x) @ classifier.T


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", metavar="weights.spqg")
    parser.add_argument("ids", metavar="ID", type=int, nargs="+")
    parser.add_argument("--predict", type=int, default=16, metavar="N", help="ids to print (16)")
    options = parser.parse_args()
    model, ids = Reference(*read_spqg(options.weights)), options.ids
    for _ in range(options.predict):
        ids.append(int(model.logits(ids)[-1].argmax()))
        print(ids[-1], end=" ", flush=True)
    print()


if __name__ == "__main__":
    main()
