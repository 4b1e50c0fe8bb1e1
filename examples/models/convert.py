#!/usr/bin/env python3
"""Converts a Llama model from GGUF to the two files that the engine reads: weights.spqg and tokenizer.sptk.

Weights of the kinds Q4_0, Q4_1 and Q8_0 keep their values; those of other kinds are rounded to 8 bits with a scale per
32 columns. Needs the Python packages gguf and jinja2.
"""

import argparse
import contextlib
import os
import signal
import struct
import sys

try:
    import numpy as np
    from gguf import GGMLQuantizationType as Kind
    from gguf import GGUFReader, ReaderField
    from gguf.quants import dequantize

    ReaderField.contents  # since gguf 0.16
except (ImportError, AttributeError) as error:
    sys.exit(f"convert.py: {error}; it needs packages: python3 -m pip install 'gguf>=0.16' jinja2")

from spqg import GROUP, header, layout

# How GGUF writes a group of a row. Four bits: column i in the low half of byte i, column 16 + i in the high half.
BLOCKS = {
    Kind.Q4_0: np.dtype([("scale", "<f2"), ("codes", "u1", 16)]),
    Kind.Q4_1: np.dtype([("scale", "<f2"), ("minimum", "<f2"), ("codes", "u1", 16)]),
    Kind.Q8_0: np.dtype([("scale", "<f2"), ("codes", "i1", 32)]),
}

# GGUF's tensors whose rows make up one of ours. The rows of q and k stand as the engine turns them: GGUF has reordered
# them so that neighbouring columns of a head are a rotary pair.
WHOLE = {"embedding": "token_embd", "final_norm": "output_norm", "classifier": "output"}
PER_LAYER = {
    "attention_norm": ["attn_norm"],
    "query_key_value": ["attn_q", "attn_k", "attn_v"],
    "attention_output": ["attn_output"],
    "feed_forward_norm": ["ffn_norm"],
    "gate_up": ["ffn_gate", "ffn_up"],
    "down": ["ffn_down"],
}

# Keys after "llama.": those that are read, those that say nothing about the mathematics, and those with one value that
# changes nothing. Any other may change what the model computes.
READ = {"embedding_length", "feed_forward_length", "block_count", "attention.head_count", "attention.head_count_kv",
        "context_length", "attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.dimension_count",
        "attention.key_length", "attention.value_length"}  # fmt: skip
SILENT = {"vocab_size", "tensor_data_layout", "rope.scaling.original_context_length", "rope.scaling.finetuned"}
NEUTRAL = {"rope.scaling.type": "none", "rope.scaling.factor": 1, "rope.scale_linear": 1, "expert_count": 0,
           "expert_used_count": 0}  # fmt: skip
SUPPORTED = "plain Llama models only: no biases, no experts, no scaled rotary embedding"


class Unsupported(Exception):
    """What a file is or has, to follow its name."""


class Metadata:
    """The values of the keys that begin with "llama."."""

    def __init__(self, reader):
        self.reader = reader

    def get(self, key, kind, default=None):
        field = self.reader.get_field(f"llama.{key}")
        value = default if field is None else field.contents()
        if value is None:
            raise Unsupported(f"has no llama.{key}, which is needed")
        if not isinstance(value, kind):
            raise Unsupported(f"has llama.{key} = {value!r}, but it must be one number for all layers")
        return value

    def size(self, key, default=None):
        value = self.get(key, int, default)
        if not 1 <= value < 2**31:
            raise Unsupported(f"has llama.{key} = {value}, but it must be in [1, 2^31)")
        return value

    def refuse_unknown(self):
        for name, field in self.reader.fields.items():
            prefix, _, key = name.partition(".")
            if prefix != "llama" or key in READ | SILENT:
                continue
            if key not in NEUTRAL or field.contents() != NEUTRAL[key]:
                raise Unsupported(f"has {name} = {field.contents()!r}, but the engine runs {SUPPORTED}")


def architecture(reader):
    field = reader.get_field("general.architecture")
    return None if field is None else field.contents()


def read_config(reader, context):
    """The header of the engine's file. `context` is the user's, or None."""
    if reader.byte_order != "I":
        raise Unsupported("has the other byte order than this machine; convert it with gguf-convert-endian first")
    if architecture(reader) != "llama":
        raise Unsupported(f"has the architecture {architecture(reader)!r}, but it must be 'llama'")
    metadata = Metadata(reader)
    metadata.refuse_unknown()
    config = {
        "dim": metadata.size("embedding_length"),
        "hidden": metadata.size("feed_forward_length"),
        "layers": metadata.size("block_count"),
        "heads": metadata.size("attention.head_count"),
        "rms_epsilon": metadata.get("attention.layer_norm_rms_epsilon", float),
        "rope_theta": metadata.get("rope.freq_base", float, 10000.0),
    }
    config["kv_heads"] = metadata.size("attention.head_count_kv", config["heads"])
    check_heads(metadata, config)
    longest = metadata.size("context_length")
    config["context"] = min(longest, 2048) if context is None else context
    if not 1 <= config["context"] <= longest:
        raise Unsupported(f"has a context of {longest}, so --context must be in [1, {longest}], but is {context}")
    return config


