#!/usr/bin/env python3
"""Writes a checkpoint with random int8 weights (SPQ8), to measure what passes over a model of some size cost.

The same options write the same file. Values have variance 1 / columns, so that activations stay of order one.
"""

import argparse
import array
import math
import random
import struct
import sys

FIELDS = ("dim", "hidden", "layers", "heads", "kv_heads", "vocab", "context")
DEFAULTS = (576, 1536, 10, 9, 3, 16384, 512)  # 45 million parameters
INT8_DEVIATION = math.sqrt((256**2 - 1) / 12)  # of uniform bytes


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("file", help="the checkpoint to write")
    for field, default in zip(FIELDS, DEFAULTS):
        parser.add_argument("--" + field.replace("_", "-"), type=int, default=default, help=" ")
    parser.add_argument("--seed", type=int, default=1, help=" ")
    shape = parser.parse_args()
    if min(getattr(shape, field) for field in FIELDS) < 1:
        parser.error("sizes must be at least 1")
    if shape.dim % (2 * shape.heads) or shape.heads % shape.kv_heads:
        parser.error("dim must be an even multiple of heads, and heads a multiple of kv-heads")
    return shape


def floats(values):
    numbers = array.array("f", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def write(shape, out):
    generator = random.Random(shape.seed)
    kv_dim = shape.kv_heads * shape.dim // shape.heads
    parameters = 0

    def matrix(rows, columns):
        nonlocal parameters
        parameters += rows * columns
        for _ in range(rows):
            out.write(generator.randbytes(columns))
        out.write(floats([1 / (INT8_DEVIATION * math.sqrt(columns))]) * rows)

    def norm():
        nonlocal parameters
        parameters += shape.dim
        out.write(floats([1.0]) * shape.dim)

    out.write(b"SPQ8" + struct.pack("<7i", *(getattr(shape, field) for field in FIELDS)))
    matrix(shape.vocab, shape.dim)
    for _ in range(shape.layers):
        norm()
        matrix(shape.dim + 2 * kv_dim, shape.dim)
        matrix(shape.dim, shape.dim)
        norm()
        matrix(2 * shape.hidden, shape.dim)
        matrix(shape.dim, shape.hidden)
    norm()
    return parameters


if __name__ == "__main__":
    shape = parse()
    with open(shape.file, "wb") as out:
        print(f"{shape.file}: {write(shape, out):,} parameters")
