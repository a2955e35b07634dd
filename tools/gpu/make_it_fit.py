"""Runs sets of switches that `headroom advise` gives for drawn steps and cards, each under its card's memory.

    tools/gpu/make_it_fit.py --headroom build/bin/headroom --count 10 --out make_it_fit.csv

A line of the file is one set: the step, the card, the switches, the bytes that the advisor predicts, and how the run
ended under the memory that the card leaves. Exits with 1 if a set that should fit ran out of memory.
"""
import argparse
import csv
import json
import random
import shlex
import subprocess
import sys

MODELS = ["llama-3.2-1b", "llama-3.2-3b", "llama-3-8b"]
CARDS = ["GeForce RTX 4080", "GeForce RTX 3090", "GeForce RTX 4090", "GeForce RTX 5090", "RTX A6000", "A100 40 GB SXM",
         "L40S"]
BATCHES = [2, 4, 8, 16, 32]
SEQUENCES = [512, 1024, 2048, 4096]
PRECISIONS = ["bf16", "bf16_mixed", "fp32"]


def drawn(chance):
    settings = [f"precision={chance.choice(PRECISIONS)}"]
    return {"model": chance.choice(MODELS), "card": chance.choice(CARDS), "batch": chance.choice(BATCHES),
            "seq": chance.choice(SEQUENCES), "set": settings}


def document(command):
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{shlex.join(command)} printed no JSON: {done.stderr.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headroom", default="headroom")
    parser.add_argument("--count", type=int, default=10, help="sets to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    chance = random.Random(args.seed)
    rows, wrong = [], 0
    with open(args.out, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["model", "card", "batch", "seq", "settings", "switches", "predicted_bytes", "usable_bytes",
                        "measured_reserved_bytes", "outcome"])
        while len(rows) < args.count:
            step = drawn(chance)
            advice = document([args.headroom, "advise", "--model", step["model"], "--card", step["card"], "--batch",
                               str(step["batch"]), "--seq", str(step["seq"]), "--set", *step["set"], "--json"])
            fitting = [each for each in advice["sets"] if each["verdict"] == "fits"]
            if not fitting:
                continue
            each = chance.choice(fitting)
            command = [args.headroom, *shlex.split(each["command"])[1:], "--cap", f"{advice['usable_bytes']}B", "--json"]
            run = document(command)
            row = [step["model"], step["card"], step["batch"], step["seq"], " ".join(step["set"]),
                   " ".join(switch["id"] for switch in each["switches"]), each["bytes"], advice["usable_bytes"],
                   run["peak_reserved_bytes"], run["outcome"]]
            rows.append(row)
            wrong += run["outcome"] != "completed"
            table.writerow(row)
            file.flush()
            print(f"{len(rows)}/{args.count}: {row}", flush=True)
    print(f"{len(rows) - wrong} of {len(rows)} sets fit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
