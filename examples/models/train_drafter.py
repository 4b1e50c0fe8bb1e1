#!/usr/bin/env python3
"""Train a drafter for a model of your own: one block that continues the model's states, as in EAGLE (drafter/head.py).

    train_drafter.py --target MODEL.gguf --work FOLDER --out drafter.spqd [--tokens 1e6] [--minutes 60]

The model first writes the texts that the drafter learns from (write_texts, built on the first run), then the drafter is
trained on them. Both go on where an earlier run with the same folder stopped. Needs torch, gguf, tokenizers, jinja2 and
numpy from PyPI. Prints the acceptance on texts that it was not trained on, and what it would save.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True, help="a GGUF of a Llama-shaped model")
    parser.add_argument("--work", required=True, type=pathlib.Path, help="folder for texts and checkpoints")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="the drafter, for generate --drafter")
    parser.add_argument("--start", type=pathlib.Path, help="an earlier drafter of the same target to go on from")
    parser.add_argument("--texts", nargs="*", help="real text and Python code to begin with (Python's own library)")
    parser.add_argument("--tokens", type=float, default=1e6, help="tokens that the model writes (1e6)")
    parser.add_argument("--length", type=int, default=384, help="tokens of a text, up to 240 of them a prompt (384)")
    parser.add_argument("--minutes", type=float, default=60, help="of training in this run (60)")
    parser.add_argument("--epochs", type=float, default=4, help="times that every text is seen in all (4)")
    parser.add_argument("--ids", type=int, default=2048,
                        help="most frequent ids that can be drafted behind every text, beside the text's own (2048)")
    parser.add_argument("--batch", type=int, default=12, help="texts per step (12)")
    parser.add_argument("--rate", type=float, default=2e-3, help="highest learning rate (2e-3)")
    parser.add_argument("--chain", type=int, default=3,
                        help="depth of the drafts that are trained, with weights of 4 bits, in the last third of a first run "
                             "and in all of later ones (3)")
    parser.add_argument("--rejected", type=float, default=3,
                        help="there, too: weight of the probability that a drafted token is rejected, beside the cross "
                             "entropy (3)")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writer", help="path of write_texts, if it is built")
    return parser.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def tokenizer_of(reader):
    """Functions from a text to ids, in which special tokens are found, and back; the text before and after a message."""
    from check_tokenizer import reference
    from export_tokenizer import chat
    tokenizer, _ = reference(reader)
    before, behind = [part.decode() for part in chat(reader)] or (None, None)
    return lambda text: tokenizer.encode(text).ids, tokenizer.decode, (before, behind)


def write(options, folder, reader):
    """Lets the model write until there are enough tokens. Returns the files; the first is never trained on. From the
    second on, its own answers are among what it is asked to change."""
    from drafter.prompts import Requests, Texts
    from drafter.texts import read_texts
    from programs import built
    options.work.mkdir(parents=True, exist_ok=True)
    writer, shard = options.writer, 0
    texts = Texts(options.texts)
    encode, decode, chat = tokenizer_of(reader)
    files = []
    per_shard = 600
    while not files or sum(f.stat().st_size for f in files[1:]) < options.tokens * bytes_per_token(options.work):
        file = options.work / f"texts_{shard}.bin"
        if not file.exists():
            writer = writer or built("write_texts")[0]
            requests = Requests(texts, encode, chat, f"{options.seed}/{shard}")
            lines = options.work / "requests.txt"
            lines.write_text("".join(requests.line() + "\n" for _ in range(per_shard if shard else 64)))
            part = file.with_suffix(".part")
            command = [writer, "--target", folder / "weights.spqg", "--requests", lines, "--out", part, "--length",
                       str(options.length), "--end", str(reader.fields["tokenizer.ggml.eos_token_id"].contents()),
                       "--threads", str(options.threads), "--seed", str(shard)]
            if subprocess.run([str(c) for c in command]).returncode != 0:
                raise SystemExit("write_texts failed; see above")
            part.rename(file)
        if shard > 0:
            for tokens, prompt, *_ in read_texts(file):
                texts.add_answer(decode(tokens[prompt:].tolist()))
        files.append(file)
        shard += 1
    return files


def bytes_per_token(work):
    import numpy
    head = numpy.fromfile(work / "texts_0.bin", numpy.int32, 2) if (work / "texts_0.bin").exists() else (3 * 576, 32)
    return 4 + 2 * int(head[0]) + 6 * int(head[1])


def faster_type():
    """bfloat16 or float32: not every processor has instructions for the first."""
    import torch
    seconds = {}
    for kind in (torch.bfloat16, torch.float32):
        x = torch.ones(1024, 1024, dtype=kind)
        x @ x  # the first product of a type takes longer
        start = time.perf_counter()
        x @ x
        seconds[kind] = time.perf_counter() - start
    return min(seconds, key=seconds.get)


class Trainer:
    def __init__(self, options, config, embedding, classifier, files):
        import torch
        from drafter.file import read_drafter
        from drafter.head import Head
        from drafter.muon import Muon
        from drafter.texts import Texts
        self.torch, self.options = torch, options
        torch.set_num_threads(options.threads)
        torch.manual_seed(options.seed)
        self.type = faster_type()
        self.held_out, self.texts = Texts(files[:1]), Texts(files[1:])
        width = self.texts.texts[0][3].shape[1]
        if width != 3 * config["dim"]:
            raise ValueError(f"the texts in {options.work} have states of {width} numbers, but must have "
                             f"{3 * config['dim']}: give another --work")
        if not 1 <= options.batch <= len(self.texts.texts):
            raise ValueError(f"--batch is {options.batch}, but must be 1 to {len(self.texts.texts)}, the number of texts")
        self.file = options.work / "checkpoint.pt"
        saved = torch.load(self.file) if self.file.exists() else None
        new, old = self.texts.frequencies(config["vocab"])
        parts = read_drafter(options.start, config)[1] if options.start else {}
        ids = saved["ids"][:options.ids] if saved else new.topk(options.ids).indices
        self.head = Head(config, embedding, ids)
        self.head.load_state_dict(parts, strict=False)
        self.places = torch.full((config["vocab"],), -1)
        self.places[ids] = torch.arange(len(ids))
        self.rows = classifier
        self.classifier = classifier[ids].to(self.type)
        parameters = list(self.head.parameters())
        self.optimisers = [Muon([p for p in parameters if p.dim() > 1], options.rate, self.type),
                           torch.optim.AdamW([p for p in parameters if p.dim() == 1], options.rate / 2,
                                             betas=(.9, .95), weight_decay=0)]
        self.rates = [optimiser.param_groups[0]["lr"] for optimiser in self.optimisers]
        self.seen, self.batches, self.curve = 0, [], []
        if saved:
            self.head.load_state_dict(saved["head"])
            for optimiser, state in zip(self.optimisers, saved["optimisers"]):
                optimiser.load_state_dict(state)
            self.seen, self.curve = saved["seen"], saved["curve"]
        self.goes_on = bool(saved or parts)
        self.total = options.epochs * self.texts.tokens
        say(f"{len(self.texts.texts)} texts of {self.texts.tokens} tokens; the {len(ids)} ids and "
            f"those of the text hold {float((new[ids].sum() + old.sum()) / (new.sum() + old.sum())):.4f} of the probability; "
            f"{sum(p.numel() for p in parameters)} weights; {self.seen} tokens seen before")

    def save(self):
        part = self.file.with_suffix(".part")
        self.torch.save({"head": self.head.state_dict(), "ids": self.head.ids, "seen": self.seen, "curve": self.curve,
                         "optimisers": [optimiser.state_dict() for optimiser in self.optimisers]}, part)
        part.rename(self.file)

    def draftable(self, tokens):
        """Ids that are draftable behind these tokens beside the head's, the places of all, and rows of the classifier."""
        more = tokens.unique()
        more = more[self.places[more] < 0]
        places = self.places.clone()
        places[more] = self.torch.arange(len(more)) + len(self.head.ids)
        return more, places, self.torch.cat([self.classifier, self.rows[more].to(self.type)])

    def loss(self, batch, depth, rejected):
        from drafter.loss import Distance
        torch = self.torch
        tokens, states, ids, weights, mask = batch
        _, places, classifier = self.draftable(tokens)
        places = places[ids[:, 1:]]
        weights = weights[:, 1:] * (places >= 0)
        places = places.clamp(min=0)
        total = 0
        begin = max(0, int(mask[:, 1:].any(0).nonzero()[0]) - depth)
        for j, drafted in enumerate(self.drafts(states, tokens, depth, begin)):
            valid = mask[:, 1 + begin:].clone()
            valid[:, :j] = False
            total = total + Distance.apply(drafted[valid].float(), classifier, places[:, begin:][valid],
                                           weights[:, begin:][valid], rejected) * .8 ** j
        return total / sum(.8 ** j for j in range(depth))

    def drafts(self, states, tokens, depth, begin=0):
        with self.torch.autocast("cpu", self.torch.bfloat16, enabled=self.type == self.torch.bfloat16):
            return self.head.drafts(states[:, :-1], tokens[:, 1:], depth, begin)

    def train(self):
        """Trains until the time or the tokens of this run are used up. Its rates rise, stay and fall within it."""
        torch, options = self.torch, self.options
        start = saved = shown = time.time()
        before = self.seen
        while self.seen < self.total and time.time() - start < 60 * options.minutes:
            done = max((self.seen - before) / (self.total - before), (time.time() - start) / 60 / options.minutes)
            share = min(1, (self.seen - before + 1) / 5e4) * max(.03, min(1, (1 - done) / .7))
            for optimiser, rate in zip(self.optimisers, self.rates):
                optimiser.param_groups[0]["lr"] = share * rate
            if not self.batches:
                self.batches = self.texts.batches(options.batch)
            batch = self.texts.batch(self.batches.pop())
            drafts = self.head.rounds = self.goes_on or done > .65
            loss = self.loss(batch, *((options.chain, options.rejected) if drafts else (1, 0)))
            self.head.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.head.parameters(), 1.)
            for optimiser in self.optimisers:
                optimiser.step()
            self.seen += int(batch[4].sum())
            if time.time() - shown > 20:
                shown = time.time()
                left = (shown - start) / 60 * (1 / done - 1)
                say(f"{self.seen} of {self.total:.0f} tokens, loss {loss.item():.3f}, {left:.0f} min left at this rate")
            if time.time() - saved > 300:
                saved = time.time()
                self.curve.append((self.seen, self.measure()))
                say(f"held out: {describe(self.curve[-1][1])}")
                self.save()
        self.curve.append((self.seen, self.measure()))
        self.save()

    def measure(self, depth=4):
        """Held-out acceptance of each drafted token, given that those before it were accepted: (greedy, sampled)."""
        torch = self.torch
        self.head.rounds = True
        greedy, sampled = torch.zeros(depth, 2), torch.zeros(depth, 2)
        with torch.inference_mode():
            for i in range(len(self.held_out.texts)):
                _, prompt, temperature, *_ = self.held_out.texts[i]
                tokens, states, ids, weights, mask = self.held_out.batch([i])
                more, places, classifier = self.draftable(tokens)
                drafts = [(g[0].to(self.type) @ classifier.t()).float() for g in self.drafts(states, tokens, depth)]
                first = (tokens[0, :, None] == more).int().argmax(0)  # where these ids occur
                for j, logits in enumerate(drafts):  # the round began behind token i + 1 - j
                    begin = torch.arange(len(logits))[:, None] + 1 - j
                    logits[:, len(self.head.ids):].masked_fill_(first > begin, -torch.inf)
                all_ids = torch.cat([self.head.ids, more])
                best = torch.stack([all_ids[d.argmax(-1)] for d in drafts])  # [depth, T - 1]: of token i + 2
                right = best[:, :-1] == tokens[0, 2:]
                alive = torch.ones(right.shape[1], dtype=torch.bool)
                alive[:max(prompt - 1, 0)] = False
                for j in range(depth):
                    # The draft that began j positions earlier, at its step j.
                    here = torch.zeros_like(alive)
                    here[j:] = alive[j:]
                    if temperature == 0:
                        greedy[j] += torch.tensor([(right[j] & here).sum(), here.sum()])
                    else:
                        at = places[ids[0, 1:]]
                        w = weights[0, 1:] * (at >= 0)
                        q = drafts[j].softmax(-1).gather(-1, at.clamp(min=0))
                        sampled[j] += torch.tensor([(torch.minimum(q, w).sum(-1)[:-1] * here).sum(), here.sum()])
                    # The next step is reached where this step's own draft, and all before it, were right.
                    step = (right[j] & here) if temperature == 0 else here
                    alive = torch.cat([torch.zeros(1, dtype=torch.bool), step[:-1]])
        return [(x[:, 0] / x[:, 1].clamp(min=1)).tolist() for x in (greedy, sampled)]


