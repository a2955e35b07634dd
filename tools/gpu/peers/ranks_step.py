"""Times training steps of Llama on several GPUs in PyTorch's and DeepSpeed's way, with transformers and Liger-Kernel.
Random bf16 weights, SDPA attention, fused AdamW.

    torchrun --nproc-per-node 4 ranks_step.py MODE [--model 1b] [--batch 4] [--tokens 1024] [--checkpointing]
                                              [--fp32] [--steps 12]

MODE: ddp, zero_redundancy (DDP with ZeroRedundancyOptimizer), fsdp (FSDP2, sharded again after forward), fsdp_keep,
deepspeed1, deepspeed2, deepspeed3. --fp32: fp32 master weights, states and sums, with FSDP2; DeepSpeed always has them.
Rank 0 prints a JSON line: tokens per second of all ranks (p20, median, p80), and the most bytes of any rank.
"""
import argparse
import importlib.metadata
import json
import os
import time

import torch
import torch.distributed as dist
import transformers
from liger_kernel.transformers import apply_liger_kernel_to_llama

COMMON = dict(vocab_size=128256, max_position_embeddings=131072, rms_norm_eps=1e-5, rope_theta=500000.0, use_cache=False)
SHAPES = {
    "1b": COMMON | dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                        num_key_value_heads=8, head_dim=64, tie_word_embeddings=True),
    "8b": COMMON | dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                        num_key_value_heads=8, head_dim=128, tie_word_embeddings=False),
}
WARM_UP = 3


def model_of(args):
    apply_liger_kernel_to_llama(rope=True, swiglu=True, rms_norm=True, cross_entropy=False,
                                fused_linear_cross_entropy=True)
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float32 if args.fp32 else torch.bfloat16)
    # Larger than the step's peak if it were whole. Tied weights would come apart.
    on_meta = args.mode.startswith("fsdp") and not SHAPES[args.model]["tie_word_embeddings"]
    with torch.device("meta" if on_meta else "cuda"):
        config = transformers.LlamaConfig(**SHAPES[args.model], attn_implementation="sdpa")
        model = transformers.LlamaForCausalLM(config)
    torch.set_default_dtype(torch.float32)
    if args.checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model.train()


def fsdp(args, model):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32) if args.fp32 else None
    options = dict(reshard_after_forward=args.mode == "fsdp") | (dict(mp_policy=policy) if policy else {})
    for layer in model.model.layers:
        fully_shard(layer, **options)
    fully_shard(model, **options)
    if model.lm_head.weight.is_meta:
        model.to_empty(device="cuda")
        with torch.no_grad():
            for weight in model.parameters():
                weight.normal_(0, 0.02)
        rotary = model.model.rotary_emb
        rotary.inv_freq = rotary.original_inv_freq = type(rotary)(config=model.config, device="cuda").inv_freq
    torch.cuda.empty_cache()
    return model


def adamw(weights):
    return torch.optim.AdamW(weights, lr=1e-4, fused=True)


def step_of(args, ids):
    """Returns a function that takes one step."""
    model = model_of(args)
    if args.mode.startswith("deepspeed"):
        import deepspeed
        settings = {"train_micro_batch_size_per_gpu": args.batch, "bf16": {"enabled": True},
                    "zero_optimization": {"stage": int(args.mode[-1])}, "zero_allow_untested_optimizer": True}
        engine, *_ = deepspeed.initialize(model=model, optimizer=adamw(model.parameters()), config=settings)

        def step():
            engine.backward(engine(input_ids=ids, labels=ids).loss)
            engine.step()
        return step
    if args.mode.startswith("fsdp"):
        model = fsdp(args, model)
        optimizer = adamw(model.parameters())
    else:
        local = int(os.environ["LOCAL_RANK"])
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local], gradient_as_bucket_view=True)
        if args.mode == "zero_redundancy":
            from torch.distributed.optim import ZeroRedundancyOptimizer
            optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, lr=1e-4, fused=True)
        else:
            optimizer = adamw(model.parameters())

    def step():
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


def quantile(ordered, part):
    return ordered[min(len(ordered) - 1, round(part * (len(ordered) - 1)))]


def timed(step, steps):
    for _ in range(WARM_UP):
        step()
    seconds = []
    for _ in range(steps):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["ddp", "zero_redundancy", "fsdp", "fsdp_keep", "deepspeed1", "deepspeed2",
                                         "deepspeed3"])
    parser.add_argument("--model", choices=SHAPES, default="1b")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--fp32", action="store_true")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=12)
    args = parser.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    ranks = dist.get_world_size()
    vocabulary = SHAPES[args.model]["vocab_size"]
    torch.manual_seed(1000 + local)
    ids = torch.randint(0, vocabulary, (args.batch, args.tokens), device="cuda")
    seconds = timed(step_of(args, ids), args.steps)
    most = torch.tensor([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()], device="cuda")
    dist.all_reduce(most, dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        speed = sorted(ranks * args.batch * args.tokens / s for s in seconds)
        versions = {name: importlib.metadata.version(name) for name in ("torch", "transformers", "liger-kernel")}
        if args.mode.startswith("deepspeed"):
            versions["deepspeed"] = importlib.metadata.version("deepspeed")
        print(json.dumps({
            "program": args.mode + ("_fp32" if args.fp32 else ""), "model": args.model, "batch": args.batch,
            "tokens": args.tokens, "checkpointing": args.checkpointing, "ranks": ranks,
            "tokens_per_second": [quantile(speed, part) for part in (0.2, 0.5, 0.8)],
            "allocated": int(most[0]), "reserved": int(most[1]), "gpu": torch.cuda.get_device_name(),
            "versions": versions}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
