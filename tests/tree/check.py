#!/usr/bin/env python3
"""Checks of the repository, each a CTest entry: python3 check.py ROOT CHECK. Prints the problems and exits with 1.

    layers    forbidden includes of each layer, direct or through our headers
    listed    every source file is in a CMakeLists.txt
    notices   THIRD_PARTY_NOTICES.md names all packages, fonts and licenses, and its links exist
    lock      pinned files have a hash, a size and a set; scripts name no server
    text      the default training text is that of the shipped recordings
    spelling  American spelling: spelling.py
    comments  sentences with a subject, and paths that exist: comments.py
    counts    how many files name each page, figure, demo, …: counts.py
    rows      the table of techniques has each that a script names
    kernels   kernels are declared by two records and listed once: kernels.py
    operators operators are named in one table: operators.py
    classes   members and public functions of each class: classes.py
"""
import functools
import hashlib
import json
import re
import sys
from pathlib import Path

from classes import classes
from comments import fragments, paths
from counts import counts
from kernels import kernels
from operators import operators
from spelling import spelling

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
CUDA = r"cuda|cublas|cupti|nvrtc|nccl|nvml\.h|nv/|cub/|thrust/"
TORCH = r"torch/|ATen/|c10/"
GUI = r"imgui|misc/cpp/imgui|GLFW/|imstb_(?!truetype)"
# Above the process boundary: everything except demos/engine, app/engine and the kernels.
ABOVE = ["demos/record", "demos/protocol", "demos/nvml", "demos/tokens", "demos/backend", "demos/experiments", "demos/llama",
         "demos/predict", "demos/configs",
         "lessons", "app/common", "app/paint", "app/page", "app/cli", "app/window"]
# Folders or files, and the includes that are forbidden there.
LAYERS = [
    (ABOVE, TORCH + "|" + CUDA + r"|demos/engine/|app/engine/"),
    (["kernels/*/*_info.cpp"], TORCH + "|" + CUDA),
    (["kernels/**/*.cu*"], TORCH),
    (["demos", "kernels", "lessons", "app/common", "app/paint", "app/page", "app/cli", "app/engine"], GUI),
    (["demos/record"], r"demos/(?!record/)|lessons/|app/|kernels/"),
    (["demos/protocol"], r"demos/(?!record/|protocol/)|lessons/|app/|kernels/"),
    (["demos/nvml"], r"demos/(?!record/|nvml/)|lessons/|app/|kernels/"),
    (["demos/tokens"], r"demos/(?!record/|tokens/)|lessons/|app/|kernels/"),
    (["demos/llama"], r"demos/(?!record/|llama/)|lessons/|app/|kernels/"),
    (["demos/predict"], r"demos/(?!record/|llama/|predict/)|lessons/|app/"),
    (["demos/configs"], r"demos/(?!record/|llama/|predict/|configs/)|lessons/|app/"),
    (["demos", "kernels"], r"lessons/|app/"),
    (["kernels"], r"demos/(?!record/)"),
    (["lessons"], r"app/|demos/backend/|demos/protocol/"),
    (["app/common", "app/paint"], r"app/(page|window|cli|engine)/"),
    (["app/page"], r"app/(window|cli|engine)/"),
]


def sources(root, patterns, suffixes=(".cpp", ".h", ".cu", ".cuh")):
    for pattern in patterns:
        found = root.glob(pattern) if "*" in pattern else (root / pattern).rglob("*")
        yield from sorted(f for f in found if f.suffix in suffixes)


@functools.cache
def includes(root, file):
    """Names that a file includes, each with the file if it is ours."""
    return [(name, root / name if quote == '"' and (root / name).is_file() else None)
            for quote, name in INCLUDE.findall(file.read_text(encoding="utf-8"))]


def reached(root, file, seen):
    """Yields (header, including file) for all includes of a file, also through our headers."""
    if file in seen:
        return
    seen.add(file)
    for name, header in includes(root, file):
        yield name, file
        if header is not None:
            yield from reached(root, header, seen)


def layers(root):
    for patterns, forbidden in LAYERS:
        for pattern in patterns:
            files = list(sources(root, [pattern]))
            if not files:
                yield f"{pattern} has no sources: has the folder moved?"
            for file in files:
                for name, via in reached(root, file, set()):
                    if re.match(forbidden, name):
                        way = "" if via == file else f" through {via.relative_to(root)}"
                        yield f"{file.relative_to(root)} reaches {name}{way}"


