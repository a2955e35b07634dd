#!/usr/bin/env python3
"""Checks that a folder written by `headroom figures` has every figure in all formats, readable and as in its manifest.
check_figures.py FOLDER FORMAT..."""
import csv
import json
import struct
import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def problem(file):
    data = file.read_bytes()
    if file.suffix == ".svg":
        root = xml.fromstring(data)
        texts = [e for e in root.iter() if e.tag.endswith("}text")]
        return None if root.tag.endswith("}svg") and texts else "no SVG with text in it"
    if file.suffix == ".pdf":
        return None if data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF") else "not a whole PDF"
    if file.suffix == ".png":
        whole = data.startswith(b"\x89PNG\r\n\x1a\n") and data[-8:-4] == b"IEND"
        return None if whole and min(struct.unpack(">II", data[16:24])) >= 100 else "not a whole PNG of some size"
    if file.suffix == ".csv":
        # An empty line separates panels.
        lines = "\n".join(line for line in data.decode().splitlines() if not line.startswith("#"))
        tables = [list(csv.reader(part.splitlines())) for part in lines.strip("\n").split("\n\n")]
        whole = all(len(rows) > 1 and len({len(row) for row in rows}) == 1 for rows in tables)
        return None if whole else "not a table"
    return None if json.loads(data) else "empty"


def main():
    folder, formats = Path(sys.argv[1]), sys.argv[2:]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
    names = {Path(entry["file"]).stem for entry in manifest}
    problems = [] if names else [f"no figure in {folder}"]
    problems += [f"{entry['file']}: not of the size that the manifest says" for entry in manifest
                 if (folder / entry["file"]).is_file() and (folder / entry["file"]).stat().st_size != entry["bytes"]]
    problems += [f"{file}: not in the manifest" for file in folder.iterdir()
                 if file.name not in {entry["file"] for entry in manifest} | {"manifest.json"}]
    for name in sorted(names):
        for suffix in formats:
            file = folder / f"{name}.{suffix}"
            try:
                found = problem(file) if file.is_file() else "not there"
            except (ValueError, xml.ParseError, UnicodeDecodeError) as error:
                found = str(error)
            if found:
                problems.append(f"{file}: {found}")
    print("\n".join(problems) if problems else f"{len(names)} figures in {len(formats)} formats: all readable")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
