#!/usr/bin/env python3
"""Tests the check of words in comments, literals and Markdown."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from words import avoided  # noqa: E402


def found(name, text):
    return [word for _, word, _ in avoided(Path(name), text)]


class Words(unittest.TestCase):
    def test_comments_and_literals_of_code(self):
        self.assertEqual(found("a.cpp", "// 16 bytes a thread, nobody waits\n"), ["nobody", "bytes a thread"])
        self.assertEqual(found("a.cpp", 'say("the colour lies here");\n'), ["lies", "colour"])
        self.assertEqual(found("a.cpp", "// they lie 3 millimetres away; 40 registers a thread\n"),
                         ["lie", "registers a thread", "millimetres"])
        self.assertEqual(found("a.py", '"""Stands for it."""\nx = 1  # told\n'), ["Stands", "told"])
        self.assertEqual(found("a.cpp", "/* one\n   road */\n"), ["road"])

    def test_code_itself_is_free(self):
        self.assertEqual(found("a.cpp", '#include "a/quantisation_error.h"\nint colour = lies(told);\n'), [])
        self.assertEqual(found("a.cpp", '// quantise_blockwise(x), QuantisedBlocks, licences/mit.txt\n"vectorise"\n'), [])
        self.assertEqual(found("a.h", "// a stand-in; understands; beliefs; 16 bytes per thread; a token that comes\n"), [])

    def test_markdown_without_its_code(self):
        self.assertEqual(found("a.md", "A page stands here.\n\n    headroom tells\n\n`told` and\n```\nlies\n```\n"), ["stands"])

    def test_lines_are_named(self):
        self.assertEqual([line for line, _, _ in avoided(Path("a.md"), "one\n\n`x`\ntells\n")], [4])


if __name__ == "__main__":
    unittest.main()
