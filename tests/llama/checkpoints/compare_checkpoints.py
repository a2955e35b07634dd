#!/usr/bin/env python3
"""Compares the losses of saved models with transformers and PEFT, in fp32 on the CPU.
    pip install torch transformers peft safetensors
    python3 tests/llama/checkpoints/compare_checkpoints.py build/bin/headroom [FOLDER]
Exits with 77 (skipped) if a package is missing. FOLDER keeps the models."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import peft
    import torch
    import transformers
except ImportError as missing:
    print(f"SKIPPED: {missing}; pip install torch transformers peft safetensors")
    sys.exit(77)

BATCH, SEQ, STEPS, MOST, MOST_IN_BF16 = 2, 48, 6, 1e-6, 5e-3
TEXT = Path(__file__).resolve().parents[3] / "README.md"
SHAPE = dict(hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
             vocab_size=256, max_position_embeddings=512)
LLAMA3_ROPE = dict(rope_type="llama3", rope_theta=500000.0, factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0,
                   original_max_position_embeddings=64)


def mix(x):
    x = (x + 0x9e3779b97f4a7c15) & 0xffffffffffffffff
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & 0xffffffffffffffff
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & 0xffffffffffffffff
    return x ^ (x >> 31)


def cut(data, starts):
    """Ids and targets."""
    rows = [[data[(start + t) % len(data)] for t in range(SEQ + 1)] for start in starts]
    return torch.tensor(rows)[:, :-1], torch.tensor(rows)[:, 1:]


def batch(step):
    """The batch of demos/engine/llama/step/data.cpp with seed 0."""
    data = TEXT.read_bytes()
    return cut(data, [mix((mix(0) + step * BATCH + b) & 0xffffffffffffffff) % len(data) for b in range(BATCH)])


def held_out():
    """eval_every's sequences, evenly spaced in the last tenth."""
    data = TEXT.read_bytes()
    data = data[len(data) - len(data) // 10:]
    return cut(data, [(len(data) - SEQ - 1) * b // (BATCH - 1) for b in range(BATCH)])


def loss_there(model, step):
    return loss_on(model, *batch(step))


def loss_on(model, ids, targets):
    with torch.no_grad():
        logits = model.eval()(input_ids=ids).logits.float()
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()


class Headroom:
    def __init__(self, program):
        self.program = program

    def run(self, steps, *settings):
        """The loss of the last step."""
        return self.report(steps, *settings)["loss"]

    def report(self, steps, *settings):
        done = subprocess.run([self.program, "run", "train_step", "--json", "--data", TEXT, "--set", "device=cpu", f"batch={BATCH}",
                               f"seq={SEQ}", f"steps={steps}", *settings], capture_output=True, check=False, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


def loaded(folder, dtype=torch.float32):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)


def bases(folder):
    """Published architectures with random weights."""
    torch.manual_seed(0)
    for name, kind, config in [
            ("llama", transformers.LlamaForCausalLM, transformers.LlamaConfig(**SHAPE, tie_word_embeddings=True, rope_parameters=LLAMA3_ROPE)),
            ("untied", transformers.LlamaForCausalLM, transformers.LlamaConfig(**SHAPE, tie_word_embeddings=False)),
            ("qwen2", transformers.Qwen2ForCausalLM, transformers.Qwen2Config(**SHAPE, tie_word_embeddings=True)),
            ("qwen3", transformers.Qwen3ForCausalLM, transformers.Qwen3Config(**SHAPE, tie_word_embeddings=False))]:
        kind(config).save_pretrained(folder / name)
        yield name


def rows(headroom, folder):
    """Names of the comparisons, with both losses."""
    def on(name):
        return ["model=custom", f"weights={folder / name}"]

    for name in bases(folder):
        headroom.run(STEPS, *on(name), f"save={folder / name}-trained")
        yield f"{name}, trained", headroom.run(1, *on(f"{name}-trained")), loss_there(loaded(folder / f"{name}-trained"), 0)
    shape = [f"{key}={SHAPE[there]}" for key, there in [
        ("hidden_size", "hidden_size"), ("intermediate_size", "intermediate_size"), ("num_layers", "num_hidden_layers"),
        ("num_heads", "num_attention_heads"), ("num_kv_heads", "num_key_value_heads"), ("head_dim", "head_dim"), ("vocab_size", "vocab_size")]]
    headroom.run(STEPS, "model=custom", *shape, f"save={folder / 'drawn'}")
    yield "drawn here, config.json from here", headroom.run(1, *on("drawn")), loss_there(loaded(folder / "drawn"), 0)
    headroom.run(STEPS, *on("llama"), "precision=bf16", f"save={folder / 'bf16'}")
    yield "trained in bf16, read in fp32", headroom.run(1, *on("bf16")), loss_there(loaded(folder / "bf16"), 0)
    evaluated = headroom.report(STEPS, *on("llama"), f"eval_every={STEPS}", f"save={folder / 'evaluated'}")["evaluation_losses"]
    yield "on held-out text", evaluated[0]["loss"], loss_on(loaded(folder / "evaluated"), *held_out())
    fp32 = [*on("llama"), "precision=bf16", "adapters=lora", "lora_rank=4", "lora_precision=fp32", "learning_rate=0.01"]
    headroom.run(STEPS, *fp32, f"save={folder / 'lora-fp32'}", "save_state=on")
    there = peft.PeftModel.from_pretrained(loaded(folder / "llama", torch.bfloat16), folder / "lora-fp32")
    assert all(p.dtype == torch.float32 for name, p in there.named_parameters() if "lora_" in name)
    yield "LoRA in fp32 beside bf16, by PEFT", headroom.run(1, *fp32, f"resume={folder / 'lora-fp32'}"), loss_there(there, STEPS)
    for targets in ("all", "attention", "mlp"):
        lora = [*on("llama"), "adapters=lora", "lora_rank=4", f"lora_targets={targets}", "learning_rate=0.01"]
        beside, merged = folder / f"lora-{targets}", folder / f"lora-{targets}-merged"
        headroom.run(STEPS, *lora, f"save={beside}", "save_state=on")
        headroom.run(STEPS, *lora, f"save={merged}", "save_merged=on")
        there = peft.PeftModel.from_pretrained(loaded(folder / "llama"), beside)
        yield f"LoRA on {targets}, by PEFT", headroom.run(1, *lora, f"resume={beside}"), loss_there(there, STEPS)
        yield f"LoRA on {targets}, merged", headroom.run(1, *on(merged.name)), loss_there(loaded(merged), 0)
    qlora = folder / "qlora-merged"
    headroom.run(STEPS, *on("llama"), "adapters=qlora", "lora_rank=4", f"save={qlora}", "save_merged=on")
    yield "QLoRA, merged", headroom.run(1, *on(qlora.name)), loss_there(loaded(qlora), 0)


def main():
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, peft {peft.__version__}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[2] if len(sys.argv) > 2 else temporary).resolve()
        wrong = 0
        print(f"{'':38} {'here':>12} {'there':>12} {'apart':>9}")
        for name, here, there in rows(Headroom(sys.argv[1]), folder):
            far = abs(here - there) > (MOST_IN_BF16 if "beside bf16" in name else MOST)
            wrong += far
            print(f"{name:38} {here:12.8f} {there:12.8f} {abs(here - there):9.1e}{'  too far' if far else ''}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
