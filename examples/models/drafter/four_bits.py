"""Weights of 4 bits in groups of 32 columns, as the engine's files have them: scale * code + minimum."""
import torch

from spqg import GROUP

# The range of a group is cut a little where that makes its other weights more exact by more than it costs.
CUTS = (1, .92, .84)


def encoded(weights):
    """Codes [rows, groups, 32] as floats, scales and minimums [rows, groups, 1] as float16 has them."""
    groups = weights.reshape(len(weights), -1, GROUP)
    low, high = groups.aminmax(dim=-1, keepdim=True)
    best = None
    for cut in CUTS:
        scale = ((high - low) * (cut / 15)).half().float()
        minimum = ((low + high) / 2 + (low - high) * (cut / 2)).half().float()
        codes = ((groups - minimum) / scale.clamp(min=1e-8)).round().clamp(0, 15)
        error = (torch.addcmul(minimum, codes, scale) - groups).square().sum(-1, keepdim=True)
        if best is None:
            best = [error, codes, scale, minimum]
        else:
            best = [torch.where(error < best[0], new, old) for new, old in zip((error, codes, scale, minimum), best)]
    return best[1:]


def rounded(weights):
    """The weights as 4 bits have them. Their gradient is that of the weights themselves."""
    with torch.no_grad():
        codes, scale, minimum = encoded(weights)
        change = torch.addcmul(minimum, codes, scale).reshape(weights.shape) - weights
    return weights + change
