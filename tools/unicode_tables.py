#!/usr/bin/env python3
"""Writes assets/unicode/*.csv from Python's Unicode data, limited to Unicode 9 like Hugging Face's tables."""
import unicodedata
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "assets" / "unicode"
HANGUL = range(0xAC00, 0xD7A4)  # computed
# Combining or decomposable characters of Unicode 10 to 14: first, last.
YOUNGER = [
    (0x7fd, 0x7fd), (0x898, 0x89f), (0x8ca, 0x8d3), (0x9fe, 0x9fe), (0xc3c, 0xc3c), (0xd3b, 0xd3c), (0xeba, 0xeba),
    (0x1715, 0x1715), (0x1abf, 0x1ace), (0x1df6, 0x1dfa), (0xa82c, 0xa82c), (0x10d24, 0x10d27), (0x10eab, 0x10eac),
    (0x10f46, 0x10f50), (0x10f82, 0x10f85), (0x11070, 0x11070), (0x1133b, 0x1133b), (0x1145e, 0x1145e),
    (0x11839, 0x1183a), (0x11938, 0x11938), (0x1193d, 0x1193e), (0x11943, 0x11943), (0x119e0, 0x119e0),
    (0x11a34, 0x11a34), (0x11a47, 0x11a47), (0x11a99, 0x11a99), (0x11d42, 0x11d42), (0x11d44, 0x11d45),
    (0x11d97, 0x11d97), (0x16ff0, 0x16ff1), (0x1e130, 0x1e136), (0x1e2ae, 0x1e2ae), (0x1e2ec, 0x1e2ef),
]


def known(code):
    return code not in HANGUL and not any(first <= code <= last for first, last in YOUNGER)


def decompositions():
    """Character, its first and second part (0: none), and whether the parts compose to it."""
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code))
        if known(code) and parts and not parts.startswith("<"):
            first, second = ([int(part, 16) for part in parts.split()] + [0])[:2]
            yield code, first, second, int(second != 0 and unicodedata.normalize("NFC", chr(code)) == chr(code))


def combining_classes():
    """First and last character, class. All others have class 0."""
    ranges = []
    for code in range(0x110000):
        value = unicodedata.combining(chr(code)) if known(code) else 0
        if value and ranges and ranges[-1][1] == code - 1 and ranges[-1][2] == value:
            ranges[-1][1] = code
        elif value:
            ranges.append([code, code, value])
    return ranges


def write(name, columns, rows):
    lines = ["# Written by tools/unicode_tables.py, by Unicode 9: do not edit.", columns,
             *(",".join(map(str, row)) for row in rows)]
    (OUT / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    write("decompositions.csv", "character,first,second,composes", decompositions())
    write("combining_classes.csv", "first,last,class", combining_classes())


if __name__ == "__main__":
    main()
