"""A kernel is declared once, by two records in its folder, and listed once, in kernels/CMakeLists.txt.

Any other product file that names more than two kernels as text ("rms_norm", or within "rms_norm|rope") is a second list
and must use kernels::kernels() or kernels::kernel_cases(). A kernel's own folder, comments, tests and settings such as
"fused.rms_norm" do not count.
"""
import re

from counts import listed, without_comments

LIST = "kernels/CMakeLists.txt"
MOST_NAMED = 2
PRODUCT = ("app", "demos", "lessons", "kernels")
# Operators of a model or step, often named like kernels.
OPERATORS = {"demos/experiments/info/block_info.cpp", "lessons/figures/architecture.cpp", "lessons/theory/derivatives.h",
             "lessons/figures/steps/derivative_check.cpp"}


def ids(root):
    return listed(root, LIST, r"set\(HEADROOM_KERNELS\s")


def named(text, kernels):
    """Kernels that a source names as text."""
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
