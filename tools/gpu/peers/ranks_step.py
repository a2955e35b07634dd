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

import torch
import torch.distributed as dist

from peer_step import SHAPE, model_of, quantile, timed

SHAPES = {
    "1b": SHAPE,
    "8b": SHAPE | dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, head_dim=128,
                       tie_word_embeddings=False),
}


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
        with torch.device("cuda"):
            rotary.inv_freq = rotary.original_inv_freq = type(rotary)(config=model.config).inv_freq
    torch.cuda.empty_cache()
    return model


def adamw(weights):
    return torch.optim.AdamW(weights, lr=1e-4, fused=True)


def step_of(args, ids):
    """Returns a function that takes one step."""
    # Whole, the 8B would take more than its step. Tied weights would come apart on meta.
    on_meta = args.mode.startswith("fsdp") and not SHAPES[args.model]["tie_word_embeddings"]
    model = model_of(SHAPES[args.model], liger=True, checkpointing=args.checkpointing,
                     device="meta" if on_meta else "cuda", dtype=torch.float32 if args.fp32 else torch.bfloat16)
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
