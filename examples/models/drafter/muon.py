"""Muon, an optimiser for matrices: a step has the direction of the momentum with all its singular values made equal.

Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks". The steps have the size of Adam's, as in
Liu et al. 2025, "Muon is scalable for LLM training", arXiv:2502.16982. torch.optim.Muon is the same in bfloat16 always,
which takes six times as long on processors without instructions for it.
"""
import torch


def orthogonal(matrix):
    """U V' of the matrix U S V', about: five steps of a Newton-Schulz iteration leave singular values of 0.7 to 1.2."""
    x = matrix / (matrix.norm() + 1e-7)
    if x.shape[0] > x.shape[1]:
        return orthogonal(matrix.t()).t()
    for _ in range(5):
        a = x @ x.t()
        x = torch.addmm(x, torch.addmm(a, a, a, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return x


class Muon(torch.optim.Optimizer):
    """`kind`: the type in which directions are computed, bfloat16 or float32."""

    def __init__(self, matrices, lr, kind, momentum=.95, weight_decay=.01):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})
        self.kind = kind

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            rate, momentum = group["lr"], group["momentum"]
            for matrix in group["params"]:
                mean = self.state[matrix].setdefault("mean", torch.zeros_like(matrix))
                mean.lerp_(matrix.grad, 1 - momentum)
                ahead = matrix.grad.lerp(mean, momentum)  # Nesterov's
                matrix.mul_(1 - rate * group["weight_decay"])
                matrix.add_(orthogonal(ahead.to(self.kind)), alpha=-rate * .2 * max(matrix.shape) ** .5)
