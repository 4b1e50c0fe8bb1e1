"""The engine's file of weights in groups of 32 columns (SPQG): its header, its tensors, and reading it as float32.

All numbers are little-endian. A norm is float32. A matrix is an int32, its bits (8 or 4); its codes, row by row, an
int8 per column or a byte per two columns, the even one in the low half; a float16 scale per row and group; and with 4
bits a float16 minimum per row and group. A weight is scale * code, plus the minimum where there is one.
"""

import os
import struct

import numpy as np

MAGIC, VERSION = b"SPQG", 1
HEADER = struct.Struct("<4s8i2fi")  # magic, version, the sizes, epsilon, theta, tied
SIZES = ("dim", "hidden", "layers", "heads", "kv_heads", "vocab", "context")
GROUP = 32


def layout(config):
    """Names and shapes of the tensors in the order of the file; a norm has one size, a matrix two."""
    dim, hidden, vocab = config["dim"], config["hidden"], config["vocab"]
    kv_dim = config["kv_heads"] * (dim // config["heads"])
    yield "embedding", (vocab, dim)
    for layer in range(config["layers"]):
        yield f"{layer}.attention_norm", (dim,)
        yield f"{layer}.query_key_value", (dim + 2 * kv_dim, dim)
        yield f"{layer}.attention_output", (dim, dim)
        yield f"{layer}.feed_forward_norm", (dim,)
        yield f"{layer}.gate_up", (2 * hidden, dim)
        yield f"{layer}.down", (dim, hidden)
    yield "final_norm", (dim,)
    if not config["tied"]:
        yield "classifier", (vocab, dim)


def header(config):
    sizes = (config[name] for name in SIZES)
    return HEADER.pack(MAGIC, VERSION, *sizes, config["rms_epsilon"], config["rope_theta"], int(config["tied"]))


class Reader:
    """Takes numbers from a file, one array after the other."""

    def __init__(self, path, file):
        self.path, self.file = path, file
        self.left = os.fstat(file.fileno()).st_size

    def take(self, dtype, *shape):
        dtype = np.dtype(dtype)
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        if size > self.left:
            raise ValueError(f"{self.path} ends {size - self.left} bytes too early")
        self.left -= size
        return np.frombuffer(self.file.read(size), dtype).reshape(shape)

    def matrix(self, rows, columns):
        bits = int(self.take("<i4", 1)[0])
        if bits not in (4, 8):
            raise ValueError(f"{self.path} has a matrix of {bits} bits, but it must be 4 or 8")
        if bits == 8:
            codes = self.take("i1", rows, columns)
        else:
            pairs = self.take("u1", rows, columns // 2)
            codes = np.stack((pairs & 15, pairs >> 4), axis=-1)
        groups = (rows, columns // GROUP, 1)
        weights = codes.reshape(rows, -1, GROUP) * self.take("<f2", *groups).astype(np.float32)
        if bits == 4:
            weights += self.take("<f2", *groups).astype(np.float32)
        return weights.reshape(rows, columns)


def read_spqg(path):
    """The header as a dict, and the tensors by the names of layout() as a dict of float32 arrays."""
    with open(path, "rb") as file:
        reader = Reader(path, file)
        magic, version, *numbers = HEADER.unpack(reader.take("u1", HEADER.size).tobytes())
        if (magic, version) != (MAGIC, VERSION):
            raise ValueError(f"{path} is no file of weights in groups of version {VERSION}")
        config = dict(zip((*SIZES, "rms_epsilon", "rope_theta", "tied"), numbers))
        weights = {}
        for name, shape in layout(config):
            weights[name] = reader.take("<f4", *shape) if len(shape) == 1 else reader.matrix(*shape)
        if reader.left:
            raise ValueError(f"{path} has {reader.left} bytes after its weights")
    return config, weights
