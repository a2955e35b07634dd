#!/usr/bin/env python3
"""Tests the check of kernel lists."""
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from kernels import kernels, named  # noqa: E402

IDS = ["adamw", "rope", "nf4"]


class Kernels(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="headroom-kernels-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.write("kernels/CMakeLists.txt", f"set(HEADROOM_KERNELS\n  {' '.join(IDS)})  # the list\n")
        for kernel in IDS:
            for record in ("info", "case"):
                self.write(f"kernels/{kernel}/{kernel}_{record}.cpp", f'x = {{.id = "{kernel}"}};')

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def test_a_kernel_is_named_by_text_in_the_code(self):
        self.assertEqual(named('a("rope|nf4"); // "adamw"', IDS), ["rope", "nf4"])
        self.assertEqual(named('b("report.adamw", "ropes", "fused.nf4")', IDS), ["adamw"])

    def test_two_are_a_use_and_three_a_list(self):
        self.write("demos/a.cpp", 'f("adamw"); g("rope");')
        self.assertEqual(list(kernels(self.root)), [])
        self.write("demos/a.cpp", 'f("adamw"); g("rope", "nf4");')
        self.assertEqual(list(kernels(self.root)),
                         ["demos/a.cpp lists kernels, kernels/CMakeLists.txt alone does: adamw, rope, nf4"])

    def test_a_kernel_of_the_list_has_both_records(self):
        (self.root / "kernels/nf4/nf4_case.cpp").unlink()
        self.assertEqual(list(kernels(self.root)), ["kernels/nf4/nf4_case.cpp does not declare the kernel nf4"])

    def test_a_list_that_has_moved_is_said(self):
        self.write("kernels/CMakeLists.txt", "")
        self.assertEqual(len(list(kernels(self.root))), 1)


if __name__ == "__main__":
    unittest.main()
