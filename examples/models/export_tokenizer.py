#!/usr/bin/env python3
"""Writes the tokenizer of a GGUF model (byte-level byte pairs, as GPT-2 and SmolLM2 have them) for examples/engine.

The file, little-endian:

  the bytes SPTK, int32 version 1
  int32 pieces, int32 merges, int32 token that begins a text, int32 token that ends one
  uint8 1 if the model was trained with the begin token before a text, uint8 1 if digits are cut one by one,
    uint8 1 if there is a form of chats; 0 otherwise
  per piece, in the order of the ids: uint8 kind (0 normal, 1 special), uint16 size, its bytes
  per merge, the first rank first: int32 left, int32 right; they become the normal piece that has their bytes
  the characters that are letters, then numbers, then white space: int32 ranges; per range int32 first, int32 last
  with a form of chats, the text before a user's message, then the text after it: int32 size, its bytes

The form of chats is the model's own template, rendered for one message of a user; what a template does to the message
itself, such as trimming it, is left out. Needs PyPI's gguf, and jinja2 where the model has a template.
"""

import argparse
import struct
import sys
import unicodedata

from gguf import GGUFReader

VERSION = 1
NORMAL, CONTROL = 1, 3  # GGUF's types of tokens
KINDS = {NORMAL: 0, CONTROL: 1}
CUTS_DIGITS = {"smollm": True, "starcoder": True, "refact": True, "gpt-2": False}  # by tokenizer.ggml.pre
CODE_POINTS = 0x110000
LONGEST_PIECE = 0xFFFF
WHITE_SPACE = {9, 10, 11, 12, 13, 0x85}  # beside the separators; str.isspace() has four more
PLACEHOLDER = "<<<the message>>>"


def byte_characters():
    """GPT-2's alphabet: a character for each byte, itself where it can be seen."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = (byte for byte in range(256) if byte not in visible)
    return {chr(byte): byte for byte in visible} | {chr(256 + i): byte for i, byte in enumerate(hidden)}


BYTES = byte_characters()


def field(reader, name, default=None):
    """The value of a GGUF's field tokenizer.*; it must be there if there is no default."""
    if f"tokenizer.{name}" in reader.fields:
        return reader.fields[f"tokenizer.{name}"].contents()
    if default is None:
        raise ValueError(f"it has no field tokenizer.{name}")
    return default


def cuts_digits(reader):
    model = field(reader, "ggml.model")
    if model != "gpt2":
        raise ValueError(f"its tokenizer.ggml.model is {model!r}, but must be 'gpt2' (byte-level byte pairs)")
    pre = field(reader, "ggml.pre")
    if pre not in CUTS_DIGITS:
        raise ValueError(f"it cuts texts by tokenizer.ggml.pre {pre!r}, but must by one of {', '.join(CUTS_DIGITS)}")
    if field(reader, "ggml.add_space_prefix", False):
        raise ValueError("its tokenizer.ggml.add_space_prefix is true, but must be false")
    return CUTS_DIGITS[pre]


def special(reader, name):
    """The token that begins ("bos") or ends ("eos") a text."""
    token, count = field(reader, f"ggml.{name}_token_id"), len(field(reader, "ggml.tokens"))
    if not 0 <= token < count:
        raise ValueError(f"its tokenizer.ggml.{name}_token_id is {token}, but it has {count} tokens")
    return token


def piece_bytes(token, text, kind):
    if kind not in KINDS:
        raise ValueError(f"token {token} is of type {kind}, but must be normal ({NORMAL}) or control ({CONTROL})")
    unknown = [] if kind == CONTROL else [character for character in text if character not in BYTES]
    if unknown:
        raise ValueError(f"token {token}, {text!r}, has {unknown[0]!r}, which stands for no byte")
    data = text.encode() if kind == CONTROL else bytes(BYTES[character] for character in text)
    if not 1 <= len(data) <= LONGEST_PIECE:
        raise ValueError(f"token {token} has {len(data)} bytes, but must have 1 to {LONGEST_PIECE}")
    return data


