"""Operators are named once, in demos/llama/operators.h: no other product file has a name as text, or numbers a text itself.

Words that also name settings, kernels or saved tensors count only on lines about operators.
"""
import re

from counts import without_comments

TABLE = "demos/llama/operators.h"
PRODUCT = ("app", "demos", "kernels", "lessons")
AMBIGUOUS = {"tokens", "embedding", "positions", "adamw", "loss_scale", "magnitudes", "fp8.scales"}
ABOUT_OPERATORS = re.compile(r"\bop\b|\bop_name\b|operator|Scope\b")
# Names of runtime calls, which are not the demos' operators.
TRACES = "demos/engine/live/trace/"


def table(root):
    return set(re.findall(r'Operator\{Op::k\w+, "([^"]+)"', (root / TABLE).read_text(encoding="utf-8")))


def named(text, names):
    """Lines with an operator's name as text, and the name."""
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        about = ABOUT_OPERATORS.search(line)
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', line):
            for word in re.split(r"[|, ]+", literal):
                if word in names and (about or word not in AMBIGUOUS):
                    yield number, word
        for text_of in re.findall(r'\bintern_operator\("([^"]+)"\)', line):
            if text_of not in names:
                yield number, text_of


def operators(root):
    names = table(root)
    if not names:
        yield f"{TABLE} has no operators any more: has the table moved?"
    for folder in PRODUCT:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix not in (".cpp", ".h", ".cu", ".cuh") or path == TABLE or path.startswith(TRACES):
                continue
            for line, word in named(file.read_text(encoding="utf-8"), names):
                yield f'{path}:{line} has "{word}": take it from {TABLE}'
