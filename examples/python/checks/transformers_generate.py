"""Check whole texts of Hugging Face transformers, with and without speculation: pip install torch transformers.

Tiny models with random weights write two or three tokens, and every outcome of `generate` is walked.
"""
import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM

from specsample import exact_distribution, total_variation


def model(seed, layers):
    torch.manual_seed(seed)
    return LlamaForCausalLM(LlamaConfig(
        vocab_size=4, hidden_size=16, intermediate_size=16, num_hidden_layers=layers, num_attention_heads=2,
        max_position_embeddings=32, initializer_range=0.4, bos_token_id=None, eos_token_id=None, pad_token_id=0)).eval().double()


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    print("transformers", transformers.__version__, "torch", torch.__version__)
    target, draft, prompt = model(1, 2), model(2, 1), torch.tensor([[1, 2, 3, 1, 2]])
    drafts = {"assistant": {"assistant_model": draft}, "prompt lookup": {"prompt_lookup_num_tokens": 2}}
    settings = {"": {}, "temperature .7, top-p .9": {"temperature": 0.7, "top_p": 0.9}, "min-p .1": {"min_p": 0.1},
                "repetition penalty 1.3": {"repetition_penalty": 1.3}, "guidance scale 1.5": {"guidance_scale": 1.5}}
    for setting, options in settings.items():
        def text(**more):
            written = target.generate(prompt, do_sample=True, top_k=0, max_new_tokens=3, **options, **more)
            return tuple(written[0, prompt.shape[1]:].tolist())

        plain = exact_distribution(text)
        for name, how in drafts.items():
            print(f"{name}{', ' if setting else ''}{setting}: "
                  f"total variation {total_variation(plain, exact_distribution(lambda: text(**how))):.2g}")
