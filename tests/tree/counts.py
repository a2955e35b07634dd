"""Counts the product files that name each id of the catalogues, apart from the id's own.

A file names an id as text ("rms_norm", or within "loss=flce|plain"), by its enumerator (kFlce), by its record's
constant or in the catalogue's list. Comments, tests and documents do not count. A header and its source are one file.
An id's own file declares its record or is named after it. An id of several kinds counts only on lines with its kind:
`find_page("ladder")`.

    python3 tests/tree/counts.py .    prints the table
"""
import re
from collections import defaultdict

PRODUCT = ("app", "demos", "lessons")  # kernels.py checks kernels
# The most files outside its own that may name an id.
LIMITS = {"page": 1, "figure": 2, "demo": 2, "widget": 2, "command": 2, "technique": 6}
# Ids of several kinds, or names of other things: a number in JSON, a setting, a table.
AMBIGUOUS = {
    "page": {"checkpointing", "chunk", "flce", "ladder", "report", "offload", "schedule", "vocabulary"},
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
    """Keys and values of techniques: switches, and choices other than the plain ones."""
    values = re.findall(r'Meant<\w+>\{\{"(\w+)"', (root / "demos/predict/techniques.h").read_text(encoding="utf-8"))
    switches = re.findall(r'on_off\(\s*"([\w.]+)"',
                          (root / "demos/experiments/train_step_info.cpp").read_text(encoding="utf-8"))
    # Not techniques, or also values of other settings.
    plain = {"off", "plain", "fp32", "model", "adamw", "bf16", "fp16", "tf32", "fp8", "layer", "every", "host", "file", "all",
             "attention", "auto", "mlp", "flash", "eager", "histogram", "trace", "as_stored", "current", "constant", "linear",
             "cosine"}
    return sorted({*values, *switches, "checkpointing", "accumulate", "rounding", "offload.optimizer"} - plain)


def catalogues(root):
    found = {kind: listed(root, *place) for kind, place in LISTS.items()}
    found["page"] = re.findall(r"^- (\w+)$", (root / "assets/text/contents.md").read_text(encoding="utf-8"), re.M)
    found["widget"] = re.findall(r'\{"(\w+)", "', (root / "lessons/pages/widgets.h").read_text(encoding="utf-8"))
    found["technique"] = techniques(root)
    return found


def constant(kind, name):
    words = [word.capitalize() for word in re.split(r"[_.]", name)]
    if kind == "technique" and name == "checkpointing":
        return r"Checkpointing::k\w+"
    return "k" + "".join(words).replace("Adamw", "AdamW").replace("Galore", "GaLore") + \
        {"widget": "Widget"}.get(kind, "")


def names(file, text, kind, name):
    if kind == "technique":  # alone or within "offload.optimizer=host|file"
        return re.search(rf'\b{constant(kind, name)}\b|"(?:[^"\n]*[=|])?{re.escape(name)}(?:[=|][^"\n]*)?"', text) is not None
    word = f'"{re.escape(name)}"'
    if kind != "page" and file.startswith(FOLDERS.get(kind, "")):
        word += rf"|\b{constant(kind, name)}\b"
    lines = re.findall(rf"^[^\n]*(?:{word})[^\n]*$", text, re.M)
    return any(name not in AMBIGUOUS.get(kind, ()) or kind in line.lower() for line in lines)


def own(file, text, kind, name):
    stem = file.rsplit("/", 1)[-1]
    if kind == "technique":
        return name.split(".")[0] in stem
    declared = rf'\.(?:id|name) = "{re.escape(name)}"|\bconst Widget k\w+\{{\s*"{re.escape(name)}"'
    return stem.startswith(name) or re.search(declared, text) is not None


def named_in(files, kind, name):
    """Files outside its own that name an id."""
    found = [LISTS[kind][0]] if kind in LISTS else []
    for file, text in files.items():
        if not own(file, text, kind, name) and names(file, text, kind, name):
            found.append(file)
    return found


def table(root):
    """Kind, id, files that name it."""
    files = product_files(root)
    for kind, ids in catalogues(root).items():
        for name in ids:
            yield kind, name, named_in(files, kind, name)


def counts(root):
    missing = [kind for kind, ids in catalogues(root).items() if not ids]
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
