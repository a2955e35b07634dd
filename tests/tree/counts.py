"""Counts the product files that name each id of the catalogues, apart from the id's own.

A file names an id as text ("rms_norm"), by its record's constant or in the catalogue's list, and a technique by its
setting ("loss=flce"), its enumerator (LossPath::kFlce), or a function or field that asks for it. Comments, tests and documents do not count. A header and its source are one file.
An id's own file declares its record or is named after it. An id of several kinds counts only on lines with its kind:
`find_page("ladder")`.

    python3 tests/tree/counts.py .    prints the table
"""
import re
from collections import defaultdict

PRODUCT = ("app", "demos", "lessons")  # kernels.py checks kernels
# The most files outside its own that may name an id.
LIMITS = {"page": 1, "figure": 2, "demo": 2, "widget": 2, "command": 2, "technique": 12}
# Ids of several kinds, or names of other things: a number in JSON, a setting, a table.
AMBIGUOUS = {
    "page": {"checkpointing", "chunk", "flce", "ladder", "mixed_precision", "report", "offload", "schedule", "vocabulary"},
    "figure": {"launches", "peak_by_category", "product_rates"},
    "demo": {"bandwidth", "block", "launches", "moments", "step_bound", "product_rates", "edit_kernel"},
    "widget": {"ladder", "report", "settings", "sweep"},
    "command": {"list", "page", "run", "sweep", "bench", "report", "figures", "window"},
}
# Folders where a record's constant is its plain name: kBench is a demo in one and a command in the other.
FOLDERS = {"demo": "demos/experiments/", "command": "app/cli/"}
# Lists that generate catalogues.
LISTS = {"figure": ("lessons/CMakeLists.txt", r"FUNCTION figures\s+ITEMS"),
         "demo": ("demos/experiments/CMakeLists.txt", r"set\(HEADROOM_DEMOS\s"),
         "command": ("app/cli/CMakeLists.txt", r"FUNCTION commands\s+ITEMS")}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def product_files(root):
    """Maps paths without suffix to texts. A header and its source are one."""
    files = defaultdict(str)
    for folder in PRODUCT:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                files[path.relative_to(root).as_posix().rsplit(".", 1)[0]] += \
                    without_comments(path.read_text(encoding="utf-8"))
    return files


def listed(root, file, before):
    text = re.sub(r"#[^\n]*", "", (root / file).read_text(encoding="utf-8"))
    found = re.search(before + r"([^)]*)\)", text)
    return found.group(1).split() if found else []


def techniques(root):
    """Maps "gemm=fp8" and "cuda_graph=on" to the edits that name it: its enumerator, its setting, and functions and fields
    that ask for it. The first value of a choice is its default, not a technique."""
    read = [(root / file).read_text(encoding="utf-8")
            for file in ("demos/predict/techniques.h", "demos/predict/step_settings.h", "demos/predict/step_settings.cpp")]
    code = without_comments("\n".join(read))
    info = re.sub(r'"\s*\n\s*"', "", (root / "demos/experiments/info/train_step_info.cpp").read_text(encoding="utf-8"))
    functions = re.findall(r"bool (?:\w+::)?(\w+)\([^)]*\)(?: const)? \{([^}]*)\}", code)
    values = {name: re.findall(r'Meant<(?:\w+::)*(\w+)>\{\{"(\w+)", "[^"]*"\}, [\w:]+::(k\w+)\}', body)
              for name, body in re.findall(r"std::array (k\w+)\{(.*?)\n\};", code, re.S)}
    found = {}
    for key, name in re.findall(r'choice\(\s*"([\w.]+)",\s*"[^"]*",\s*"[^"]*",\s*kChoicesOf<predict::(k\w+)>', info):
        for kind, value, enumerator in values[name][1:]:
            asked = {f"{function}(" for function, body in functions if f"{kind}::{enumerator}" in body}
            found[f"{key}={value}"] = asked | {f"{kind}::{enumerator}", f"{key}={value}"}
    for key in re.findall(r'(?:on_off|fused)\(\s*"([\w.]+)"', info):
        field = re.search(rf'([\w.]+) = params\.on\("{re.escape(key)}"\)', code)
        name = key if key.startswith("fused.") else field[1].split(".", 1)[-1] if field else key
        found[f"{key}=on"] = {f"{key}=on", name if "." in name else "." + name}
    return found


