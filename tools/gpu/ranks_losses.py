"""Compares losses of several ranks with those of one rank, which took the same global batches in fp32.

    ranks_losses.py FOLDER

FOLDER holds losses_NAME.json, each the JSON of `headroom run`; losses_one_rank.json is the reference.
"""
import json
import pathlib
import sys

LIMITS = {5: 1e-6, 20: 1e-5}  # greatest relative difference of the loss after so many steps


def losses(path):
    return json.loads(path.read_text())["losses"]


folder = pathlib.Path(sys.argv[1])
reference = losses(folder / "losses_one_rank.json")
failed = False
for path in sorted(folder.glob("losses_*.json")):
    if path.stem == "losses_one_rank":
        continue
    differences = [abs(a - b) / abs(b) for a, b in zip(losses(path), reference, strict=True)]
    parts = []
    for steps, limit in LIMITS.items():
        worst = max(differences[:steps])
        parts.append(f"{worst:.1e} in {steps} steps")
        failed |= worst > limit
    print(f"{path.stem.removeprefix('losses_'):12} {', '.join(parts)}")
sys.exit(failed)
