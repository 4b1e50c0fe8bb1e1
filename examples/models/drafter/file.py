"""The drafter's file for the engine (SPQD): a header, the ids it can draft, then norms and matrices of 4 bits as spqg.py
reads them, in the order of PARTS."""
import struct

import numpy
import torch

from drafter import four_bits
from spqg import Reader

MAGIC, VERSION = b"SPQD", 2
HEADER = struct.Struct("<4s8i2f")  # magic, version, the sizes, epsilon, theta
SIZES = ("dim", "hidden", "heads", "kv_heads", "vocab", "ids", "context")
PARTS = ("state_norm", "token_norm", "join", "middle_norms", "middle", "attention_norm", "query_key_value",
         "attention_output", "feed_forward_norm", "gate_up", "down", "final_norm")


def write_drafter(head, path):
    """Writes beside the file and moves it there, so that no half of it is left."""
    part = path.with_name(path.name + ".part")
    sizes = {**head.config, "ids": len(head.ids)}
    with open(part, "wb") as file:
        file.write(HEADER.pack(MAGIC, VERSION, *(sizes[name] for name in SIZES), sizes["rms_epsilon"],
                               sizes["rope_theta"]))
        file.write(head.ids.numpy().astype("<i4").tobytes())
        for name in PARTS:
            weights = getattr(head, name).detach()
            if weights.dim() == 1:
                file.write(weights.numpy().astype("<f4").tobytes())
            else:
                codes, *scales_and_minimums = four_bits.encoded(weights)
                codes = codes.numpy().astype("u1").reshape(len(weights), -1)
                file.write(struct.pack("<i", 4) + (codes[:, 0::2] | codes[:, 1::2] << 4).tobytes())
                for numbers in scales_and_minimums:
                    file.write(numbers.numpy().astype("<f2").tobytes())
    part.rename(path)


def read_drafter(path, config):
    """The ids, and a dict of the other parts, of a drafter for a target with this config."""
    with open(path, "rb") as file:
        reader = Reader(path, file)
        magic, version, *numbers = HEADER.unpack(reader.take("u1", HEADER.size).tobytes())
        if (magic, version) != (MAGIC, VERSION):
            raise ValueError(f"{path} is no drafter of version {VERSION}")
        sizes = dict(zip(SIZES, numbers))
        for name in ("dim", "heads", "kv_heads", "vocab"):
            if sizes[name] != config[name]:
                raise ValueError(f"{path} is for a target with {name} {sizes[name]}, but this one has {config[name]}")
        dim, hidden, kv_dim = sizes["dim"], sizes["hidden"], sizes["kv_heads"] * (sizes["dim"] // sizes["heads"])
        shapes = {"join": (dim, 2 * dim), "middle": (dim, 2 * dim),
                  "query_key_value": (dim + 2 * kv_dim, dim), "attention_output": (dim, dim),
                  "gate_up": (2 * hidden, dim), "down": (dim, hidden)}
        ids = torch.from_numpy(reader.take("<i4", sizes["ids"]).astype(numpy.int64))
        lengths = {"middle_norms": 2 * dim}
        parts = {name: reader.matrix(*shapes[name]) if name in shapes else reader.take("<f4", lengths.get(name, dim))
                 for name in PARTS}
    return ids, {name: torch.from_numpy(numpy.array(part, numpy.float32)) for name, part in parts.items()}
