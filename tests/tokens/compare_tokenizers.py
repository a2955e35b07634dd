#!/usr/bin/env python3
"""Compares our ids of 1 MB of text with Hugging Face's:
    compare_tokenizers.py PRINT_IDS [TOKENIZER.json…]     (default: the fixtures)
Exits with 77 (skipped) without `tokenizers`."""
import array
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    from tokenizers import Tokenizer

    from make_fixtures import FIXTURES, mixed_text
except ImportError as missing:
    print(f"SKIPPED: {missing}; pip install tokenizers")
    sys.exit(77)

BYTES = 1_000_000


def ids_of(program, tokenizer, text):
    done = subprocess.run([program, tokenizer, text], check=True, capture_output=True)
    print(f"{Path(tokenizer).name}: {done.stderr.decode().strip()}")
    return array.array("I", done.stdout).tolist()


def compare(program, file, path):
    """The first difference; empty if equal."""
    text = path.read_bytes().decode()
    ours, theirs = ids_of(program, file, str(path)), Tokenizer.from_file(file).encode(text, add_special_tokens=False)
    if ours == theirs.ids:
        return ""
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs.ids)) if a != b), min(len(ours), len(theirs.ids)) - 1)
    begin = theirs.offsets[at][0]
    return f"from place {at} on: {ours[at:at + 8]} instead of {theirs.ids[at:at + 8]}, in {text[max(0, begin - 10):begin + 12]!r}"


def main():
    program, files = sys.argv[1], sys.argv[2:] or [str(FIXTURES / f"{name}.json") for name in ("llama3", "gpt2", "qwen2", "digits")]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.txt"
        path.write_bytes(mixed_text(BYTES, seed=3).encode()[:BYTES].decode(errors="ignore").encode())
        for file in files:
            difference = compare(program, file, path)
            print("  " + (difference or "all equal"))
            wrong += bool(difference)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
