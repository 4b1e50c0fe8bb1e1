"""Check the rule of Hugging Face transformers, `_speculative_sampling`: pip install torch transformers.

As it is meant; in its documented lossy mode, an ensemble of both models; with draft rows at another temperature than the
one that tokens were drawn at; and with tokens drawn by argmax that are judged by their row.
"""
import torch
import transformers
from transformers.generation.utils import _speculative_sampling

from specsample import check_lossless


def verify(tokens, draft_rows, target_rows, draft_temperature=1.0, **options):
    drafted = torch.tensor([tokens])
    ids, accepted = _speculative_sampling(
        torch.cat([torch.zeros(1, 1, dtype=torch.long), drafted], dim=1), logits(draft_rows) / draft_temperature,
        len(tokens), logits(target_rows), **options)
    return ids[0].tolist()


def logits(rows):
    return torch.tensor([rows], dtype=torch.float64).log()


def argmax(row):
    return [float(i == row.index(max(row))) for i in range(len(row))]


if __name__ == "__main__":
    print("transformers", transformers.__version__, "torch", torch.__version__)
    print("_speculative_sampling:", check_lossless(verify))
    print("half of the ensemble the draft:", check_lossless(lambda *given: verify(*given, assistant_ensemble_weight=0.5)))
    print("rows at temperature .5, tokens at 1:", check_lossless(lambda *given: verify(*given, draft_temperature=0.5)))
    print("tokens by argmax, judged by their row:", check_lossless(verify, drawn_from=argmax))
