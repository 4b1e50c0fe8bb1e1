"""The module of examples/python, where it is installed: its rounds, its arrays and its sentences."""
import itertools
import sys
import unittest

try:
    import numpy
    from specsample import draft_batch, verify_batch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

B, K, V = 40000, 2, 3
RULES = "token", "block", "sample", "gumbel"


def models(seed, vocab=V):
    """Rows that depend on the place alone."""
    generator = numpy.random.default_rng(seed)
    q, p = generator.random((K, vocab)) ** 2 + .05, generator.random((K + 1, vocab)) ** 2 + .05
    return q / q.sum(-1, keepdims=True), p / p.sum(-1, keepdims=True)


def drafted(q, **options):
    return numpy.stack([draft_batch(q[:, i], node=i, **options) for i in range(q.shape[1])], axis=1)


class Module(unittest.TestCase):
    def test_rounds_have_the_distribution_of_the_target(self):
        q, p = models(1)
        many_q, many_p = (numpy.broadcast_to(rows, (B, *rows.shape)).copy() for rows in (q, p))
        for rule in RULES:
            tokens = drafted(many_q, rule=rule, seed=3)
            emitted, accepted, faults = verify_batch(tokens, many_q, many_p, rule=rule, seed=3)
            self.assertEqual(set(faults), {None})
            generator = numpy.random.default_rng(5)
            for k in range(1, K + 1):  # rows depend on the place alone, so the rest is drawn without a look at the text
                rest = generator.choice(V, size=B, p=p[k])
                emitted[:, k] = numpy.where(emitted[:, k] < 0, rest, emitted[:, k])
            statistic = 0
            for text in itertools.product(range(V), repeat=K + 1):
                expected = B * numpy.prod([p[i, x] for i, x in enumerate(text)])
                statistic += ((emitted == text).all(axis=1).sum() - expected) ** 2 / expected
            self.assertLess(statistic, 76)  # 26 degrees of freedom: one false alarm in a million
            self.assertGreater(accepted.mean(), .3)

    def test_every_type_and_stride_is_read_where_it_lies(self):
        q, p = models(2, vocab=500)
        for scalar in (numpy.float64, numpy.float32, numpy.float16):
            given = [numpy.log(numpy.broadcast_to(rows, (8, *rows.shape))).astype(scalar) for rows in (q, p)]
            expected = verify_batch(drafted(given[0], temperature=.7), *given, temperature=.7)
            strided = [numpy.repeat(rows, 2, axis=-1)[..., ::2] for rows in given]
            found = verify_batch(drafted(strided[0], temperature=.7), *strided, temperature=.7)
            for one, other in zip(expected, found):
                self.assertTrue(numpy.array_equal(one, other))

    @unittest.skipUnless(torch, "torch is missing")
    def test_tensors_and_bfloat16(self):
        q, p = models(3, vocab=500)
        rows = [torch.tensor(r).log().repeat(8, 1, 1) for r in (q, p)]
        for scalar in (torch.float32, torch.float16, torch.bfloat16):
            given = [r.to(scalar) for r in rows]
            tokens = drafted(given[0], temperature=1)
            wide = [r.float() for r in given]
            self.assertTrue((tokens == drafted(wide[0], temperature=1)).all())
            for one, other in zip(verify_batch(tokens, *given, temperature=1), verify_batch(tokens, *wide, temperature=1)):
                self.assertTrue(numpy.array_equal(one, other))

    def test_a_request_is_the_same_in_any_batch(self):
        q, p = (numpy.broadcast_to(rows, (6, *rows.shape)).copy() for rows in models(4))
        whole = verify_batch(drafted(q, seed=9), q, p, seed=9)
        at = dict(seed=9, requests=[4, 2], starts=[0, 0])
        part = verify_batch(drafted(q[:2], **at), q[:2], p[:2], **at)
        self.assertTrue((part[0] == whole[0][[4, 2]]).all())
        tokens = [drafted(numpy.repeat(q[:1], 100, axis=0), requests=range(100), starts=[n] * 100) for n in (0, 7)]
        self.assertFalse((tokens[0] == tokens[1]).all())

    def test_named_tokens_and_stop_tokens(self):
        _, p = models(5)
        p = numpy.broadcast_to(p, (50, *p.shape)).copy()
        emitted, accepted, _ = verify_batch(numpy.zeros((50, K), numpy.int32), None, p, stop_tokens=[0])
        self.assertTrue(((emitted[:, 0] != 0) | (emitted[:, 1] == -1)).all())
        self.assertTrue((accepted > 0).any())

    def test_a_bad_row_is_a_sentence_and_leaves_the_others_alone(self):
        q, p = (numpy.broadcast_to(rows, (3, *rows.shape)).copy() for rows in models(6))
        tokens, good = drafted(q), verify_batch(drafted(q), q, p)
        p[1, 0] = numpy.nan
        emitted, _, faults = verify_batch(tokens, q, p)
        self.assertRegex(faults[1], "target row 0")
        self.assertTrue((emitted[1] == -1).all())
        self.assertEqual((faults[0], faults[2]), (None, None))
        self.assertTrue((emitted[[0, 2]] == good[0][[0, 2]]).all())

    def test_mistakes_get_a_sentence(self):
        q, p = (numpy.broadcast_to(rows, (3, *rows.shape)).copy() for rows in models(7))
        tokens = drafted(q)
        for sentence, call in {
                "rule is 'best', but must be": lambda: verify_batch(tokens, q, p, rule="best"),
                "the shape of targets is .3, 2, V.": lambda: verify_batch(tokens, q, q),
                "the shape of drafts is .3, 3, 3.": lambda: verify_batch(tokens, p, p),
                "the dtype of tokens is": lambda: verify_batch(tokens.astype(float), q, p),
                "the number of dimensions of tokens is 1": lambda: verify_batch(tokens[0], q, p),
                "an entry of tokens is 42949672": lambda: verify_batch(tokens.astype(numpy.int64) + 2**32, q, p),
                "the dtype of targets is": lambda: verify_batch(tokens, q, p.astype(numpy.int32)),
                "dimensions of targets is 1": lambda: verify_batch(tokens, q, p[0, 0]),
                "the length of requests is 2, but must be that of the batch, 3":
                    lambda: verify_batch(tokens, q, p, requests=[1, 2]),
                "an entry of starts is -1": lambda: verify_batch(tokens, q, p, starts=[0, 0, -1]),
                "temperature": lambda: verify_batch(tokens, q, p, temperature=float("inf")),
                "temperature is -1, but must be": lambda: verify_batch(tokens, q, p, temperature=-1),
                "node": lambda: draft_batch(q[:, 0], node=-1),
                "stride": lambda: verify_batch(tokens, q, p[..., ::-1]),
                "number of rows per request is 2": lambda: draft_batch(q, node=0)}.items():
            with self.assertRaisesRegex(ValueError, sentence):
                call()
        with self.assertRaises(TypeError):
            verify_batch(tokens, q, None)
        self.assertTrue((verify_batch(tokens.astype(numpy.int64), q, p)[0] == verify_batch(tokens, q, p)[0]).all())


unittest.main()
