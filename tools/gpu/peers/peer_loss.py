"""The output layer's loss, forward and backward, with torch.compile and Liger-Kernel. V = 128,256, bf16, random.

    peer_loss.py [--runs 15]

A JSON line per program and shape: milliseconds (median, p20, p80), peak MiB beyond inputs and gradients, and the time
of the three GEMMs with torch.mm.
"""
import argparse
import json

import torch
import torch.nn.functional as F
from liger_kernel.ops.fused_linear_cross_entropy import LigerFusedLinearCrossEntropyFunction

VOCABULARY = 128256
SHAPES = [(4096, 2048), (8192, 2048), (16384, 2048), (8192, 4096)]
WARM_UP = 3


def timed(call, runs):
    spent = []
    for run in range(WARM_UP + runs):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        if run >= WARM_UP:
            spent.append(begin.elapsed_time(end))
    spent.sort()
    return [spent[len(spent) // 2], spent[len(spent) // 5], spent[-1 - len(spent) // 5]]


def composed(x, weight, labels):
    return F.cross_entropy((x @ weight.t()).float(), labels)


def liger(x, weight, labels):
    return LigerFusedLinearCrossEntropyFunction.apply(x, weight, labels)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    args = parser.parse_args()
    torch.manual_seed(0)
    for rows, hidden in SHAPES:
        options = dict(device="cuda", dtype=torch.bfloat16)
        x = torch.randn(rows, hidden, **options).requires_grad_()
        weight = (torch.randn(VOCABULARY, hidden, **options) * 0.02).requires_grad_()
        labels = torch.randint(0, VOCABULARY, (rows,), device="cuda")
        logits = torch.randn(rows, VOCABULARY, **options)
        plain, head = x.detach(), weight.detach()

        def products():
            torch.mm(plain, head.t())
            torch.mm(logits, head)
            torch.mm(logits.t(), plain)

        alone = timed(products, args.runs)
        del logits
        torch._dynamo.reset()
        for program, loss in (("torch.compile", torch.compile(composed, dynamic=False)), ("Liger-Kernel", liger)):

            def step():
                x.grad = weight.grad = None
                loss(x, weight, labels).backward()

            step()
            gradients = x.grad.nbytes + weight.grad.nbytes
            x.grad = weight.grad = None
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_allocated()
            torch.cuda.reset_peak_memory_stats()
            step()
            torch.cuda.synchronize()
            beside = torch.cuda.max_memory_allocated() - before - gradients
            print(json.dumps({"program": program, "rows": rows, "hidden": hidden, "ms": timed(step, args.runs),
                              "products_ms": alone, "mib_beside": beside / 2**20}), flush=True)
            x.grad = weight.grad = None
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
