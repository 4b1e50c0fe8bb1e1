"""examples/models/convert.py on a small model of every kind of weight; skipped where gguf or numpy is missing."""

import pathlib
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

MODELS = pathlib.Path(__file__).parents[2] / "examples" / "models"
sys.path.insert(0, str(MODELS))
try:
    import gguf
    import numpy as np

    gguf.ReaderField.contents  # what convert.py needs
except (ImportError, AttributeError) as error:
    print(f"skipped: {error}")
    sys.exit(77)

import convert
import reference
import spqg
from gguf import GGMLQuantizationType as Kind

DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCAB, CONTEXT = 128, 96, 2, 4, 2, 40, 3000
KV_DIM = KV_HEADS * (DIM // HEADS)
KINDS = {
    "token_embd": Kind.Q8_0, "attn_q": Kind.Q4_1, "attn_k": Kind.Q4_1, "attn_v": Kind.Q4_1, "attn_output": Kind.F32,
    "ffn_gate": Kind.Q4_0, "ffn_up": Kind.Q4_1, "ffn_down": Kind.Q8_0, "output": Kind.F16,
}  # fmt: skip
METADATA = {
    "embedding_length": DIM, "feed_forward_length": HIDDEN, "block_count": LAYERS, "attention.head_count": HEADS,
    "attention.head_count_kv": KV_HEADS, "context_length": CONTEXT, "rope.freq_base": 5000.0,
    "attention.layer_norm_rms_epsilon": 1e-6, "rope.dimension_count": DIM // HEADS, "vocab_size": VOCAB,
}  # fmt: skip


def shapes():
    """GGUF's names of the tensors, and their rows and columns."""
    yield "token_embd.weight", (VOCAB, DIM)
    for layer in range(LAYERS):
        for name, *shape in (
            ("attn_norm", DIM), ("attn_q", DIM, DIM), ("attn_k", KV_DIM, DIM), ("attn_v", KV_DIM, DIM),
            ("attn_output", DIM, DIM), ("ffn_norm", DIM), ("ffn_gate", HIDDEN, DIM), ("ffn_up", HIDDEN, DIM),
            ("ffn_down", DIM, HIDDEN),
        ):  # fmt: skip
            yield f"blk.{layer}.{name}.weight", tuple(shape)
    yield "output_norm.weight", (DIM,)
    yield "output.weight", (VOCAB, DIM)


def random_tensors():
    generator = np.random.default_rng(1)
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes()}


