#!/usr/bin/env python3
"""Compares the engine's tokenizer with PyPI's `tokenizers`, built from the same GGUF, on thousands of texts.

The texts are the same each time: mixed from words, code, many scripts, emoji, marks, white space of every kind, digits,
control characters and special tokens; random characters of every category; and what --text names, of a .jsonl.gz the
prompts. Each is encoded with special tokens as text, with special tokens found, and as a message in the model's form of
a chat. Build the program first: cmake --build build --target print_tokens.

Characters are drawn from what Python's unicodedata knows. `tokenizers` may know those of a later Unicode, and takes as
letters what the exported file takes as neither letter nor number.
"""

import argparse
import gzip
import json
import random
import struct
import subprocess
import sys
import unicodedata

from gguf import GGUFReader
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from export_tokenizer import CODE_POINTS, CONTROL, chat_form, cuts_digits, field

FRAGMENTS = """
a I the The hello Hello HELLO world WorLD don't DON'T we'll I've they're it's he'd I'm 's 't 're 've 'm 'll 'd 'x '
'' 'S rock'n'roll l'eau snake_case camelCase __init__ def return lambda x: (x) [0] {} {'a':1} == != <= -> => :: //
/* */ # ## $x && || %d %s \\n \\t \\0 "quoted" `code` <b> </b> <br/> http://example.org/a?b=c&d=1#e a@b.c ... .. . ,
; : ! ? ?! -- - ~ ^ | 0 1 12 123 1234 3.14 1,000 1e-5 0xFF 2nd 100% $5 ²³ ½ ⅷ Ⅻ ٣٤ ೫ 五 〇 ⑩ ꘩ 𝟘𝟙 café naïve Straße
ÅÄÖ İstanbul ǅ œuvre Привет мир Ελληνικά ϑ Հայերեն עברית שָׁלוֹם العربية مُحَمَّد فارسی हिन्दी क्षि বাংলা தமிழ்
తెలుగు ไทย ภาษาไทย ລາວ မြန်မာ ខ្មែរ ქართული አማርኛ 中文 漢字 日本語 ひらがな カタカナ ｶﾀｶﾅ 한국어 한국어 Tiếng Việt ᚠᚢᚦ 𐍈 𝒜𝔅 ﬁ ﬀ Ａ１ ª º ʰ ˈ
é ñ Z̷͓̈́a̸l̵g̶o̷ ⃝ 👍 😀 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 1️⃣ ☃️ ♥ ❤️ ✓ → ∑ √ ≤ ∞ € £ ¥ ₿ § © ® ™ « » „ “ ” ‘ ’ – — … • 、 。 「 」 ，
！ <|im_start <|im_start| im_end|> <| |> <repo_name <reponame > <<file_sep>> <|im_start|><|im_end|>
<|endoftext|><|endoftext|>
""".split()
BLANKS = [" ", "  ", "   ", "       ", "\n", "\n\n", "\n    ", "\n\t", "\t", "\t\t", " \n", "\r\n", *"\r\v\f\x85\xa0"]
BLANKS += [*"\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000"]
BLANKS += [*"\u200b\u200d\u2060\ufeff\u180e"]  # which are none, to Unicode
CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))]
ENDLESS = ["a", "ab", " ", "\n", "\t ", "1", ".", "é", "中", "'s", "<|im_end|>", "the "]


def texts_of(path):
    """A .jsonl.gz holds prompts; any other file is a text, once whole and then in pieces of odd sizes."""
    if path.endswith(".jsonl.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            return [json.loads(line)["prompt"] for line in lines]
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    return [text, *(text[i : i + 997] for i in range(0, len(text), 997))]


def characters():
    """Those that unicodedata knows, by category."""
    known = {}
    for code in range(CODE_POINTS):
        category = unicodedata.category(chr(code))
        if category not in ("Cn", "Cs"):  # unassigned, or half of a pair
            known.setdefault(category, []).append(chr(code))
    return known


def mixed(chance, parts, count):
    return "".join(chance.choice(chance.choice(parts)) for _ in range(count))


def generated(specials):
    chance = random.Random(7)
    known = characters()
    parts = [FRAGMENTS, FRAGMENTS, BLANKS, BLANKS, CONTROLS, list("0123456789"), specials]
    yield from ("", *FRAGMENTS, *BLANKS, *CONTROLS, *specials, *(" " + special + " " for special in specials))
    for _ in range(3000):
        yield mixed(chance, parts, chance.randint(2, 30))
    for _ in range(1500):
        yield mixed(chance, list(known.values()), chance.randint(1, 25))
    for category, members in known.items():
        for _ in range(40):
            yield mixed(chance, [members, members, BLANKS, ["a", "1", "!"]], chance.randint(2, 25))
    yield from (text * 5000 for text in ENDLESS)
    yield mixed(chance, parts, 30000)


def reference(reader):
    texts, kinds = field(reader, "ggml.tokens"), field(reader, "ggml.token_type")
    pairs = [tuple(merge.split(" ")) for merge in field(reader, "ggml.merges")]
    tokenizer = Tokenizer(models.BPE({text: i for i, text in enumerate(texts)}, pairs))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
    digits = pre_tokenizers.Digits(individual_digits=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, byte_level]) if cuts_digits(reader) else byte_level
    tokenizer.decoder = decoders.ByteLevel()
    specials = [text for text, kind in zip(texts, kinds) if kind == CONTROL]
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in specials])
    return tokenizer, specials


def expected(tokenizer, texts, way):
    tokenizer.encode_special_tokens = way == "plain"  # as text
    return [tokenizer.encode(text).ids for text in texts]


def printed(options, vocab, texts, way):
    data = [text.encode() for text in texts]
    command = [options.program, options.tokenizer_file, str(vocab), way]
    stdin = b"".join(struct.pack("<I", len(each)) + each for each in data)
    lines = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    return [[int(token) for token in line.split()] for line in lines]


def differences(options, tokenizer, texts, way, forms=None):
    """Compares the tokens of `texts`; those of `forms` are what tokenizers should make of them, where they differ."""
    wanted = expected(tokenizer, forms or texts, way)
    got = printed(options, tokenizer.get_vocab_size(), texts, way)
    if len(got) != len(texts):
        sys.exit(f"{options.program} printed the tokens of {len(got)} texts, but got {len(texts)}")
    wrong = [i for i in range(len(texts)) if wanted[i] != got[i]]
    for i in wrong[: options.show]:
        print(f"{way}: {texts[i][:200]!r}\n  tokenizers {wanted[i][:60]}\n  engine     {got[i][:60]}")
    print(f"{way}: {len(texts)} texts, {sum(map(len, wanted))} tokens, {len(wrong)} texts differ")
    return len(wrong)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--tokenizer-file", required=True, help="what export_tokenizer.py made of it")
    parser.add_argument("--program", required=True, help="print_tokens")
    parser.add_argument("--text", action="append", default=[], help="a file of text, or of prompts (.jsonl.gz)")
    parser.add_argument("--show", type=int, default=5, help="how many differences to print")
    return parser.parse_args()


def main():
    options = parse()
    reader = GGUFReader(options.model)
    tokenizer, specials = reference(reader)
    texts = [*generated(specials), *(text for path in options.text for text in texts_of(path))]
    wrong = differences(options, tokenizer, texts, "plain") + differences(options, tokenizer, texts, "specials")
    form = chat_form(reader)
    if form is not None:
        # A special token within a message is text for the engine alone.
        messages = [text for text in texts if len(text) < 5000 and not any(special in text for special in specials)]
        forms = [form(message) for message in messages]
        wrong += differences(options, tokenizer, messages, "chat", forms)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
