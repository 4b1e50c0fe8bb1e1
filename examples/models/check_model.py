#!/usr/bin/env python3
"""Check a converted model in the engine: its tokenizer against PyPI's tokenizers, its logits against an independent float32
forward of the same weights (reference.py), its greedy texts against llama.cpp's, and that its texts are the target's with
every drafter (speed, in turns with llama.cpp).

    check_model.py --gguf MODEL.gguf --folder FOLDER [--heads drafter.spqd] [--prompts HumanEval.jsonl]
                   [--llama-server "llama-server -m MODEL.gguf"] [-- more for speed]

FOLDER holds weights.spqg and tokenizer.sptk (smollm2.py prints it, convert.py makes them). Needs gguf, numpy, tokenizers and
jinja2 from PyPI. Ends with exit code 0 if all of it holds.
"""
import argparse
import contextlib
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy
from gguf import GGUFReader

from check_tokenizer import reference as reference_tokenizer
from drafter.texts import read_texts
from export_tokenizer import chat
from llama import LlamaServer
from programs import built
from reference import Reference
from spqg import read_spqg

HERE = pathlib.Path(__file__).resolve().parent
MESSAGES = ("Why is the sky blue?", "Write a Python function that reverses a list.", "Tell me a story about a fox.",
            "Write an email that thanks a colleague.", "Name three rivers in Europe and describe them.")
CODE = ("def fibonacci(n):\n", "import os\n\nclass Reader:\n    def __init__(self, path):\n", 
        "def is_prime(number):\n    \"\"\"", "for line in open(path):\n", "class Stack:\n    def push(self, item):\n", "def test_empty_list():\n    assert",
        "# Count the words of a text.\ndef count_words(text):\n", "try:\n    value = int(text)\nexcept")
PROSE = ("The old lighthouse had not been lit for years when", "Photosynthesis is the process by which",
         "In the garden behind the house there stood", "The three laws of motion are", "Once upon a time,",
         "The capital of France is", "My dear sir, I write to you because", "When the train stopped for the third time,",
         "A binary search tree is", "The weather tomorrow will be", "She closed the letter and")
# Activations of 8 bits cost about 0.003 nats on this measure; a wrong tensor, angle or norm costs more than 1.
MOST_NATS = 0.01
# Two engines that round activations, each in its way, choose different tokens only where the float32 forward finds both
# about as likely: nats between them.
MOST_MARGIN = 0.3


def chats(tokenizer, around):
    before, behind = (part.decode() for part in around) if around else ("", "")
    return [tokenizer.encode(before + message + behind).ids for message in MESSAGES]


def written(program, folder, prompts, end):
    """What the engine wrote greedily: its tokens, likeliest ids and their log-probabilities."""
    with tempfile.TemporaryDirectory() as work:
        requests, out = pathlib.Path(work) / "requests", pathlib.Path(work) / "out"
        requests.write_text("".join(f"0 ; {' '.join(map(str, prompt))}\n" for prompt in prompts))
        subprocess.run([program, "--target", folder / "weights.spqg", "--requests", requests, "--out", out, "--length",
                        "192", "--end", str(end)], check=True)
        return [[numpy.array(part) for part in (tokens, ids, logs)] for tokens, _, _, _, ids, logs in read_texts(out)]


def logits_hold(program, options, reader, tokenizer):
    model = Reference(*read_spqg(options.folder / "weights.spqg"))
    end = reader.fields["tokenizer.ggml.eos_token_id"].contents()
    nats, agree, margins, places = 0.0, 0, [], 0
    for tokens, ids, logs in written(program, options.folder, chats(tokenizer, chat(reader)), end):
        rows = model.logits(tokens).astype(numpy.float64)
        exact = rows - rows.max(-1, keepdims=True)
        exact -= numpy.log(numpy.exp(exact).sum(-1, keepdims=True))
        theirs = numpy.take_along_axis(exact, ids, -1)
        ours = logs.astype(numpy.float64)
        nats += (numpy.exp(theirs) * (theirs - ours)).sum()
        best = exact.argmax(-1)
        same = best == ids[:, 0]
        agree += same.sum()
        places += len(tokens)
        margins += list((exact.max(-1) - theirs[:, 0])[~same])  # by how much the engine's choice is behind there
    print(f"logits: {places} places, {nats / places:.5f} nats from the float32 forward on the 32 likeliest ids; the same "
          f"likeliest id in {agree / places:.4f} of the places, elsewhere behind by at most {max(margins, default=0):.3f}")
    return abs(nats / places) < MOST_NATS


def llama_agrees(program, options, reader, tokenizer, server):
    """Compares greedy texts with those of llama.cpp. Where two part, both tokens must be about as likely."""
    model = Reference(*read_spqg(options.folder / "weights.spqg"))
    end = reader.fields["tokenizer.ggml.eos_token_id"].contents()
    prompts = chats(tokenizer, chat(reader)) + [tokenizer.encode(text).ids for text in CODE + PROSE]
    texts = {tuple(text[0][:len(prompt)]): text for text in written(program, options.folder, prompts, end)
             for prompt in prompts if list(text[0][:len(prompt)]) == prompt}
    same, margins, seconds = 0, [], []
    for prompt in prompts:
        tokens = texts[tuple(prompt)][0]
        theirs, time = server.greedy(prompt, len(tokens) - len(prompt))
        seconds.append(time)
        theirs += [end] * (len(tokens) - len(prompt) - len(theirs))  # its answers leave out the token that ends them
        both = list(zip(tokens[len(prompt):].tolist(), theirs))
        place = next((i for i, (our, their) in enumerate(both) if our != their), None)
        if place is None:
            same += 1
            continue
        row = model.logits(tokens[:len(prompt) + place])[-1]
        margins.append(float(abs(row[both[place][0]] - row[both[place][1]])))
    print(f"llama.cpp: {same} of {len(prompts)} greedy texts are the same; the others part where the float32 forward finds "
          f"both tokens as likely to within {max(margins, default=0):.3f} nats; it writes {1 / numpy.median(seconds):.0f} "
          "tokens a second")
    return max(margins, default=0) < MOST_MARGIN


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gguf", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--heads")
    parser.add_argument("--prompts")
    parser.add_argument("--llama-server", help="its command with the model")
    parser.add_argument("rest", nargs="*", help="for speed, after --")
    options = parser.parse_args()
    printer, writer, speed = built("print_tokens", "write_texts", "speed")
    command = [sys.executable, HERE / "check_tokenizer.py", "--model", options.gguf, "--tokenizer-file",
               options.folder / "tokenizer.sptk", "--program", printer]
    good = subprocess.run(command).returncode == 0
    reader = GGUFReader(options.gguf)
    tokenizer = reference_tokenizer(reader)[0]
    good = logits_hold(writer, options, reader, tokenizer) and good
    command = [speed, "--target", options.folder / "weights.spqg", "--tokenizer", options.folder / "tokenizer.sptk"]
    command += ["--heads", options.heads] if options.heads else []
    command += ["--prompts", options.prompts] if options.prompts else []
    with contextlib.ExitStack() as servers:
        if options.llama_server:
            server = servers.enter_context(LlamaServer(options.llama_server, 2, 2048))
            good = llama_agrees(writer, options, reader, tokenizer, server) and good
            command += ["--other", shlex.join([sys.executable, str(HERE / "llama.py"), str(server.port)])]
        good = subprocess.run(command + options.rest).returncode == 0 and good
    print("all of it holds" if good else "NOT ALL OF IT HOLDS")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
