"""Speculative sampling: check that a verification keeps the target's distribution, and verify batches of drafts."""
from .check import Case, Report, check_lossless, total_variation
from .walk import NotWalkable, draw, exact_distribution

try:
    from ._specsample import draft_batch, verify_batch
except ImportError:  # the checker needs nothing but Python
    pass