def write_gguf(path, tensors, kinds=KINDS, metadata=METADATA, architecture="llama"):
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in metadata.items():
        {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string, list: writer.add_array}[
            type(value)](f"llama.{key}", value)  # fmt: skip
    for name, values in tensors.items():
        kind = kinds.get(name.split(".")[-2], Kind.F32) if values.ndim > 1 else Kind.F32
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Conversion(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.gguf, self.spqg = self.scratch / "model.gguf", self.scratch / "weights.spqg"

    def convert(self, *arguments, tensors=None, context=None, at_least_8=False, **keywords):
        """The converted header and weights, and those of the GGUF by GGUF's names."""
        write_gguf(self.gguf, random_tensors() if tensors is None else tensors, **keywords)
        reader = gguf.GGUFReader(self.gguf)
        convert.write_weights(self.spqg, *convert.plan(reader, context), at_least_8)
        return (*spqg.read_spqg(self.spqg), {each.name: convert.floats(each) for each in reader.tensors})

    def equal(self, weights, name, *parts):
        np.testing.assert_array_equal(weights[name], np.concatenate(parts))

    def near(self, weights, name, *parts):
        """Half a step of 8 bits, and what float16 takes off the step."""
        groups = np.concatenate(parts).reshape(-1, 32)
        bound = np.abs(groups).max(axis=1, keepdims=True) * (0.5 / 127 + 2.0**-11)
        self.assertTrue((np.abs(weights[name].reshape(-1, 32) - groups) <= bound).all(), name)

    def bits(self, offset):
        return struct.unpack_from("<i", self.spqg.read_bytes(), offset)[0]

    def test_weights_keep_their_values(self):
        config, weights, source = self.convert()
        self.equal(weights, "embedding", source["token_embd.weight"])
        self.equal(weights, "final_norm", source["output_norm.weight"])
        self.near(weights, "classifier", source["output.weight"])
        for layer in range(LAYERS):
            part = {name.split(".")[2]: each for name, each in source.items() if name.startswith(f"blk.{layer}.")}
            self.equal(weights, f"{layer}.attention_norm", part["attn_norm"])
            self.equal(weights, f"{layer}.query_key_value", part["attn_q"], part["attn_k"], part["attn_v"])
            self.near(weights, f"{layer}.attention_output", part["attn_output"])
            self.equal(weights, f"{layer}.feed_forward_norm", part["ffn_norm"])
            self.equal(weights, f"{layer}.gate_up", part["ffn_gate"], part["ffn_up"])
            self.equal(weights, f"{layer}.down", part["ffn_down"])
        self.assertEqual(len(weights), 2 + 6 * LAYERS + 1)

    def test_header(self):
        self.convert()
        values = struct.unpack_from("<4s8i2fi", self.spqg.read_bytes())
        self.assertEqual(values[:9], (b"SPQG", 1, DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCAB, 2048))
        self.assertEqual(values[9:], (np.float32(1e-6), 5000.0, 0))
        tensors = random_tensors()
        del tensors["output.weight"]
        metadata = {key: value for key, value in METADATA.items() if key != "rope.freq_base"}
        config, weights, _ = self.convert(tensors=tensors, metadata=metadata, context=CONTEXT)
        self.assertEqual((config["tied"], config["context"], config["rope_theta"]), (1, CONTEXT, 10000.0))
        self.assertNotIn("classifier", weights)

    def test_bytes_of_matrices(self):
        _, _, source = self.convert()
        data, at = self.spqg.read_bytes(), 48
        groups = DIM // 32
        self.assertEqual(self.bits(at), 8)  # the embedding: codes by row, then scales by row
        scale = at + 4 + VOCAB * DIM + 2 * (3 * groups + 1)
        code = at + 4 + 3 * DIM + 33
        value = struct.unpack_from("<e", data, scale)[0] * struct.unpack_from("<b", data, code)[0]
        self.assertEqual(np.float32(value), source["token_embd.weight"][3, 33])
        at += 4 + VOCAB * (DIM + 2 * groups) + 4 * DIM
        rows = DIM + 2 * KV_DIM
        self.assertEqual(self.bits(at), 4)  # query, key, value: pairs of codes, then scales, then minimums
        scale = at + 4 + rows * DIM // 2 + 2 * (5 * groups + 2)
        pair = data[at + 4 + (5 * DIM + 70) // 2]
        numbers = [struct.unpack_from("<e", data, each)[0] for each in (scale, scale + 2 * rows * groups)]
        expected = source["blk.0.attn_q.weight"][5, 70:72]
        found = [np.float32(numbers[0] * code + numbers[1]) for code in (pair & 15, pair >> 4)]
        self.assertEqual(found, list(expected))

    def test_bits_8(self):
        _, weights, source = self.convert(at_least_8=True)
        self.equal(weights, "embedding", source["token_embd.weight"])
        self.near(weights, "1.query_key_value", *(source[f"blk.1.attn_{part}.weight"] for part in "qkv"))
        self.assertEqual(self.bits(48 + 4 + VOCAB * (DIM + DIM // 16) + 4 * DIM), 8)

    def test_parts_of_different_kinds_have_8_bits(self):
        _, weights, source = self.convert(kinds={**KINDS, "attn_v": Kind.Q8_0})
        queries, keys, values = (source[f"blk.0.attn_{part}.weight"] for part in "qkv")
        self.near(weights, "0.query_key_value", queries, keys, values)
        np.testing.assert_array_equal(weights["0.query_key_value"][-KV_DIM:], values)

    def test_rounding_to_8_bits(self):
        tensors = random_tensors()
        groups = tensors["blk.0.attn_output.weight"].reshape(-1, 32)
        groups[0] = 0
        groups[1] = np.linspace(-127, 127, 32).round() / 64  # on the steps
        groups[2] = 1e-9  # below what float16 holds
        _, weights, source = self.convert(tensors=tensors)
        rounded = weights["0.attention_output"].reshape(-1, 32)
        np.testing.assert_array_equal(rounded[:2], groups[:2])
        np.testing.assert_array_equal(rounded[2], np.zeros(32))

    def refuses(self, expected, **keywords):
        self.gguf.unlink(missing_ok=True)
        with self.assertRaisesRegex(convert.Unsupported, expected):
            self.convert(**keywords)

    def test_refuses_other_metadata(self):
        self.refuses("has the architecture 'qwen2', but it must be 'llama'", architecture="qwen2")
        for expected, key, value in (
            ("llama.rope.scaling.type = 'linear', but the engine runs plain Llama", "rope.scaling.type", "linear"),
            ("llama.expert_count = 8, but the engine runs plain Llama", "expert_count", 8),
            ("llama.attention.sliding_window = 64, but", "attention.sliding_window", 64),
            ("llama.attention.head_count = .4, 4., but it must be one number", "attention.head_count", [4, 4]),
            ("llama.block_count = 0, but it must be in", "block_count", 0),
            ("has 5 heads on 128 columns", "attention.head_count", 5),
            ("has 128 heads on 128 columns", "attention.head_count", 128),
            ("with 3 heads of keys", "attention.head_count_kv", 3),
            ("key_length = 64, but it must be the columns over the heads, 32", "attention.key_length", 64),
            ("rope.dimension_count = 16, but it must be", "rope.dimension_count", 16),
            ("of 128 and 80 columns, but both must be multiples of 32", "feed_forward_length", 80),
            ("has token_embd.weight of .40, 128., but its sizes must be .40, 256.", "embedding_length", 256),
            ("has no tensor blk.2.attn_norm.weight", "block_count", 3),
            ("has a tensor blk.1.attn_k.weight, but the engine runs plain Llama", "block_count", 1),
        ):
            metadata = {**METADATA, "rope.dimension_count": 256 // 4} if key == "embedding_length" else {**METADATA}
            if key.startswith("attention.head_count"):
                del metadata["rope.dimension_count"]
            self.refuses(expected, metadata={**metadata, key: value})
        self.refuses("has no llama.context_length", metadata={k: v for k, v in METADATA.items() if k[:3] != "con"})
        self.refuses("--context must be in .1, 3000., but is 3001", context=3001)
        self.assertFalse(self.spqg.exists())

    def test_takes_metadata_that_changes_nothing(self):
        more = {"rope.scaling.type": "none", "rope.scaling.factor": 1.0, "expert_count": 0, "attention.key_length": 32}
        self.convert(metadata={**METADATA, **more})

    def test_refuses_other_tensors(self):
        def changed(name, value):
            return {key: each for key, each in {**random_tensors(), name: value}.items() if each is not None}

        vector = np.ones(DIM, np.float32)
        self.refuses("has a tensor blk.0.attn_q.bias, but", tensors=changed("blk.0.attn_q.bias", vector))
        self.refuses("has a tensor rope_freqs.weight, but", tensors=changed("rope_freqs.weight", vector))
        self.refuses("has no tensor token_embd.weight", tensors=changed("token_embd.weight", None))
        self.refuses("has no tensor blk.1.ffn_up.weight", tensors=changed("blk.1.ffn_up.weight", None))
        wide = np.ones((HIDDEN, 2 * DIM), np.float32)
        self.refuses("blk.0.ffn_up.weight of .96, 256., but its sizes must be .96, 128.",
                     tensors=changed("blk.0.ffn_up.weight", wide))  # fmt: skip
        for value in (np.nan, np.inf, 1e9):
            bad = random_tensors()["blk.0.attn_output.weight"]
            bad[1, 2] = value
            self.refuses("weights in blk.0.attn_output.weight that are not finite, or too large",
                         tensors=changed("blk.0.attn_output.weight", bad))  # fmt: skip

    def test_file_that_is_damaged_is_not_read_back(self):
        self.convert()
        data = self.spqg.read_bytes()
        for bad, expected in (
            (b"", "ends 48 bytes"), (b"SPQ8" + data[4:], "no file of weights in groups"), (data[:-1], "ends 1 bytes"),
            (data + b"x", "has 1 bytes after"), (data[:48] + b"\5" + data[49:], "a matrix of 5 bits"),
        ):  # fmt: skip
            self.spqg.write_bytes(bad)
            with self.assertRaisesRegex(ValueError, expected):
                spqg.read_spqg(self.spqg)

    def test_reference_looks_at_no_later_token(self):
        config, weights, _ = self.convert()
        model = reference.Reference(config, weights)
        logits, shorter = model.logits([3, 1, 4, 1, 5]), model.logits([3, 1, 4])
        self.assertEqual((logits.shape, logits.dtype), ((5, VOCAB), np.float32))
        np.testing.assert_allclose(logits[:3], shorter, rtol=1e-4, atol=1e-4)
        self.assertGreater(np.abs(logits[1] - logits[3]).max(), 0.1)  # the same token at two places


class Program(unittest.TestCase):
    """The command, with another module for the tokenizer."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        for name in ("convert.py", "spqg.py"):
            shutil.copy(MODELS / name, self.scratch)
        self.export("open(path, 'wb').write(b'SPTK')")
        self.gguf, self.out = self.scratch / "model.gguf", self.scratch / "out"

    def export(self, body):
        (self.scratch / "export_tokenizer.py").write_text(f"def export_tokenizer(reader, path):\n    {body}\n")

    def run_it(self, *arguments, largest=resource.RLIM_INFINITY):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))

        command = [sys.executable, "-B", self.scratch / "convert.py", self.gguf, self.out, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, preexec_fn=limit)

    def fails(self, expected, *arguments, **keywords):
        ended = self.run_it(*arguments, **keywords)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""), ended.stderr)
        self.assertRegex(ended.stderr.splitlines()[-1], f"^convert.py: .*{expected}")
        self.assertNotIn("Traceback", ended.stderr)
        self.assertEqual(list(self.out.iterdir()) if self.out.exists() else [], [])

    def test_writes_both_files(self):
        write_gguf(self.gguf, random_tensors())
        ended = self.run_it("--context", "50")
        self.assertEqual((ended.returncode, ended.stdout), (0, ""), ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 2, ended.stderr)
        self.assertEqual(sorted(each.name for each in self.out.iterdir()), ["tokenizer.sptk", "weights.spqg"])
        self.assertEqual(spqg.read_spqg(self.out / "weights.spqg")[0]["context"], 50)

    def test_says_what_is_wrong(self):
        self.fails("model.gguf cannot be read: No such file")
        self.gguf.write_bytes(b"")
        self.fails("model.gguf is no GGUF file, or not all of it")
        write_gguf(self.gguf, random_tensors())
        data = self.gguf.read_bytes()
        for size in (3, 20, 200, len(data) // 2, len(data) - 100):
            self.gguf.write_bytes(data[:size])
            self.fails("model.gguf is no GGUF file, or not all of it")
        write_gguf(self.gguf, random_tensors(), architecture="bert")
        self.fails("model.gguf has the architecture 'bert'")

    def test_leaves_nothing_half_made(self):
        write_gguf(self.gguf, random_tensors())
        self.fails("out cannot be written: File too large; nothing new was left there", largest=100_000)
        self.export("raise ValueError('it has no tokenizer')")
        self.fails("model.gguf: it has no tokenizer")
        bad = {**random_tensors(), "output.weight": np.full((VOCAB, DIM), np.nan, np.float32)}
        write_gguf(self.gguf, bad)
        self.export("open(path, 'wb').write(b'SPTK')")
        self.fails("model.gguf has weights in output.weight that are not finite")


if __name__ == "__main__":
    unittest.main()
