#!/usr/bin/env python3
"""Writes docs/course-map.md: where each item of assets/course_items.csv is taught.

    python3 tools/course_map.py           write the map
    python3 tools/course_map.py --check   print errors, or that the map is out of date, and exit with 1

An item names a page, the beginning of a sentence that teaches it, and a figure. Items without a page are open.
"""
import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ITEMS, MAP, TEXTS = ROOT / "assets/course_items.csv", ROOT / "docs/course-map.md", ROOT / "assets/text"
CHAPTER = re.compile(r"^## (\S+) \w+: (.+)$")
HEAD = """# Where each item of the course is taught

Made by `python3 tools/course_map.py` from [the list of items](../assets/course_items.csv) and the page texts. Each item has the
sentence that teaches it and the figure that takes data for it; what has no page yet is open.
"""


def contents():
    """[(number, title, [page])] in the course's order, without the bench before them."""
    chapters = []
    for line in (TEXTS / "contents.md").read_text(encoding="utf-8").splitlines():
        if heading := CHAPTER.match(line):
            chapters.append((heading[1], heading[2], []))
        elif line.startswith("- ") and chapters:
            chapters[-1][2].append(line[2:].strip())
    return chapters


def plain(text):
    """Words without links and emphasis."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("**", "").replace("\u00a0", " ")).strip()


def stored_numbers():
    with (TEXTS / "numbers.csv").open(encoding="utf-8", newline="") as file:
        return {row["name"]: row["text"] for row in csv.DictReader(file)}


def front_matter(page):
    text = (TEXTS / f"{page}.md").read_text(encoding="utf-8")
    lines = re.sub(r"\{([a-z0-9_.]+)\}", lambda name: NUMBERS.get(name[1], name[0]), text).split("---\n", 2)
    return dict(line.split(": ", 1) for line in lines[1].splitlines() if ": " in line), lines[2]


def sentences(page):
    """Sentences of a page's text, replies and tables."""
    found = []
    for paragraph in re.split(r"\n\s*\n|\n(?=[-|#`]|\d+\. |\s+reply: )", front_matter(page)[1]):
        words = plain(re.sub(r"^\s*(reply: |- \[.\] |- |### |```\w*\s*)", "", paragraph.strip("\n")))
        found += re.split(r"(?<=[.!?:]) (?=[A-Z0-9*$`{(])", words)
    return [sentence for sentence in found if sentence]


def problems_of(item, pages):
    if not item["page"]:
        return []
    where = f"{item['item']}:"
    if item["page"] not in pages:
        return [f"{where} there is no page {item['page']}"]
    figures = front_matter(item["page"])[0].get("figures", "").split()
    wrong = [] if item["figure"] in figures else [f"{where} {item['page']} has no figure {item['figure']}"]
    if taught_by(item) is None:
        wrong.append(f"{where} no sentence of {item['page']} begins with \"{item['begins']}\"")
    return wrong


def taught_by(item):
    return next((s for s in sentences(item["page"]) if s.startswith(plain(item["begins"]))), None)


def row(item, numbers):
    cell = lambda text: text.replace("|", "\\|")
    if not item["page"]:
        return f"| {item['item']} | {cell(item['says'])} | open | | |\n"
    return (f"| {item['item']} | {cell(item['says'])} | {numbers[item['page']]} `{item['page']}` | "
            f"{cell(taught_by(item))} | `{item['figure']}` |\n")


def chapter_of(item):
    return item["item"].split(".")[0]


def document(items, chapters):
    numbers = {page: f"{number}.{i + 1}" for number, _, pages in chapters for i, page in enumerate(pages)}
    titles = {number: title for number, title, _ in chapters}
    taught = sum(bool(item["page"]) for item in items)
    text = HEAD + f"\n{taught} of {len(items)} items are taught.\n"
    for chapter in dict.fromkeys(map(chapter_of, items)):
        name = "The report's figures" if chapter == "figure" else f"{chapter} {titles.get(chapter, '')}".strip()
        text += f"\n## {name}\n\n| item | what it says | page | the sentence that teaches it | figure |\n| --- | --- | --- | --- | --- |\n"
        text += "".join(row(item, numbers) for item in items if chapter_of(item) == chapter)
    return text


NUMBERS = stored_numbers()


def main():
    items = list(csv.DictReader(ITEMS.open(encoding="utf-8", newline="")))
    chapters = contents()
    pages = {page for _, _, listed in chapters for page in listed}
    wrong = [problem for item in items for problem in problems_of(item, pages)]
    ids = [item["item"] for item in items]
    wrong += [f"{each}: twice" for each in sorted({i for i in ids if ids.count(i) > 1})]
    if not wrong and "--check" not in sys.argv[1:]:
        MAP.write_text(document(items, chapters), encoding="utf-8")
    elif not wrong and MAP.read_text(encoding="utf-8") != document(items, chapters):
        wrong.append("docs/course-map.md is not what the list and the texts say: python3 tools/course_map.py")
    print("\n".join(wrong) or "nothing wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
