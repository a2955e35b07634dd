"""Writes reference.json: a small Llama's logits, loss and gradients in float64.

    python3 make_reference.py > reference.json          (torch 2.11, CPU)

Independent of demos/llama: attention is a masked softmax, RoPE a complex product, the loss a log-sum-exp. The C++ test
computes the same weights and tokens.
"""
import json
import math

import torch

torch.set_default_dtype(torch.float64)

CASES = {
    "tied": dict(hidden_size=64, intermediate_size=96, num_layers=2, num_heads=4, num_kv_heads=2, head_dim=16,
                 vocab_size=320, tied=True, rope_theta=500000.0, rope_factor=32.0, original_length=40.0),
    "untied": dict(hidden_size=48, intermediate_size=80, num_layers=3, num_heads=6, num_kv_heads=6, head_dim=8,
                   vocab_size=272, tied=False, rope_theta=10000.0, rope_factor=None, original_length=None),
}
BATCH, SEQ, EPS = 2, 24, 1e-5
LAYER = [("input_layernorm", "norm"), ("self_attn.q_proj", "q"), ("self_attn.k_proj", "k"), ("self_attn.v_proj", "k"),
         ("self_attn.o_proj", "o"), ("post_attention_layernorm", "norm"), ("mlp.gate_proj", "up"),
         ("mlp.up_proj", "up"), ("mlp.down_proj", "down")]


def shapes(c):
    """Names and shapes of the weights, in order."""
    h, f, q, k = c["hidden_size"], c["intermediate_size"], c["num_heads"] * c["head_dim"], c["num_kv_heads"] * c["head_dim"]
    sizes = {"norm": (h,), "q": (q, h), "k": (k, h), "o": (h, q), "up": (f, h), "down": (h, f)}
    yield "model.embed_tokens.weight", (c["vocab_size"], h)
    for i in range(c["num_layers"]):
        for name, kind in LAYER:
            yield f"model.layers.{i}.{name}.weight", sizes[kind]
    yield "model.norm.weight", (h,)
    if not c["tied"]:
        yield "lm_head.weight", (c["vocab_size"], h)


def wave(number, count):
    """Element i of weight `number`: sin(0.7 i^2 + 0.3 i + 1.3 number), not low-rank."""
    i = torch.arange(count)
    return torch.sin(0.7 * i * i + 0.3 * i + 1.3 * number)


def make_weights(c):
    weights = {}
    for number, (name, shape) in enumerate(shapes(c)):
        x = wave(number, math.prod(shape)).reshape(shape)
        if len(shape) == 1:
            x = 1 + 0.1 * x
        elif name == "model.embed_tokens.weight":
            x = 0.25 * x
        else:
            x = x * math.sqrt(2 / shape[1])
        weights[name] = x.requires_grad_(True)
    return weights


def make_tokens(c):
    ids = torch.tensor([[(17 * b * b + 31 * t * t + 7 * t + 3) % c["vocab_size"] for t in range(SEQ)] for b in range(BATCH)])
    return ids, (5 * ids + 1) % c["vocab_size"]


def frequencies(c):
    result = []
    for j in range(c["head_dim"] // 2):
        f = c["rope_theta"] ** (-2 * j / c["head_dim"])
        if c["rope_factor"]:
            turns = c["original_length"] * f / (2 * math.pi)  # over the original length
            share = min(max((turns - 1) / (4 - 1), 0), 1)     # of the original frequency
            f = share * f + (1 - share) * f / c["rope_factor"]
        result.append(f)
    return torch.tensor(result)


def norm(x, w):
    return w * x / torch.sqrt((x * x).mean(-1, keepdim=True) + EPS)


def rotate(x, c):
    """x [B, T, heads, D]: elements j and j + D/2 form a complex number."""
    angle = torch.outer(torch.arange(SEQ).double(), frequencies(c))[None, :, None, :]
    half = c["head_dim"] // 2
    z = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], -1)


def attention(x, w, c):
    heads, kv_heads, d = c["num_heads"], c["num_kv_heads"], c["head_dim"]
    q = rotate((x @ w["self_attn.q_proj"].T).reshape(BATCH, SEQ, heads, d), c)
    k = rotate((x @ w["self_attn.k_proj"].T).reshape(BATCH, SEQ, kv_heads, d), c)
    v = (x @ w["self_attn.v_proj"].T).reshape(BATCH, SEQ, kv_heads, d)
    outputs = []
    for a in range(heads):
        kv = a // (heads // kv_heads)
        scores = torch.einsum("btd,bsd->bts", q[:, :, a], k[:, :, kv]) / math.sqrt(d)
        future = torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, -math.inf)
        outputs.append(torch.einsum("bts,bsd->btd", scores.softmax(-1), v[:, :, kv]))
    return torch.cat(outputs, -1) @ w["self_attn.o_proj"].T


def mlp(x, w):
    gate = x @ w["mlp.gate_proj"].T
    return (gate * torch.sigmoid(gate) * (x @ w["mlp.up_proj"].T)) @ w["mlp.down_proj"].T


def logits_of(weights, ids, c):
    x = weights["model.embed_tokens.weight"][ids]
    for i in range(c["num_layers"]):
        w = {name: weights[f"model.layers.{i}.{name}.weight"] for name, _ in LAYER}
        x = x + attention(norm(x, w["input_layernorm"]), w, c)
        x = x + mlp(norm(x, w["post_attention_layernorm"]), w)
    head = weights["model.embed_tokens.weight"] if c["tied"] else weights["lm_head.weight"]
    return norm(x, weights["model.norm.weight"]) @ head.T


def samples(x):
    """Six spread elements, by flat index."""
    flat = x.reshape(-1)
    places = [(104729 * k + 7) % flat.numel() for k in range(6)]
    return {"places": places, "values": [flat[p].item() for p in places]}


def run(c):
    weights = make_weights(c)
    ids, targets = make_tokens(c)
    logits = logits_of(weights, ids, c)
    picked = logits.gather(-1, targets[..., None])[..., 0]
    loss = (torch.logsumexp(logits, -1) - picked).mean()
    loss.backward()
    gradients = {name: {"norm": w.grad.norm().item(), **samples(w.grad)} for name, w in weights.items()}
    return {"config": c, "batch": BATCH, "seq": SEQ, "loss": loss.item(), "logits": samples(logits), "gradients": gradients}


print(json.dumps({"torch": torch.__version__, "cases": {name: run(c) for name, c in CASES.items()}}, indent=1))