def describe(measured):
    greedy, sampled = (" ".join(f"{x:.3f}" for x in row) for row in measured)
    return f"acceptance by place, greedy {greedy}; at temperature 1 {sampled}"


def expected_tokens(acceptance):
    total, alive = 1.0, 1.0
    for a in acceptance:
        alive *= a
        total += alive
    return total


def main():
    options = arguments()
    try:
        import torch
        from gguf import GGUFReader
        from drafter.file import write_drafter
        from spqg import read_spqg
    except ImportError as error:
        raise SystemExit(f"{error.name} is missing: python3 -m pip install torch gguf tokenizers jinja2 numpy")
    if not pathlib.Path(options.target).is_file():
        raise SystemExit(f"--target: there is no file {options.target}")
    folder = options.work / "target"
    if not (folder / "weights.spqg").exists():
        if subprocess.run([sys.executable, HERE / "convert.py", options.target, folder]).returncode != 0:
            raise SystemExit("the target cannot be converted; see above")
    files = write(options, folder, GGUFReader(options.target))
    config, arrays = read_spqg(folder / "weights.spqg")
    embedding = torch.from_numpy(arrays["embedding"])
    classifier = embedding if config["tied"] else torch.from_numpy(arrays["classifier"])
    try:
        trainer = Trainer(options, config, embedding, classifier, files)
    except (OSError, ValueError) as error:  # of --start, --work or --batch
        raise SystemExit(f"train_drafter.py: {error}")
    trainer.train()
    for seen, measured in trainer.curve:
        print(f"{seen} tokens seen: {describe(measured)}")
    for name, acceptance in zip(("greedy", "temperature 1"), trainer.curve[-1][1]):
        best = max(range(1, 5), key=lambda k: expected_tokens(acceptance[:k]) / (1 + .05 * k + .07 * k))
        tokens = expected_tokens(acceptance[:best])
        print(f"{name}: {tokens:.2f} tokens per pass with {best} drafted; {tokens / (1 + .12 * best):.2f} times plain "
              "decoding where a further position costs .05 and a drafted token .07 of a pass")
    write_drafter(trainer.head, options.out)
    print(f"wrote {options.out} ({options.out.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
