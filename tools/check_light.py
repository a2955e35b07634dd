#!/usr/bin/env python3
"""Proves the light build from the full one that is there: configures it in FOLDER, a clone without LibTorch and CUDA, and
compares what CMake would run. Code and programs that both have must be compiled and linked by the same commands, so that
what the full build's tests say holds for the light one.

    check_light.py FOLDER BUILD [CMAKE ARGUMENT...]

FOLDER is a fresh clone, BUILD the configured full build of this tree. Exit code 1 and the differences if there are any.
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
    """A command or a file's text without the places of tree and build."""
    for path, word in ((build, "BUILD"), (tree / ".deps", "DEPS"), (ROOT / ".deps", "DEPS"), (tree, "TREE")):
        # Where a path begins: a tree may be /src, which is a part of others.
        text = re.sub(rf"(^|[\s=\"'(,:]|-[IL]){re.escape(str(path))}(?![\w.-])", rf"\1{word}", text)
    return text


def compiled(tree, build):
    """The commands of the product's own code, each with the text of a file that CMake wrote (a unit of several)."""
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
