#!/usr/bin/env python3
"""Copies Ninja's output from stdin to LOG and shows the build's progress.

    ninja … | progress.py TITLE LOG BUILD [TARGET...]

Rewrites a line on a terminal, otherwise prints one per minute: "4/4 build: 212 of 640 steps, 3:12, about 4 min left".
"""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# Relative times on two cores, by the first matching pattern: code with LibTorch takes about twice as long as without, a
# CUDA kernel for two architectures four times.
WEIGHTS = [(re.compile(pattern), weight) for pattern, weight in [
    (r"Building CUDA ", 24), (r"cmake_pch\.hxx", 16),
    (r"Building CXX object (kernels|demos/engine|app/engine|tests/(kernels|llama|live|gpu|experiments))/", 12),
    (r"Building CXX ", 6), (r"", 0.5)]]
STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
PAUSE = 60  # seconds between lines without a terminal


def weight(text):
    return next(weight for pattern, weight in WEIGHTS if pattern.search(text))


def planned(build, targets):
    """The weight of all remaining steps."""
    text = (Path(build) / "build.ninja").read_text(encoding="utf-8")
    # Ninja's dry run stops at CMake, which it always wants to run again.
    without_cmake = re.sub(r"^build build\.ninja\b.*\n(?: .*\n)*", "", text, flags=re.MULTILINE)
    rules = Path(build) / "progress.ninja"
    rules.write_text(without_cmake, encoding="utf-8")
    done = subprocess.run(["ninja", "-C", build, "-f", rules.name, "-n", *targets], capture_output=True, text=True,
                          check=False, env={**os.environ, "NINJA_STATUS": "[%f/%t] "})
    return sum(weight(found.group(3)) for found in map(STEP.match, done.stdout.splitlines()) if found)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def left(elapsed, done, total):
    """Remaining time in words; empty while unknown."""
    if elapsed < 10 or not 0 < done < total:
        return ""
    seconds = elapsed * (total - done) / done
    if seconds < 5:
        return ""
    return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds / 10:.0f}0 s left"


def main():
    title, log, build, *targets = sys.argv[1:]
    total, done = None, 0
    begun = shown = time.monotonic()
    terminal = sys.stderr.isatty()
    with open(log, "w", encoding="utf-8") as file:
        for line in sys.stdin:
            file.write(line)
            file.flush()
            step = STEP.match(line)
            if not step:
                continue
            done += weight(step.group(3))
            total = total or done + planned(build, targets)  # not if there is nothing to build
            now = time.monotonic()
            text = f"{title}: {step.group(1)} of {step.group(2)} steps, {clock(now - begun)}{left(now - begun, done, total)}"
            if terminal:
                sys.stderr.write(f"\r\033[K{text}")
                sys.stderr.flush()
            elif now - shown >= PAUSE:
                print(text, file=sys.stderr, flush=True)
                shown = now
    if terminal:
        sys.stderr.write("\r\033[K")


if __name__ == "__main__":
    main()