def check_heads(metadata, config):
    dim, hidden, heads, kv_heads = (config[name] for name in ("dim", "hidden", "heads", "kv_heads"))
    if dim % (2 * heads) or heads % kv_heads:
        raise Unsupported(f"has {heads} heads on {dim} columns with {kv_heads} heads of keys, but the size of a head "
                          "must be an even whole number, and heads a multiple of heads of keys")  # fmt: skip
    for key in ("attention.key_length", "attention.value_length", "rope.dimension_count"):
        if metadata.size(key, dim // heads) != dim // heads:
            raise Unsupported(f"has llama.{key} = {metadata.size(key)}, but it must be the columns over the heads, "
                              f"{dim // heads}")  # fmt: skip
    if dim % GROUP or hidden % GROUP:
        raise Unsupported(f"has matrices of {dim} and {hidden} columns, but both must be multiples of {GROUP}")


def sources(name):
    """The names of GGUF's tensors that make up one of ours."""
    layer, _, name_in_layer = name.partition(".")
    if name in WHOLE:
        return [f"{WHOLE[name]}.weight"]
    return [f"blk.{layer}.{part}.weight" for part in PER_LAYER[name_in_layer]]


def expected_rows(config, source):
    part = source.split(".")[-2]
    kv_dim = config["kv_heads"] * (config["dim"] // config["heads"])
    return {"attn_q": config["dim"], "attn_k": kv_dim, "attn_v": kv_dim, "ffn_gate": config["hidden"],
            "ffn_up": config["hidden"]}.get(part)  # fmt: skip


def plan(reader, context=None):
    """The header, and GGUF's tensors for each of ours: a list of (shape, tensors).

    Raises Unsupported where the engine cannot run the model.
    """
    config = read_config(reader, context)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    if "token_embd.weight" not in tensors:
        raise Unsupported("has no tensor token_embd.weight, which is needed")
    config["vocab"] = int(tensors["token_embd.weight"].shape[-1])
    config["tied"] = "output.weight" not in tensors
    planned = []
    for name, shape in layout(config):
        for source in sources(name):
            if source not in tensors:
                raise Unsupported(f"has no tensor {source}, which is needed")
            rows = expected_rows(config, source) or shape[0]
            check_shape(tensors[source], (rows, *shape[1:]))
        planned.append((shape, [tensors.pop(source) for source in sources(name)]))
    if tensors:
        raise Unsupported(f"has a tensor {min(tensors)}, but the engine runs {SUPPORTED}")
    return config, planned


def check_shape(tensor, shape):
    found = tuple(int(size) for size in reversed(tensor.shape))
    if found != shape:
        raise Unsupported(f"has {tensor.name} of {found}, but its sizes must be {shape}")


def floats(tensor, begin=0, end=None):
    """Some rows as float32."""
    try:
        return dequantize(tensor.data[begin:end], tensor.tensor_type)
    except NotImplementedError:
        kind = tensor.tensor_type.name
        raise Unsupported(f"has {tensor.name} in the kind {kind}, which the package gguf cannot read; F32, F16, BF16, "
                          "Q4_0, Q4_1, Q8_0 and Q6_K are among those it can") from None  # fmt: skip


def rounded(weights):
    """Codes of 8 bits by the largest weight of each group, which are relative to the scale as float16 has it."""
    groups = weights.reshape(len(weights), -1, GROUP)
    with np.errstate(all="ignore"):  # the caller refuses scales that are not finite
        scales = (np.abs(groups).max(axis=-1) / 127).astype("<f2")
        codes = np.rint(groups / scales[..., None].astype(np.float32))
        codes = np.where(scales[..., None] == 0, 0, codes.clip(-127, 127)).astype("i1")
    return codes.reshape(weights.shape), [scales]


def taken_over(blocks):
    """Codes, and scales or scales and minimums, with the values that they have in GGUF."""
    rows, scales = len(blocks), blocks["scale"]
    if blocks.dtype == BLOCKS[Kind.Q8_0]:
        return blocks["codes"].reshape(rows, -1), [scales]
    codes = np.concatenate((blocks["codes"] & 15, blocks["codes"] >> 4), axis=-1).reshape(rows, -1)
    with np.errstate(over="ignore"):
        minimums = (scales * np.float16(-8)).astype("<f2") if blocks.dtype == BLOCKS[Kind.Q4_0] else blocks["minimum"]
    return codes[:, 0::2] | codes[:, 1::2] << 4, [scales, minimums]


def encoded(tensor, begin, end, bits):
    if bits == 4 or tensor.tensor_type == Kind.Q8_0:
        return taken_over(np.ascontiguousarray(tensor.data[begin:end]).view(BLOCKS[tensor.tensor_type]))
    return rounded(floats(tensor, begin, end))


def refuse_not_finite(tensor, numbers):
    if not np.isfinite(numbers).all():
        raise Unsupported(f"has weights in {tensor.name} that are not finite, or too large for scales in float16")


def write_matrix(out, tensors, at_least_8, progress):
    """The rows of all tensors as one matrix, some at a time. It has 4 bits if all of them have."""
    four = all(tensor.tensor_type in (Kind.Q4_0, Kind.Q4_1) for tensor in tensors)
    bits = 4 if four and not at_least_8 else 8
    out.write(struct.pack("<i", bits))
    groups = [[], []]  # scales and minimums
    for tensor in tensors:
        columns, rows = (int(size) for size in tensor.shape)
        step = max(1, 2**20 // columns)
        for begin in range(0, rows, step):
            codes, numbers = encoded(tensor, begin, begin + step, bits)
            refuse_not_finite(tensor, numbers)
            out.write(codes.tobytes())
            for group, some in zip(groups, numbers):
                group.append(some.tobytes())
            progress.add(min(step, rows - begin) * columns)
    out.writelines(groups[0] + groups[1])


def write_norm(out, tensor):
    weights = floats(tensor)
    refuse_not_finite(tensor, weights)
    out.write(weights.astype("<f4").tobytes())


class Progress:
    """One line that moves, where a terminal shows it."""

    def __init__(self, total):
        self.total, self.done, self.shown = total, 0, None
        self.moves = sys.stderr.isatty()

    def add(self, count):
        self.done += count
        percent = 100 * self.done // self.total
        if self.moves and percent != self.shown:
            self.shown = percent
            bar = "#" * (percent * 40 // 100)
            print(f"\r\033[Kconverting [{bar:<40}] {percent} %", end="", file=sys.stderr, flush=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.moves:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def write_weights(path, config, planned, at_least_8=False):
    """Writes weights.spqg, as plan() has it."""
    with open(path, "wb") as out, Progress(sum(shape[0] * shape[1] for shape, _ in planned if len(shape) == 2)) as bar:
        out.write(header(config))
        for shape, tensors in planned:
            if len(shape) == 1:
                write_norm(out, tensors[0])
            else:
                write_matrix(out, tensors, at_least_8, bar)


@contextlib.contextmanager
def replacing(path):
    """A path to write to: its file takes the place of `path` at the end, and is removed if anything fails."""
    part = f"{path}.{os.getpid()}.part"
    try:
        yield part
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.remove(part)


def opened(path):
    try:
        open(path, "rb").close()
        return GGUFReader(path)
    except OSError as error:
        sys.exit(f"convert.py: {path} cannot be read: {error.strerror}")
    except Exception as error:  # the reader checks little: a bad file ends it in many ways
        sys.exit(f"convert.py: {path} is no GGUF file, or not all of it: {error}")


def convert(options):
    reader = opened(options.model)
    config, planned = plan(reader, options.context)
    from export_tokenizer import export_tokenizer

    os.makedirs(options.folder, exist_ok=True)
    weights, tokenizer = (os.path.join(options.folder, name) for name in ("weights.spqg", "tokenizer.sptk"))
    with replacing(weights) as new_weights, replacing(tokenizer) as new_tokenizer:
        export_tokenizer(reader, new_tokenizer)
        write_weights(new_weights, config, planned, options.bits == 8)
    return os.path.getsize(weights)


def say(text):
    print(f"convert.py: {text}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", metavar="MODEL.gguf")
    parser.add_argument("folder", metavar="OUTDIR", help="is made if needed, and gets both files")
    parser.add_argument("--bits", type=int, choices=(8,), help="round weights of 4 bits to 8")
    parser.add_argument("--context", type=int, metavar="N", help="most positions (the model's, but at most 2048)")
    options = parser.parse_args()
    for ending in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C does, they leave no half files behind
        if signal.getsignal(ending) != signal.SIG_IGN:  # as nohup has it
            signal.signal(ending, lambda number, _: sys.exit(128 + number))
    say(f"reading {options.model}")
    try:
        size = convert(options)
    except Unsupported as error:
        sys.exit(f"convert.py: {options.model} {error}")
    except ValueError as error:
        sys.exit(f"convert.py: {options.model}: {error}")
    except ImportError as error:
        sys.exit(f"convert.py: {error}; it is needed for the form of chats: python3 -m pip install jinja2")
    except OSError as error:
        sys.exit(f"convert.py: {options.folder} cannot be written: {error.strerror}; nothing new was left there")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    say(f"wrote weights.spqg ({size / 1e6:.0f} MB) and tokenizer.sptk")


if __name__ == "__main__":
    main()
