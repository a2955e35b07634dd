"""Size of each class and struct: its data members and, if it has behavior, its public functions. Run by itself it prints the
largest.

A class has behavior if it has a function other than a comparison, or a private member. Members of nested types that a class
holds as members count with its own. A plain record may have more fields only in groups of its own types.
"""
import re
import sys
from pathlib import Path

from comments import CPP_TOKEN

FOLDERS = ("app", "demos", "kernels", "lessons")
MOST_FUNCTIONS, MOST_MEMBERS, MOST_FIELDS = 40, 25, 15
# Larger ones, which may only shrink: members or fields.
LARGER = {"Measurement": 18, "ParamSpec": 20, "Page": 21}
HEAD = re.compile(r"\b(class|struct)\s+(?:alignas\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?::[^;{()]*)?\{")
ACCESS = re.compile(r"\b(public|protected|private)\s*:(?!:)")


def blank(found):
    return re.sub(r"[^\n]", " ", found.group(0)) if found.group(0).startswith("/") else '""'


def without_arguments(statement):
    """The statement without template arguments and attributes."""
    before = None
    while before != statement:
        before, statement = statement, re.sub(r"(\w)<[^<>;{}]*>", r"\1", statement)
    return statement


def closing(text, start):
    """The place of the brace that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


class Type:
    def __init__(self, name, line, kind, body):
        self.name, self.line = name, line
        self.functions, self.fields, self.private_fields = set(), [], 0
        self.nested = {}
        self.comparisons_only = True
        access = "public" if kind == "struct" else "private"
        for statement, inner in statements(body):
            marks = list(ACCESS.finditer(statement))
            if marks:
                access = marks[-1].group(1)
                statement = statement[marks[-1].end():]
            self.take(statement.strip(), inner, access)

    def take(self, statement, inner, access):
        head = HEAD.match(statement + "{") if inner is not None else None
        if head and "(" not in statement:
            self.nested[head.group(2)] = Type(head.group(2), 0, head.group(1), inner)
            return
        if not statement or re.match(r"(using|friend|template\s*<[^>]*>\s*(class|struct)|static_assert|enum|typedef|namespace)\b", statement):
            return
        plain = without_arguments(statement)
        before = plain if "operator" in plain else re.split(r"=|\{", plain, maxsplit=1)[0]
        called = re.search(r"(\boperator\s*[^\s(]+|~?\b\w+)\s*\(", before)
        if called:
            name = called.group(1)
            if name.startswith("operator"):
                return
            if name.lstrip("~") == self.name:  # constructors and the destructor
                if "= default" not in statement and "= delete" not in statement:
                    self.comparisons_only = False
                return
            self.comparisons_only = False
            if access == "public":
                self.functions.add(name)
            return
        if re.match(r"(static\b.*\bconst|static\b|constexpr\b|inline static\b)", statement):
            return
        count = 1 + re.sub(r"\{[^{}]*\}|\([^()]*\)|=[^,]*", "", plain).count(",")
        self.fields.append((statement, count))
        if access != "public":
            self.private_fields += count

    @property
    def behaves(self):
        return self.private_fields > 0 or not self.comparisons_only

    def members(self):
        total = 0
        for statement, count in self.fields:
            held = next((inner for name, inner in self.nested.items() if re.search(rf"\b{name}\b", statement)), None)
            total += count * (max(1, held.members()) if held else 1)
        return total


def statements(body):
    """(text, text of its braces or None) of each statement of a class."""
    start = i = 0
    parens = 0
    while i < len(body):
        c = body[i]
        if c in "()":
            parens += 1 if c == "(" else -1
        if c == ";" and parens == 0:
            yield body[start:i], None
            start = i + 1
        elif c == "{" and parens == 0:
            end = closing(body, i)
            rest = body[end + 1:].lstrip()
            text = body[start:i]
            is_type = HEAD.search(text + "{") is not None and "(" not in text
            is_function = re.search(r"\)\s*(const|noexcept|override|final|&|->[^{]*|:[^{]*|\s)*$", ACCESS.sub("", text)) is not None
            if is_type or is_function:
                yield text, body[i + 1:end]
                start = end + 1
                if rest.startswith(";"):
                    start = body.index(";", end) + 1
                i = start - 1
            else:
                i = end
        i += 1


def types(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cpp", ".cuh", ".cu"):
                continue
            text = CPP_TOKEN.sub(blank, file.read_text(encoding="utf-8"))
            end = 0
            for head in HEAD.finditer(text):
                if head.start() < end or re.search(r"\benum\s*$", text[:head.start()]):
                    continue
                brace = head.end() - 1
                end = closing(text, brace)
                line = text.count("\n", 0, head.start()) + 1
                yield file.relative_to(root), Type(head.group(2), line, head.group(1), text[brace + 1:end])


def classes(root):
    for file, each in types(root):
        place = f"{file}:{each.line}: {each.name}"
        if each.behaves and len(each.functions) > MOST_FUNCTIONS:
            yield f"{place} has {len(each.functions)} public functions, at most {MOST_FUNCTIONS}"
        size = each.members() if each.behaves else sum(count for _, count in each.fields)
        most = LARGER.get(each.name, MOST_MEMBERS if each.behaves else MOST_FIELDS)
        if size > most:
            yield f"{place} has {size} {'members' if each.behaves else 'fields in one group'}, at most {most}"


if __name__ == "__main__":
    rows = [(len(t.functions) if t.behaves else 0, t.members(), sum(c for _, c in t.fields), "behaves" if t.behaves else "record", f"{f}:{t.line} {t.name}")
            for f, t in types(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())]
    for row in sorted(rows, reverse=True)[:15] + sorted(rows, key=lambda r: -r[1])[:25]:
        print("{:4} functions {:4} members {:4} fields  {:8} {}".format(*row))
