"""The loop of an engine by ctypes alone: python3 engine_loop.py libspecsample.so prints the text of engine_loop.c."""
import ctypes as c
import sys
from array import array

K, V, TOKEN_VERIFICATION, F32, LOGITS = 4, 16, 0, 0, 1  # drafted tokens per round; vocabulary
TYPES = dict(z=c.c_size_t, p=c.c_void_p, q=c.c_int64, i=c.c_int32, d=c.c_double, u=c.c_uint64, o=c.c_uint64 * 40)


def struct(members):
    """A struct of <specsample/c.h>: its members, each after its type."""
    words = iter(members.split())
    return type("Struct", (c.Structure,), {"_fields_": [(name, TYPES[kind]) for kind, name in zip(words, words)]})


Row = struct("z size p numbers q count q step i scalar i kind d temperature d log_sum p ids i id_type i refused q vocab")
Origin = struct("o opaque")
Rng = TYPES["rng"] = struct("u seed u request q round_start")
Call = struct("z size i rule i check rng rng p tokens p parents p origins q count p rows q row_count q row_stride "
              "p row_of p row_context q max_tokens p stop_tokens q stop_count")
Round = struct("z size p tokens q token_count p path q accepted q evaluated q proposed q target q draft i last i end")


def logits(scale, text):
    """A toy for a causal model: the logits after a text."""
    entry = 7
    for token in text:
        entry = (entry * 31 + token) % 2**32
    return array("f", [scale * ((entry ^ token * 97) % 13) for token in range(V)])


def row(numbers):
    return Row(c.sizeof(Row), numbers.buffer_info()[0], V, scalar=F32, kind=LOGITS, temperature=0.8)


def call(name, *arguments):
    if library[name](workspace, *arguments):
        sys.exit(library.specsample_message(workspace).decode())


library = c.CDLL(sys.argv[1])
library.specsample_workspace_create.restype = c.c_void_p
library.specsample_message.restype = c.c_char_p
workspace = c.c_void_p(library.specsample_workspace_create(c.c_int64(K), c.c_int64(0)))
text, stop, made = [1, 2, 3], (c.c_int32 * 1)(15), Round(c.sizeof(Round))
while made.end == 0:
    rng, tokens, origins, q = Rng(4, 0, len(text)), (c.c_int32 * K)(), (Origin * K)(), []
    for i in range(K):
        q.append(logits(.2, text + tokens[:i]))  # borrowed until the round ends
        call("specsample_draft", TOKEN_VERIFICATION, c.byref(rng), c.c_int64(i), c.byref(row(q[i])),
             c.byref(tokens, 4 * i), c.byref(origins[i]))
    p = array("f", [z for i in range(K + 1) for z in logits(.4, text + tokens[:i])])
    first = row(p)
    round_call = Call(c.sizeof(Call), TOKEN_VERIFICATION, 0, rng, c.addressof(tokens), None, c.addressof(origins), K,
                      c.addressof(first), K + 1, V, max_tokens=100, stop_tokens=c.addressof(stop), stop_count=1)
    call("specsample_verify", c.byref(round_call), c.byref(made))
    new = list((c.c_int32 * made.token_count).from_address(made.tokens))
    text += new
    print(*new, end=" | ")
print()
