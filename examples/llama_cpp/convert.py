#!/usr/bin/env python3
"""Converts a checkpoint of examples/engine (int8, or llama2.c's version 0 in float32) and its byte pairs to GGUF.

Tokens keep their ids. llama.cpp will cut a text as GPT-2 does, which of what it knows is closest to this vocabulary's
own pattern: it differs at white space and at ' before a longer word. Tokens with a line break are "user defined" (the
longest that fits is taken before any cut), so that most indentation is one token, as in training.
"""

import argparse
import array
import itertools
import struct
import sys

FIELDS = ("dim", "hidden", "layers", "heads", "kv_heads", "vocab", "context")
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # types of values in GGUF
CODES = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4  # types of tokens
END_OF_TEXT = 256  # also begins a text
ALIGNMENT = 32


class Checkpoint:
    """The sizes by their names in FIELDS, and the weights by llama.cpp's names: name -> (rows, columns, values)."""

    def __init__(self, data):
        self.int8 = data[:4] == b"SPQ8"
        self.rest = memoryview(data)[4 if self.int8 else 0 :]
        self.weights = {}
        fields = struct.unpack("<7i", self.take(28))
        vars(self).update(zip(FIELDS, fields))
        tied = self.vocab > 0  # version 0 says "untied" by a negative vocabulary
        self.vocab = abs(self.vocab)
        good = min(*fields[:5], self.vocab, self.context) > 0 and (tied or not self.int8)
        if not good or self.dim % (2 * self.heads) or self.heads % self.kv_heads:
            raise ValueError(f"is no checkpoint: these cannot be its sizes: {dict(zip(FIELDS, fields))}")
        self.read([("token_embd", self.vocab, self.dim)])
        for group in self.groups():
            self.read(group)
        self.read([("output_norm", 1, self.dim)])
        if not self.int8:
            self.take(4 * self.context * (self.dim // self.heads))  # a rotary table; llama.cpp computes its own
        if not tied:
            self.read([("output", self.vocab, self.dim)])
        if len(self.rest):
            raise ValueError(f"is no checkpoint: {len(self.rest)} bytes follow the weights that its sizes ask for")

    def groups(self):
        """The weights of the layers in the order of the file, those together that share a matrix there."""
        dim, hidden, kv_dim = self.dim, self.hidden, self.kv_heads * (self.dim // self.heads)
        norm, ffn_norm = ("attn_norm", 1, dim), ("ffn_norm", 1, dim)
        q, k, v, o = ("attn_q", dim, dim), ("attn_k", kv_dim, dim), ("attn_v", kv_dim, dim), ("attn_output", dim, dim)
        w1, w2, w3 = ("ffn_gate", hidden, dim), ("ffn_down", dim, hidden), ("ffn_up", hidden, dim)
        layers = range(self.layers)
        if self.int8:  # layer after layer
            order = itertools.product(layers, [[norm], [q, k, v], [o], [ffn_norm], [w1, w3], [w2]])
        else:  # kind after kind
            order = ((layer, [kind]) for kind in (norm, q, k, v, o, ffn_norm, w1, w2, w3) for layer in layers)
        return ([(f"blk.{layer}.{name}", *shape) for name, *shape in group] for layer, group in order)

    def take(self, size):
        if size > len(self.rest):
            raise ValueError(f"is truncated, or no checkpoint: {size - len(self.rest)} or more bytes are missing")
        taken, self.rest = self.rest[:size], self.rest[size:]
        return taken

    def floats(self, count):
        return array.array("f", struct.unpack(f"<{count}f", self.take(4 * count)))

    def read(self, group):
        rows, columns = sum(each[1] for each in group), group[0][2]
        if self.int8 and rows > 1:  # int8 rows, then their scales
            numbers = array.array("b", bytes(self.take(rows * columns)))
            scales = itertools.chain.from_iterable(itertools.repeat(scale, columns) for scale in self.floats(rows))
            values = array.array("f", (scale * number for scale, number in zip(scales, numbers)))
        else:
            values = self.floats(rows * columns)
        for name, rows, columns in group:
            self.weights[f"{name}.weight"] = (rows, columns, values[: rows * columns])
            values = values[rows * columns :]


def byte_alphabet():  # GPT-2's: a printable character for each byte
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = itertools.count(256)
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def byte_pairs(data, vocab):
    """Texts of the tokens, their types, and the merges."""
    if len(data) != 4 * (vocab - END_OF_TEXT - 1):
        raise ValueError(f"is no list of merges for {vocab} tokens: it has {len(data)} bytes")
    alphabet = byte_alphabet()
    texts, merges = [*alphabet, "<|endoftext|>"], []
    for left, right in struct.iter_unpack("<2H", data):
        if max(left, right) >= len(texts) or END_OF_TEXT in (left, right):
            raise ValueError(f"is no tokenizer: it merges tokens {left} and {right} before they are known")
        merges.append(f"{texts[left]} {texts[right]}")
        texts.append(texts[left] + texts[right])
    types = [USER_DEFINED if alphabet[ord("\n")] in text else NORMAL for text in texts]
    types[END_OF_TEXT] = CONTROL
    spelt = str.maketrans({alphabet[ord(blank)]: blank for blank in "\n "})  # user-defined tokens are plain text
    texts = [text.translate(spelt) if kind == USER_DEFINED else text for text, kind in zip(texts, types)]
    return texts, types, merges


def packed(kind, value):
    if kind == STRING:
        return struct.pack("<Q", len(value.encode())) + value.encode()
    if kind == ARRAY:
        item = STRING if isinstance(value[0], str) else INT32
        return struct.pack("<IQ", item, len(value)) + b"".join(packed(item, each) for each in value)
    return struct.pack(CODES[kind], value)


def metadata(model, tokenizer):
    texts, types, merges = tokenizer
    yield "general.architecture", STRING, "llama"
    sizes = {"context_length": model.context, "embedding_length": model.dim, "block_count": model.layers}
    sizes |= {"feed_forward_length": model.hidden, "rope.dimension_count": model.dim // model.heads}
    sizes |= {"attention.head_count": model.heads, "attention.head_count_kv": model.kv_heads}
    yield from (("llama." + name, UINT32, size) for name, size in sizes.items())
    yield "llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5
    words = (STRING, {"model": "gpt2", "pre": "gpt-2"})
    lists = (ARRAY, {"tokens": texts, "token_type": types, "merges": merges})
    special = (UINT32, {"bos_token_id": END_OF_TEXT, "eos_token_id": END_OF_TEXT})
    for kind, values in (words, lists, special, (BOOL, {"add_bos_token": True})):
        yield from (("tokenizer.ggml." + name, kind, value) for name, value in values.items())


def gguf(model, tokenizer):
    """The pieces of the file, one after the other."""
    pairs = list(metadata(model, tokenizer))
    header = b"GGUF" + struct.pack("<IQQ", 3, len(model.weights), len(pairs))
    header += b"".join(packed(STRING, name) + struct.pack("<I", kind) + packed(kind, v) for name, kind, v in pairs)
    tensors, offset = [], 0
    for name, (rows, columns, values) in model.weights.items():
        data = struct.pack(f"<{len(values)}f", *values)
        shape = (columns, rows) if rows > 1 else (columns,)
        header += packed(STRING, name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        tensors.append(data + bytes(-len(data) % ALIGNMENT))
        offset += len(tensors[-1])
    return [header + bytes(-len(header) % ALIGNMENT), *tensors]


def converted(path, convert):
    try:
        with open(path, "rb") as file:
            return convert(file.read())
    except OSError as error:
        sys.exit(f"convert.py: {error}")
    except ValueError as error:
        sys.exit(f"convert.py: {path} {error}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="the checkpoint, *.bin")
    parser.add_argument("tokenizer", help="its merges, *.merges.u16")
    parser.add_argument("out", help="the GGUF file to write")
    options = parser.parse_args()
    model = converted(options.model, Checkpoint)
    tokenizer = converted(options.tokenizer, lambda data: byte_pairs(data, model.vocab))
    with open(options.out, "wb") as out:
        out.writelines(gguf(model, tokenizer))
