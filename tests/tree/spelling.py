"""American spelling in comments, string literals, page texts and documents."""
import re

# Not code in Markdown, which quotes, and not assets/data, on which stored runs trained.
COVERED = [".ci", "CMakeLists.txt", "CONTRIBUTING.md", "README.md", "THIRD_PARTY_NOTICES.md", "app", "assets/fonts",
           "assets/kernels", "assets/text", "cmake", "demos", "docs", "kernels", "lessons", "run", "tests", "tools"]
SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".in", ".md", ".py", ".sh", ".cmake", ".txt", ""}

BRITISH = re.compile(
    r"colour|centre[sd]?$|metres?$|centring|behaviour|neighbour|favour|honour|grey|licence|labell|travell|modell|signall|artefact|"
    r"whilst|defence|programme$|(?:initial|normal|quant|optim|vector|organ|recogn|summar|serial|synchron|util|minim|maxim|"
    r"special|general|parallel|random|visual|material|final|canonical)is(?:e|ing|ation)")
WORD = re.compile(r"(?<![\w./-])[A-Za-z][a-z]+(?![\w/(]|\.\w)")  # neither identifiers nor paths
KEYS = {"vectorise", "licences"}  # a setting's value in stored recordings; a folder

CPP = re.compile(r'#\s*include[^\n]*|R"(\w*)\((.|\n)*?\)\1"|//[^\n]*|/\*(.|\n)*?\*/|"(\\.|[^"\\\n])*"'
                 r"|'(\\.|[^'\\\n])+'")
HASH = re.compile(r'"""(.|\n)*?"""|(?<![\w${\\])#[^\n]*|"(\\.|[^"\\\n])*"|\'[^\'\n]*\'')
QUOTED = re.compile(r"^```(.|\n)*?^```|`[^`\n]*`|^    [^\n]*", re.MULTILINE)


def blank(found):
    """Spaces of the same size, so that offsets stay valid."""
    return re.sub(r"[^\n]", " ", found.group(0))


def prose(file, text):
    """(offset, text) of everything written for readers."""
    if file.suffix == ".md":
        yield 0, QUOTED.sub(blank, text)
        return
    for found in (CPP if file.suffix in (".cpp", ".h", ".cu", ".cuh", ".in") else HASH).finditer(text):
        if found.group(0)[0] != "#" or file.suffix not in (".cpp", ".h", ".cu", ".cuh", ".in"):
            yield found.start(), found.group(0)


def british(file, text):
    """(line, word) of each British spelling."""
    for start, words in prose(file, text):
        for found in WORD.finditer(words):
            if BRITISH.search(found.group(0).lower()) and found.group(0) not in KEYS:
                yield text.count("\n", 0, start + found.start()) + 1, found.group(0)


def spelling(root):
    for name in COVERED:
        path = root / name
        if not path.exists():
            yield f"{name} is not there: has the folder moved?"
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_file() or file.suffix not in SUFFIXES or file.name in ("spelling.py", "test_spelling.py"):
                continue
            for line, word in british(file, file.read_text(encoding="utf-8")):
                yield f"{file.relative_to(root)}:{line}: \"{word}\" is not American"
