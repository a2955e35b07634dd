"""Comments: the number of their words, sentences without a subject ("Of a run that …", "What the loss takes", "Where the
answer is"; a question is none), and paths that do not exist. Run by itself it prints a table by folder."""
import re
import sys
from pathlib import Path

FOLDERS = ["app", "demos", "kernels", "lessons", "tests", "cmake", "tools"]
CPP = {".cpp", ".h", ".cu", ".cuh", ".in"}
HASH = {".py", ".sh", ".cmake", ".txt"}
# Strings and raw strings come first, so that a // inside one is none.
CPP_TOKEN = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|(//[^\n]*|/\*(?:.|\n)*?\*/)')
HASH_TOKEN = re.compile(r'("""(?:.|\n)*?""")|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|(?:^|(?<=\s))(#[^\n]*)', re.MULTILINE)
FRAGMENT = re.compile(r"(?:^|(?<=[.;:!?] ))(?:Of|What|Where)\b[^.?!]*(?:[.?!]|$)")
WORD = re.compile(r"[A-Za-z][\w'’-]*")


def comments(file, text):
    """(line, words) of each comment. Lines that hold nothing but a comment, one under the other, are one."""
    pieces = []  # line, column, whether code is before it on its line, text
    for found in (CPP_TOKEN if file.suffix in CPP else HASH_TOKEN).finditer(text):
        body = found.group(2) if file.suffix in CPP else found.group(1) or found.group(2)
        if not body or body.startswith("#!"):
            continue
        start = text.rfind("\n", 0, found.start()) + 1
        trailing = text[start:found.start()].strip() != ""
        lines = re.sub(r'^\s*(?:///?<?|/\*+|\*+/?|#+|""")|(?:\*/|""")\s*$', "", body, flags=re.MULTILINE).strip()
        pieces.append((text.count("\n", 0, found.start()) + 1, trailing, body.count("\n"), re.sub(r"\s+", " ", lines)))
    joined = []
    for line, trailing, more, words in pieces:
        if joined and joined[-1][1] == line - 1 and not trailing and not joined[-1][2]:
            joined[-1][3] = (joined[-1][3] + " " + words).strip()
            joined[-1][1] = line + more
        else:
            joined.append([line, line + more, trailing, words])
    return [(line, words) for line, _, _, words in joined]


def files(root):
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.is_file() and file.suffix in CPP | HASH and (file.suffix != ".txt" or file.name == "CMakeLists.txt"):
                yield file


def fragments(root):
    """Each comment's sentence that begins with a bare Of, What or Where."""
    for file in files(root):
        for line, words in comments(file, file.read_text(encoding="utf-8")):
            for found in FRAGMENT.finditer(words):
                if not found.group(0).endswith("?"):
                    yield f"{file.relative_to(root)}:{line}: \"{found.group(0)[:60]}\" has no subject"


PATH = re.compile(r"(?<![\w./-])(?:\.ci|app|assets|cmake|demos|docs|kernels|lessons|licences|tests|tools)/[\w./{},*-]*[\w}]")


def exists(root, path):
    """`path` may hold * and {h,cpp}, and leave the suffix out."""
    options = re.search(r"\{([^{}]*)\}", path)
    if options:
        return all(exists(root, path.replace(options.group(0), each)) for each in options.group(1).split(","))
    return any(True for suffix in ("", ".*") for _ in root.glob(path + suffix))


def paths(root):
    """Each path of the repository that a comment names and that does not exist."""
    for file in files(root):
        for line, words in comments(file, file.read_text(encoding="utf-8")):
            for found in PATH.findall(words):
                if not exists(root, found):
                    yield f"{file.relative_to(root)}:{line}: there is no {found}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    table = {}
    for file in files(root):
        place = "/".join(file.relative_to(root).parts[:-1][:3])
        row = table.setdefault(place, [0, 0, 0])
        for _, words in comments(file, file.read_text(encoding="utf-8")):
            found = [f.group(0) for f in FRAGMENT.finditer(words)]
            row[0] += 1
            row[1] += len(WORD.findall(words))
            row[2] += sum(not f.endswith("?") for f in found)
    print(f"{'folder':40} {'comments':>9} {'words':>8} {'fragments':>10}")
    for place, row in sorted(table.items()):
        print(f"{place:40} {row[0]:9} {row[1]:8} {row[2]:10}")
    print(f"{'all':40} {sum(r[0] for r in table.values()):9} {sum(r[1] for r in table.values()):8} "
          f"{sum(r[2] for r in table.values()):10}")


if __name__ == "__main__":
    main()
