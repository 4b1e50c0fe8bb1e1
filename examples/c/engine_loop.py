"""The loop of an engine in Python, by ctypes alone: python3 engine_loop.py libspecsample.so

Prints the text of engine_loop.c, a bar after each round.
"""
import ctypes as c
import sys
from array import array

K, V, TOKEN_VERIFICATION, F32, LOGITS = 4, 16, 0, 0, 1  # drafted tokens per round; vocabulary


class Sized(c.Structure):
    def __init__(self, **fields):
        super().__init__(size=c.sizeof(self), **fields)


class Row(Sized):
    _fields_ = [("size", c.c_size_t), ("numbers", c.c_void_p), ("count", c.c_int64), ("step", c.c_int64),
                ("scalar", c.c_int32), ("kind", c.c_int32), ("temperature", c.c_double), ("log_sum_exp", c.c_double),
                ("ids", c.c_void_p), ("id_type", c.c_int32), ("reserved", c.c_int32), ("vocab", c.c_int64)]


class Origin(c.Structure):
    _fields_ = [("opaque", c.c_uint64 * 40)]


class Rng(c.Structure):
    _fields_ = [("seed", c.c_uint64), ("request", c.c_uint64), ("round_start", c.c_int64)]


class Call(Sized):
    _fields_ = [("size", c.c_size_t), ("rule", c.c_int32), ("check", c.c_int32), ("rng", Rng), ("tokens", c.c_void_p),
                ("parents", c.c_void_p), ("origins", c.c_void_p), ("count", c.c_int64), ("rows", c.c_void_p),
                ("row_count", c.c_int64), ("row_stride", c.c_int64), ("max_tokens", c.c_int64),
                ("stop_tokens", c.c_void_p), ("stop_count", c.c_int64)]


class Round(Sized):
    _fields_ = [("size", c.c_size_t), ("tokens", c.POINTER(c.c_int32)), ("token_count", c.c_int64),
                ("path", c.POINTER(c.c_int64)), ("accepted", c.c_int64), ("evaluated", c.c_int64),
                ("proposed", c.c_int64), ("keep_target", c.c_int64), ("keep_draft", c.c_int64), ("last", c.c_int32),
                ("end", c.c_int32)]


def logits(scale, text):
    """A toy for a causal model: the logits after a text."""
    entry = 7
    for token in text:
        entry = (entry * 31 + token) % 2**32
    return [scale * ((entry ^ token * 97) % 13) for token in range(V)]


def row(numbers):
    return Row(numbers=numbers.buffer_info()[0], count=V, scalar=F32, kind=LOGITS, temperature=0.8)


library = c.CDLL(sys.argv[1])
library.specsample_workspace_create.restype = c.c_void_p
library.specsample_message.restype = c.c_char_p
workspace = c.c_void_p(library.specsample_workspace_create(c.c_int64(K)))
text, stop, made = [1, 2, 3], (c.c_int32 * 1)(15), Round()
while made.end == 0:
    rng, tokens, origins = Rng(4, 0, len(text)), (c.c_int32 * K)(), (Origin * K)()
    q = [array("f", V * [0]) for _ in range(K)]  # borrowed until the round ends
    for i in range(K):
        q[i][:] = array("f", logits(.2, text + tokens[:i]))
        if library.specsample_draft(workspace, TOKEN_VERIFICATION, c.byref(rng), c.c_int64(i), c.byref(row(q[i])),
                                    c.byref(tokens, 4 * i), c.byref(origins[i])):
            sys.exit(library.specsample_message(workspace).decode())
    p = array("f", [z for i in range(K + 1) for z in logits(.4, text + tokens[:i])])
    first = row(p)
    call = Call(rule=TOKEN_VERIFICATION, rng=rng, tokens=c.addressof(tokens), origins=c.addressof(origins), count=K,
                rows=c.addressof(first), row_count=K + 1, row_stride=V, max_tokens=100,
                stop_tokens=c.addressof(stop), stop_count=1)
    if library.specsample_verify(workspace, c.byref(call), c.byref(made)):
        sys.exit(library.specsample_message(workspace).decode())
    text += made.tokens[:made.token_count]
    print(*made.tokens[:made.token_count], end=" | ")
print()
library.specsample_workspace_destroy(workspace)
