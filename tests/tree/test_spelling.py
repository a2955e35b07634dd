#!/usr/bin/env python3
"""Tests the check of spelling in comments, literals and Markdown."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from spelling import british  # noqa: E402


def found(name, text):
    return [word for _, word in british(Path(name), text)]


class Spelling(unittest.TestCase):
    def test_comments_and_literals_of_code(self):
        self.assertEqual(found("a.cpp", "// the colour of a neighbour\n"), ["colour", "neighbour"])
        self.assertEqual(found("a.cpp", 'say("the behaviour");\n'), ["behaviour"])
        self.assertEqual(found("a.cpp", "// 3 millimetres away\n"), ["millimetres"])
        self.assertEqual(found("a.py", '"""Normalises it."""\nx = 1  # grey\n'), ["Normalises", "grey"])
        self.assertEqual(found("a.cpp", "/* one\n   centre */\n"), ["centre"])

    def test_code_itself_is_free(self):
        self.assertEqual(found("a.cpp", '#include "a/quantisation_error.h"\nint colour = grey(favour);\n'), [])
        self.assertEqual(found("a.cpp", '// quantise_blockwise(x), QuantisedBlocks, licences/mit.txt\n"vectorise"\n'), [])

    def test_markdown_without_its_code(self):
        self.assertEqual(found("a.md", "A colour.\n\n    headroom grey\n\n`centre` and\n```\nfavour\n```\n"), ["colour"])

    def test_lines_are_named(self):
        self.assertEqual([line for line, _ in british(Path("a.md"), "one\n\n`x`\ngrey\n")], [4])


if __name__ == "__main__":
    unittest.main()
