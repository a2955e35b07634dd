#!/usr/bin/env python3
"""Checks that the light build compiles and links shared code like the full one, so that the full build's tests cover
both.

    check_light.py FOLDER BUILD [CMAKE ARGUMENT...]

Configures FOLDER, a fresh clone, without LibTorch and CUDA. BUILD is this tree's configured full build. Prints
differences and exits with 1 if there are any.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ("headroom", "headroom-window")


def configure(folder, arguments):
    deps = folder / ".deps"
    deps.mkdir()
    os.symlink(ROOT / ".deps" / "imgui-bundle", deps / "imgui-bundle")
    environment = {name: value for name, value in os.environ.items() if name != "CUDACXX"}
    subprocess.run(["cmake", "--preset", "light", *arguments], cwd=folder, env=environment, check=True,
                   stdout=subprocess.DEVNULL)


def normal(text, tree, build):
    """The text without the paths of tree and build."""
    for path, word in ((build, "BUILD"), (tree / ".deps", "DEPS"), (ROOT / ".deps", "DEPS"), (tree, "TREE")):
        # Only at the beginning of a path, because a tree such as /src may be part of others.
        text = re.sub(rf"(^|[\s=\"'(,:]|-[IL]){re.escape(str(path))}(?![\w.-])", rf"\1{word}", text)
    return text


def compiled(tree, build):
    """Maps commands for our code to the text of generated sources (unity units)."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = Path(entry["file"])
        command = normal(entry["command"], tree, build)
        if "/tests/" in command or " -w " in command:  # -w: third-party code
            continue
        text = normal(file.read_text(encoding="utf-8"), tree, build) if build in file.parents and file.exists() else ""
        commands[command] = text
    return commands


def linked(tree, build, program):
    done = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", program], capture_output=True, text=True,
                          check=True)
    return normal(done.stdout, tree, build)


def main():
    folder, build, *arguments = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), *sys.argv[3:]
    configure(folder, arguments)
    light_build = folder / "build" / "light"
    full, light = compiled(ROOT, build), compiled(folder, light_build)
    troubles = [f"only in the light build: {command}" for command in light if command not in full]
    troubles += [f"other text than in the full build: {command}" for command, text in light.items()
                 if full.get(command, text) != text]
    for program in PROGRAMS:
        there, here = linked(folder, light_build, program), linked(ROOT, build, program)
        if there != here:
            troubles.append(f"{program} is linked otherwise:\n  {there}  {here}")
        if re.search(r"torch|libcu|nccl|cupti", there):
            troubles.append(f"{program} is linked with LibTorch or CUDA: {there}")
    print("\n".join(troubles) or f"{len(light)} of the full build's {len(full)} compilations are the light build.")
    return bool(troubles)


if __name__ == "__main__":
    sys.exit(main())