def edits(text):
    """Enumerators, calls, fields and settings of a file."""
    found = {name for names in (r"\w+::k\w+", r"\w+\(", r"\.\w+", r"(?=(\b\w+\.\w+))") for name in re.findall(names, text)}
    for key, values in re.findall(r'"([\w.]+)(?:=|",\s*"!?|"\)\s*==\s*")([\w|]+)"', text):
        found.update(f"{key}={value}" for value in values.split("|"))
    found.update(f"{key}=on" for key in re.findall(r'"([\w.]+)"', text))
    return found


def catalogues(root):
    found = {kind: listed(root, *place) for kind, place in LISTS.items()}
    found["page"] = re.findall(r"^- (\w+)$", (root / "assets/text/contents.md").read_text(encoding="utf-8"), re.M)
    found["widget"] = re.findall(r'\.id = "(\w+)"', (root / "lessons/pages/widgets.h").read_text(encoding="utf-8"))
    return found


def constant(kind, name):
    words = [word.capitalize() for word in re.split(r"[_.]", name)]
    return "k" + "".join(words).replace("Adamw", "AdamW").replace("Galore", "GaLore") + \
        {"widget": "Widget"}.get(kind, "")


def names(file, text, kind, name):
    word = f'"{re.escape(name)}"'
    if kind != "page" and file.startswith(FOLDERS.get(kind, "")):
        word += rf"|\b{constant(kind, name)}\b"
    lines = re.findall(rf"^[^\n]*(?:{word})[^\n]*$", text, re.M)
    return any(name not in AMBIGUOUS.get(kind, ()) or kind in line.lower() for line in lines)


def own(file, text, kind, name):
    stem = file.rsplit("/", 1)[-1]
    declared = rf'\.(?:id|name) = "{re.escape(name)}"|\bconst Widget k\w+\{{\s*&lessons::{constant(kind, name)}\b'
    return stem.startswith(name) or re.search(declared, text) is not None


def named_in(files, kind, name):
    """Files outside its own that name an id."""
    found = [LISTS[kind][0]] if kind in LISTS else []
    symbol = constant(kind, name)
    for file, text in files.items():
        mentioned = name in text or symbol in text  # the patterns are slow
        if mentioned and not own(file, text, kind, name) and names(file, text, kind, name):
            found.append(file)
    return found


def named_by(edited, technique, names):
    """Files that name a technique, except those called after it or its value."""
    words = [word.removesuffix("=on") for word in re.split(r"=(?!on$)", technique)]
    own = tuple({word.split(".")[-1] for word in words} - {"layer"})
    return [file for file, found in edited.items() if not file.rsplit("/", 1)[-1].startswith(own) and found & names]


def table(root):
    """Kind, id, files that name it."""
    files = product_files(root)
    for kind, ids in catalogues(root).items():
        for name in ids:
            yield kind, name, named_in(files, kind, name)
    edited = {file: edits(text) for file, text in files.items()}
    for name, named in techniques(root).items():
        yield "technique", name, named_by(edited, name, named)


def counts(root):
    missing = [kind for kind, ids in {**catalogues(root), "technique": techniques(root)}.items() if not ids]
    for kind in missing:
        yield f"there is no list of {kind}s any more: has it moved?"
    for kind, name, files in table(root):
        if len(files) > LIMITS[kind]:
            yield f"the {kind} {name} is named in {len(files)} files, at most {LIMITS[kind]}: {', '.join(files)}"


if __name__ == "__main__":
    import sys
    from pathlib import Path
    for row in table(Path(sys.argv[1])):
        print(f"{row[0]:10} {row[1]:26} {len(row[2])}")
