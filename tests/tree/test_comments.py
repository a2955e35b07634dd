#!/usr/bin/env python3
"""Tests the checks of comments: fragments and paths."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from comments import comments, fragments, paths  # noqa: E402


class Comments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "app").mkdir()

    def tearDown(self):
        self.folder.cleanup()

    def found(self, check, text):
        (self.root / "app" / "a.cpp").write_text(text, encoding="utf-8")
        return [problem.split(": ", 1)[1] for problem in check(self.root)]

    def test_lines_of_one_comment_are_joined_and_trailing_ones_are_apart(self):
        text = '// One\n// sentence.\nint a;  // first\nint b;  // second\nf("// none");\n/* a\n   block */\n'
        self.assertEqual(comments(Path("a.cpp"), text),
                         [(1, "One sentence."), (3, "first"), (4, "second"), (6, "a block")])

    def test_a_sentence_without_a_subject_is_found(self):
        self.assertEqual(len(self.found(fragments, "// Of a run that ended.\n")), 1)
        self.assertEqual(len(self.found(fragments, "int a;  // bytes. What the loss takes\n")), 1)
        self.assertEqual(self.found(fragments, "// What does the loss take?\n// It takes what is left of it.\n"), [])

    def test_a_path_that_does_not_exist_is_found(self):
        self.assertEqual(self.found(paths, "// See app/b.cpp.\n"), ["there is no app/b.cpp"])
        self.assertEqual(self.found(paths, "// See app/a.cpp, app/a.{cpp}, app/*.cpp and app/a.\n"), [])


if __name__ == "__main__":
    unittest.main()
