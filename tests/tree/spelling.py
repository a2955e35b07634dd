"""Words that comments, string literals, page texts and documents avoid in favor of short ones: a tensor *is* in memory,
a driver *reports*, a kernel takes 16 bytes *per* thread. Spelling is American."""
import re

# Not code in Markdown, which quotes, and not assets/data, on which stored runs trained.
COVERED = [".ci", "CMakeLists.txt", "CONTRIBUTING.md", "README.md", "THIRD_PARTY_NOTICES.md", "app", "assets/fonts",
           "assets/kernels", "assets/text", "cmake", "demos", "docs", "kernels", "lessons", "run", "tests", "tools"]
SUFFIXES = {".cpp", ".h", ".cu", ".cuh", ".in", ".md", ".py", ".sh", ".cmake", ".txt", ""}

BRITISH = re.compile(
    r"colour|centre[sd]?$|metres?$|centring|behaviour|neighbour|favour|honour|grey|licence|labell|travell|modell|signall|artefact|"
    r"whilst|defence|programme$|(?:initial|normal|quant|optim|vector|organ|recogn|summar|serial|synchron|util|minim|maxim|"
    r"special|general|parallel|random|visual|material|final|canonical)is(?:e|ing|ation)")
MEASURES = "bytes?|tokens|numbers?|bits|[KMG]iB|GB|µs|ms|elements|threads|registers?|shape"
THINGS = ("token|second|parameter|layer|row|step|thread|kernel|number|weight|block|sample|element|head|page|part|file|"
          "line|launch|frame|chunk|lane|register|process")
AVOIDED = [
    (re.compile(r"\b(?:no|some)body\b", re.I), "say who, or say it without a person"),
    (re.compile(r"\b(?:told|tells)\b", re.I), "a program reports, shows, gives, passes"),
    (re.compile(r"\b(?:stands?(?!-in)|lies?)\b", re.I), "is"),
    (re.compile(r"\bof (?:its|their|our|your) own\b", re.I), "own, separate, another"),
    (re.compile(r"\broads?\b", re.I), "link, path, way"),
    (re.compile(rf"\b(?:{MEASURES}|once) an? (?:{THINGS})\b(?! (?:thread|time)|[_-])", re.I), "per"),
]
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


def avoided(file, text):
    for start, words in prose(file, text):
        for pattern, instead in AVOIDED:
            for found in pattern.finditer(words):
                yield text.count("\n", 0, start + found.start()) + 1, found.group(0), instead
        for found in WORD.finditer(words):
            if BRITISH.search(found.group(0).lower()) and found.group(0) not in KEYS:
                yield text.count("\n", 0, start + found.start()) + 1, found.group(0), "American spelling"


def words(root):
    for name in COVERED:
        path = root / name
        if not path.exists():
            yield f"{name} is not there: has the folder moved?"
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_file() or file.suffix not in SUFFIXES or file.name in ("words.py", "test_word_list.py"):
                continue
            for line, word, instead in avoided(file, file.read_text(encoding="utf-8")):
                yield f"{file.relative_to(root)}:{line}: \"{word}\"; {instead}"
