"""A kernel is declared once, by two records in its folder, and listed once, in kernels/CMakeLists.txt.

So no other product file lists kernels: one that names more than two of them (as text in the code, "rms_norm" or a part of
"rms_norm|rope") is a list, and has to ask kernels::kernels() or kernels::kernel_cases() instead. One or two are a use: a
default, an example, a pair that belongs together. A kernel's own folder, comments and tests do not count, nor settings of a
training step, "fused.rms_norm".
"""
import re

from counts import listed, without_comments

LIST = "kernels/CMakeLists.txt"
MOST_NAMED = 2
PRODUCT = ("app", "demos", "lessons", "kernels")
# Operators of a model or a training step, of which many are called as the kernels that may compute them.
OPERATORS = {"demos/experiments/block_info.cpp", "lessons/names.cpp", "lessons/figures/launches.cpp",
             "lessons/figures/architecture.cpp", "lessons/derivatives.h", "lessons/figures/derivative_check.cpp"}


def ids(root):
    return listed(root, LIST, r"set\(HEADROOM_KERNELS\s")


def named(text, kernels):
    """The kernels that a source names as text."""
    literals = re.findall(r'"((?:[^"\\\n]|\\.)*)"', without_comments(text))
    words = {word for literal in literals for word in re.split(r"[|,= ]", literal.removeprefix("report."))}
    return [kernel for kernel in kernels if kernel in words]


def kernels(root):
    every = ids(root)
    if not every:
        yield f"{LIST} has no list of kernels any more: has it moved?"
    for kernel in every:
        for record in ("info", "case"):
            file = root / f"kernels/{kernel}/{kernel}_{record}.cpp"
            if not file.is_file() or f'.id = "{kernel}"' not in file.read_text(encoding="utf-8"):
                yield f"{file.relative_to(root)} does not declare the kernel {kernel}"
    for folder in PRODUCT:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in (".cpp", ".h", ".cu", ".cuh") or path in OPERATORS:
                continue
            found = [kernel for kernel in named(file.read_text(encoding="utf-8"), every)
                     if not path.startswith(f"kernels/{kernel}/")]
            if len(found) > MOST_NAMED:
                yield f"{path} lists kernels, {LIST} alone does: {', '.join(found)}"
