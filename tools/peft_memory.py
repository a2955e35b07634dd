"""Peak of a small Llama's training step with transformers and PEFT on the CPU, for docs/results/peft-cpu.md.

    python3 tools/peft_memory.py {weights,bf16,fp32} {off,layer}

Trains all weights, or adapters in that format.
"""
import json
import os
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile
from transformers import LlamaConfig, LlamaForCausalLM

BATCH, SEQUENCE, STEPS = 4, 512, 3
PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def make_model(trained, checkpointing):
    config = LlamaConfig(hidden_size=256, intermediate_size=704, num_hidden_layers=4, num_attention_heads=8,
                         num_key_value_heads=4, vocab_size=512, rms_norm_eps=1e-5, tie_word_embeddings=True,
                         max_position_embeddings=2048, use_cache=False)
    model = LlamaForCausalLM._from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa")
    if trained != "weights":
        from peft import LoraConfig, get_peft_model
        lora = LoraConfig(r=16, lora_alpha=32, target_modules=PROJECTIONS)
        model = get_peft_model(model, lora, autocast_adapter_dtype=trained == "fp32")
        if trained == "bf16":
            model = model.to(torch.bfloat16)
        if checkpointing:
            model.enable_input_require_grads()
    if checkpointing:
        model.gradient_checkpointing_enable()
    return model.train()


def train(trained, checkpointing, tokens):
    model = make_model(trained, checkpointing)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3, fused=True)
    for _ in range(STEPS):
        ids = tokens.clone()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def peak_of(run):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        run.export_chrome_trace(path)
        with open(path) as file:
            events = json.load(file)["traceEvents"]
    changes = sorted((e for e in events if e.get("name") == "[memory]"), key=lambda e: e["ts"])
    return max(e["args"]["Total Allocated"] for e in changes)


def main():
    trained, checkpointing = sys.argv[1], sys.argv[2] == "layer"
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokens = torch.randint(0, 512, (BATCH, SEQUENCE))
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as run:
        train(trained, checkpointing, tokens)
    print(f"{trained}, checkpointing {sys.argv[2]}: {peak_of(run) / 2**20:.2f} MiB")


main()