def listed(root):
    for file in sources(root, ["app", "demos", "kernels", "lessons", "tests"], (".cpp", ".cu")):
        if file.parent == root / "tests" / "support":
            lists = [root / "cmake" / "SystemPackages.cmake"]
        else:
            lists = [folder / "CMakeLists.txt" for folder in file.parents if (folder / "CMakeLists.txt").is_file()][:-1]
        if not any(re.search(rf"(?<![\w-]){re.escape(file.name)}\b", text.read_text(encoding="utf-8")) for text in lists) \
                and not any(named_by_item(file, text) for text in lists):
            yield f"{file.relative_to(root)} is in no CMakeLists.txt of its folder"
        # Names are passed to Catch2 as arguments to run one case.
        for name in re.findall(r'TEST_CASE(?:_METHOD)?\(\s*"(-[^"]*)"', file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(root)}: Catch2 would take the test's name '{name}' for an option"


def named_by_item(file, cmake):
    """True if a list of items implies the file: foo for foo/foo_cpu.cpp."""
    text = cmake.read_text(encoding="utf-8")
    return "${" in text and re.search(rf"\b{re.escape(file.parent.name)}\b", text) and \
        re.search(r"\$\{\w+\}" + re.escape(file.name.removeprefix(file.parent.name)), text)


def notices(root):
    text = (root / "THIRD_PARTY_NOTICES.md").read_text(encoding="utf-8")
    names = [p["name"] for p in json.loads((root / "tools/deps.lock.json").read_text(encoding="utf-8"))["packages"]]
    setup = (root / "tools/setup.sh").read_text(encoding="utf-8")
    names += re.search(r"^packages=\(([^)]*)\)", setup, re.MULTILINE).group(1).split()
    for name in names:
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
            yield f"{name} is not in THIRD_PARTY_NOTICES.md"
    for font in sorted((root / "assets" / "fonts").glob("*.[ot]tf")):
        patterns = re.findall(r"`(assets/fonts/[^`]*)`", text)
        if not any(font.match(pattern) for pattern in patterns):
            yield f"{font.relative_to(root)} is not in THIRD_PARTY_NOTICES.md"
    links = set(re.findall(r"\]\(([^)]+)\)", text))
    for link in sorted(links):
        if not (root / link).is_file():
            yield f"THIRD_PARTY_NOTICES.md links to {link}, which is not there"
    for licence in sorted((root / "licences").iterdir()):
        if f"licences/{licence.name}" not in links:
            yield f"licences/{licence.name} belongs to nothing in THIRD_PARTY_NOTICES.md"


def lock(root):
    for package in json.loads((root / "tools/deps.lock.json").read_text(encoding="utf-8"))["packages"]:
        if not re.fullmatch(r"[0-9a-f]{64}", package["sha256"]):
            yield f"{package['name']}: no SHA-256"
        if package["version"] not in package["file"]:
            yield f"{package['name']}: the file's name has another version"
        if package["set"] not in ("window", "engine", "toolkit") or min(package["bytes"], package["unpacked_bytes"]) <= 0:
            yield f"{package['name']}: set or sizes are wrong"
    for file in [root / "run", *(root / "tools").rglob("*.py"), *(root / "tools").rglob("*.sh"), *(root / "cmake").rglob("*"),
                 *root.glob(".ci/*"), *root.rglob("CMakeLists.txt")]:
        hidden = any(part in (".deps", "build") for part in file.relative_to(root).parts)
        if file.is_file() and not hidden and re.search(r"https?://", file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(root)} names a server; packages come through the machine's own apt and pip"


def rows(root):
    table = (root / "demos/experiments/technique_table.cpp").read_text(encoding="utf-8")
    known = set(re.findall(r'\.id = "(\w+)"', table))
    for script in sorted((root / "tools").rglob("*.sh")):
        for number, line in enumerate(script.read_text(encoding="utf-8").splitlines(), 1):
            named = re.match(r"\s*technique (\w+)", line)
            if named and named[1] not in known:
                yield f"{script.relative_to(root)}:{number}: technique_table.cpp has no technique {named[1]}"
    if not known:
        yield "demos/experiments/technique_table.cpp has no rows: has the table moved?"


TRAINING_TEXT = "9b5d13ea970bf5dc2cc9facf520d8d99243cc0a4"


def text(root):
    file = root / "assets" / "data" / "course.txt"
    if hashlib.sha1(file.read_bytes()).hexdigest() != TRAINING_TEXT:
        yield f"{file.relative_to(root)} has changed: the losses of all stored recordings are those of the old text"


def comments(root):
    yield from fragments(root)
    yield from paths(root)


def main():
    root, check = Path(sys.argv[1]).resolve(), sys.argv[2]
    problems = list({"layers": layers, "listed": listed, "notices": notices, "lock": lock, "text": text,
                     "spelling": spelling, "comments": comments, "classes": classes, "counts": counts,
                     "kernels": kernels, "operators": operators, "rows": rows}[check](root))
    print("\n".join(problems) if problems else f"{check}: nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