def pieces(reader):
    """The kind and the bytes of each token."""
    texts, kinds = field(reader, "ggml.tokens"), field(reader, "ggml.token_type")
    if len(texts) != len(kinds):
        raise ValueError(f"it has {len(texts)} tokens, but {len(kinds)} types of them")
    if len(set(texts)) != len(texts):
        raise ValueError(f"it has {len(texts)} tokens, but only {len(set(texts))} of them differ")
    return [(KINDS.get(kind), piece_bytes(i, text, kind)) for i, (text, kind) in enumerate(zip(texts, kinds))]


def merges(reader):
    """The pairs of ids, the first rank first."""
    ids = {text: i for i, text in enumerate(field(reader, "ggml.tokens"))}
    for rank, merge in enumerate(field(reader, "ggml.merges")):
        parts = merge.split(" ")
        if len(parts) != 2 or "".join(parts) not in ids or not all(part in ids for part in parts):
            raise ValueError(f"merge {rank}, {merge!r}, is not of two tokens that make a third")
        yield ids[parts[0]], ids[parts[1]]


def is_letter(code):
    return unicodedata.category(chr(code))[0] == "L"


def is_number(code):
    return unicodedata.category(chr(code))[0] == "N"


def is_space(code):
    return code in WHITE_SPACE or unicodedata.category(chr(code))[0] == "Z"


def ranges(belongs):
    """The characters of a class, as (first, last) of each run of neighbours."""
    result = []
    for code in filter(belongs, range(CODE_POINTS)):
        if result and result[-1][1] == code - 1:
            result[-1] = (result[-1][0], code)
        else:
            result.append((code, code))
    return result


def chat_form(reader):
    """A function from a user's message to the model's own form of a chat, up to its answer; None without a template."""
    if "tokenizer.chat_template" not in reader.fields:
        return None
    from jinja2 import TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment  # a template comes with the model: it is not trusted

    texts = field(reader, "ggml.tokens")
    specials = {f"{name}_token": texts[special(reader, name)] for name in ("bos", "eos")}
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)

    def rendered(message):
        messages = [{"role": "user", "content": message}]
        try:
            return template.render(messages=messages, add_generation_prompt=True, **specials)
        except TemplateError as error:
            raise ValueError(f"its tokenizer.chat_template cannot be rendered: {error}") from error

    try:
        template = environment.from_string(field(reader, "chat_template"))
    except TemplateError as error:
        raise ValueError(f"its tokenizer.chat_template is no template: {error}") from error
    return rendered


def chat(reader):
    """The text before and after a user's message, or nothing."""
    form = chat_form(reader)
    if form is None:
        return []
    parts = form(PLACEHOLDER).split(PLACEHOLDER)
    if len(parts) != 2:
        raise ValueError("its tokenizer.chat_template does not give a user's message once")
    return [part.encode() for part in parts]


def contents(reader):
    """The parts of the file."""
    digits = cuts_digits(reader)
    known, pairs, form = pieces(reader), list(merges(reader)), chat(reader)
    begin, end = special(reader, "bos"), special(reader, "eos")
    begins = bool(field(reader, "ggml.add_bos_token", False))
    yield b"SPTK" + struct.pack("<5i", VERSION, len(known), len(pairs), begin, end)
    yield struct.pack("<3B", begins, digits, bool(form))
    for kind, text in known:
        yield struct.pack("<BH", kind, len(text)) + text
    for pair in pairs:
        yield struct.pack("<2i", *pair)
    for belongs in (is_letter, is_number, is_space):
        found = ranges(belongs)
        yield struct.pack("<i", len(found)) + b"".join(struct.pack("<2i", *each) for each in found)
    for text in form:
        yield struct.pack("<i", len(text)) + text


def export_tokenizer(reader, path):
    """Writes the tokenizer of a GGUFReader's model to a file. Raises ValueError if it is of another kind."""
    parts = list(contents(reader))  # nothing is written if something is wrong
    with open(path, "wb") as out:
        out.writelines(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a GGUF file")
    parser.add_argument("out", help="the tokenizer's file to write")
    options = parser.parse_args()
    try:
        export_tokenizer(GGUFReader(options.model), options.out)
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"{options.model}: {error}")


if __name__ == "__main__":
    main()
