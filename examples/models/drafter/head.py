"""The drafter as PyTorch trains it: one Llama block that continues the target's states, in the manner of EAGLE.

With h_i the target's state after token i (its classifier's input), a_i and b_i its residual stream after a third and two
thirds of its layers, and e its embedding:

    x = F [norm(h_i); norm(e(token i + 1))] + M [norm(a_i); norm(b_i)]
    g_i = norm(block(x)),  logits of token i + 2 = E' g_i

where E' holds those rows of the target's classifier that belong to its most frequent ids and to those of the text so far:
rare words are mostly repeated ones. A draft goes on with g_i in the place of h_(i+1), and without M: what the middle layers
hold is known only where the target has been.

Li et al. 2024, "EAGLE: speculative sampling requires rethinking feature uncertainty", arXiv:2401.15077.
Li et al. 2025, "EAGLE-3: scaling up inference acceleration of large language models via training-time test",
arXiv:2503.01840: states of several layers.
"""
import torch
import torch.nn.functional as F

from drafter import four_bits

MATRICES = ("join", "middle", "query_key_value", "attention_output", "gate_up", "down")


def rms(x, weight, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def rotate(x, cosines, sines):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cosines - b * sines, a * sines + b * cosines), -1).flatten(-2)


class Head(torch.nn.Module):
    """`config` and `embedding` are the target's; `ids` are those that the head can draft behind every text. While `rounds`
    is true, its matrices are used as 4 bits have them."""

    def __init__(self, config, embedding, ids):
        super().__init__()
        self.config = c = config
        self.rounds = False
        self.size = c["dim"] // c["heads"]
        self.register_buffer("ids", ids, persistent=False)
        self.register_buffer("embedding", embedding, persistent=False)
        dim, hidden, kv = c["dim"], c["hidden"], c["kv_heads"] * self.size

        def matrix(rows, columns):
            return torch.nn.Parameter(torch.randn(rows, columns) * .02)

        def norm():
            return torch.nn.Parameter(torch.ones(dim))

        self.state_norm, self.token_norm = norm(), norm()
        self.join = torch.nn.Parameter(torch.cat([torch.eye(dim), torch.zeros(dim, dim)], 1) +
                                       torch.randn(dim, 2 * dim) * .02)
        self.middle_norms = torch.nn.Parameter(torch.ones(2 * dim))
        self.middle = torch.nn.Parameter(torch.zeros(dim, 2 * dim))
        self.attention_norm, self.feed_forward_norm, self.final_norm = norm(), norm(), norm()
        self.query_key_value, self.attention_output = matrix(dim + 2 * kv, dim), matrix(dim, dim)
        self.gate_up, self.down = matrix(2 * hidden, dim), matrix(dim, hidden)
        frequencies = c["rope_theta"] ** (-torch.arange(0, self.size, 2).float() / self.size)
        angles = torch.arange(c["context"]).float()[:, None] * frequencies
        self.register_buffer("cosines", angles.cos(), persistent=False)
        self.register_buffer("sines", angles.sin(), persistent=False)

    def step(self, states, tokens, keys, depth, matrices, begin):
        """The depth-th step of drafts that begin everywhere. Returns g of the positions from `begin` on: the first step
        reads all T positions, states [B, T, 3 dim] with those of the middle layers first; later ones those from `begin`
        on, states [B, T - begin, dim]. tokens: as many, the ones behind them.

        Position i of step `depth` sees the first steps of all positions before its draft's, and the draft's own steps.
        """
        c = self.config
        join, middle, query_key_value, attention_output, gate_up, down = matrices
        batch, length, _ = states.shape
        dim = c["dim"]
        heads, kv_heads, size = c["heads"], c["kv_heads"], self.size
        places = slice(begin, begin + length) if keys else slice(0, length)
        cosines, sines = self.cosines[places], self.sines[places]
        epsilon = c["rms_epsilon"]
        x = F.linear(torch.cat([rms(states[..., -dim:], self.state_norm, epsilon),
                                rms(self.embedding[tokens], self.token_norm, epsilon)], -1), join)
        if states.shape[-1] > dim:
            normed = rms(states[..., :-dim].unflatten(-1, (2, dim)), self.middle_norms.view(2, dim), epsilon)
            x = x + F.linear(normed.flatten(-2), middle)
        q, k, v = F.linear(rms(x, self.attention_norm, epsilon),
                           query_key_value).split([dim, kv_heads * size, kv_heads * size], -1)
        q = rotate(q.view(batch, length, kv_heads, heads // kv_heads, size).permute(0, 2, 3, 1, 4), cosines, sines)
        q = q * size ** -.5
        k = rotate(k.view(batch, length, kv_heads, size).transpose(1, 2), cosines, sines)
        v = v.view(batch, length, kv_heads, size).transpose(1, 2)
        keys.append((k, v))
        x, q = x[:, begin - places.start:], q[..., begin - places.start:, :]
        length = x.shape[1]
        first_k, first_v = keys[0]
        before = first_k.shape[-2]
        seen = torch.ones(before, before, dtype=torch.bool).tril(1 - depth)[begin:]
        scores = (q @ first_k[:, :, None].transpose(-1, -2)).masked_fill(~seen, -1e30)

        def back(t, n):  # moves positions by n
            return F.pad(t, (0, 0, n, 0))[:, :, :length] if n else t

        own = [(back(k, depth - n), back(v, depth - n)) for n, (k, v) in enumerate(keys[1:], 2)]
        scores = torch.cat([scores] + [(q * k[:, :, None]).sum(-1, keepdim=True) for k, _ in own], -1).softmax(-1)
        mixed = scores[..., :before] @ first_v[:, :, None]
        for n, (_, v) in enumerate(own):
            mixed = mixed + scores[..., before + n:before + n + 1] * v[:, :, None]
        x = x + F.linear(mixed.permute(0, 3, 1, 2, 4).reshape(batch, length, dim), attention_output)
        gate, up = F.linear(rms(x, self.feed_forward_norm, epsilon), gate_up).chunk(2, -1)
        return rms(x + F.linear(F.silu(gate) * up, down), self.final_norm, epsilon)

    def drafts(self, states, tokens, depth, begin=0):
        """states [B, T, 3 dim]. Returns g [B, T - begin, dim] of each step, from position `begin` on; those of step j at
        position i are about token i + 2, and hold from i >= begin + j - 1."""
        matrices = [getattr(self, name) for name in MATRICES]
        if self.rounds:
            matrices = [four_bits.rounded(matrix) for matrix in matrices]
        keys, result = [], []
        for j in range(1, depth + 1):
            states = self.step(states, tokens, keys, j, matrices, begin)
            tokens = tokens[:, -states.shape[1]:]
            result.append(states)
            states = F.pad(states, (0, 0, 1, 0))[:, :-1]
        return result
