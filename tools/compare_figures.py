#!/usr/bin/env python3
"""Compares folders of `headroom figures --out FOLDER --format csv,json`: CSV by bytes, JSON by values.

    python3 tools/compare_figures.py BEFORE AFTER [FIGURE…]

Prints differences and exits with 1 if there are any.
"""
import json
import sys
from pathlib import Path


def values(path):
    if path.suffix == ".csv":
        return path.read_text(encoding="utf-8").splitlines(keepends=True)
    document = json.loads(path.read_text(encoding="utf-8"))
    if path.name == "manifest.json":
        document.pop("revision")  # the exporting program's
    return document


def first_difference(before, after, where=""):
    """Place and values of the first difference, or None."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key not in before or key not in after:
                return f"{where}/{key}: only {'after' if key in after else 'before'}"
            if found := first_difference(before[key], after[key], f"{where}/{key}"):
                return found
        return None
    if isinstance(before, list) and isinstance(after, list):
        for i, (a, b) in enumerate(zip(before, after)):
            if found := first_difference(a, b, f"{where}/{i}"):
                return found
        return None if len(before) == len(after) else f"{where}: {len(before)} entries, then {len(after)}"
    return None if before == after else f"{where}: {before!r}, then {after!r}"


def main():
    before, after = Path(sys.argv[1]), Path(sys.argv[2])
    wanted = set(sys.argv[3:])
    names = sorted({f.name for folder in (before, after) for f in folder.iterdir() if f.suffix in (".csv", ".json")})
    if wanted:
        names = [name for name in names if name.split("__")[0].split(".")[0] in wanted]
    differing = 0
    for name in names:
        if not (before / name).exists() or not (after / name).exists():
            print(f"{name}: only {'after' if (after / name).exists() else 'before'}")
            differing += 1
        elif found := first_difference(values(before / name), values(after / name)):
            print(f"{name}{found}")
            differing += 1
    print(f"{len(names)} files compared, {differing} differ")
    return 1 if differing or not names else 0


if __name__ == "__main__":
    sys.exit(main())
