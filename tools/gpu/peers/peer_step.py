"""Times training steps of Llama 3.2 1B in Hugging Face's transformers, with Liger-Kernel or with torch.compile. Random
bf16 weights, bf16 AdamW states, SDPA attention, fused AdamW.

    peer_step.py (hf|liger) [--checkpointing] [--compile MODE] --batch 16 [--batch 64] [--tokens 1024] [--steps 12]

A JSON line per batch: tokens per second (median, p20, p80), peak allocated and reserved bytes, versions. MODE: default,
reduce-overhead (CUDA graphs), max-autotune.
"""
import argparse
import gc
import importlib.metadata
import json
import time

import torch
import transformers

SHAPE = dict(vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
             num_key_value_heads=8, head_dim=64, max_position_embeddings=131072, rms_norm_eps=1e-5,
             tie_word_embeddings=True, rope_theta=500000.0, use_cache=False)
WARM_UP = 3


def model_of(shape, *, liger, checkpointing, device="cuda", dtype=torch.bfloat16):
    if liger:
        from liger_kernel.transformers import apply_liger_kernel_to_llama
        apply_liger_kernel_to_llama(rope=True, swiglu=True, rms_norm=True, cross_entropy=False,
                                    fused_linear_cross_entropy=True)
    torch.manual_seed(0)
    torch.set_default_dtype(dtype)
    with torch.device(device):
        config = transformers.LlamaConfig(**shape, attn_implementation="sdpa")
        model = transformers.LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    if checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.train()


def quantile(ordered, part):
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]


def timed(step, steps):
    for _ in range(WARM_UP):
        step()
    torch.cuda.synchronize()
    seconds = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=["hf", "liger"])
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--compile", metavar="MODE")
    parser.add_argument("--batch", type=int, action="append", required=True)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=12)
    args = parser.parse_args()
    model = model_of(SHAPE, liger=args.program == "liger", checkpointing=args.checkpointing)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    run = torch.compile(model, mode=args.compile) if args.compile else model
    versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers")}
    if args.program == "liger":
        versions["liger-kernel"] = importlib.metadata.version("liger-kernel")
    for batch in args.batch:
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        ids = torch.randint(0, SHAPE["vocab_size"], (batch, args.tokens), device="cuda")

        def step():
            run(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        row = {"program": args.program, "compile": args.compile, "checkpointing": args.checkpointing, "batch": batch,
               "tokens": args.tokens, "gpu": torch.cuda.get_device_name(), "versions": versions}
        try:
            seconds = timed(step, args.steps)
            speed = sorted(batch * args.tokens / s for s in seconds)
            row |= {"tokens_per_second": [quantile(speed, part) for part in (0.2, 0.5, 0.8)],
                    "allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}
        except torch.OutOfMemoryError:
            row["out_of_memory"] = True
            optimizer.zero_grad(set_to_none=True)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
