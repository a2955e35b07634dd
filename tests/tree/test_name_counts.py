#!/usr/bin/env python3
"""Tests the check of counts: files that name an id, and its own files."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from counts import named_in, without_comments  # noqa: E402


class Counts(unittest.TestCase):
    def test_a_technique_is_named_by_its_key_its_value_and_its_enumerator(self):
        files = {"demos/a": 'set("loss=flce")', "demos/b": 'one("hf|flce")', "demos/c": "LossPath::kFlce",
                 "demos/d": '"liger_without_flce"', "demos/e": '"flce.chunk"', "demos/flce_loss": '"flce"'}
        self.assertEqual(named_in(files, "technique", "flce"), ["demos/a", "demos/b", "demos/c"])
        files = {"demos/a": 'x("checkpointing")', "demos/b": "Checkpointing::kLayer", "demos/c": "step.checkpointing"}
        self.assertEqual(named_in(files, "technique", "checkpointing"), ["demos/a", "demos/b"])

    def test_the_file_of_the_record_is_its_own(self):
        files = {"app/cli/drive": '{.name = "bench"}', "app/cli/bench_step": '"bench"', "app/page/x": 'demo == "bench"'}
        self.assertEqual(named_in(files, "demo", "bench"), ["demos/experiments/CMakeLists.txt", "app/page/x"])
        files = {"app/window/widgets/a": 'constinit const Widget kAWidget{\n    "calculator"', "app/b": "kCalculatorWidget"}
        self.assertEqual(named_in(files, "widget", "calculator"), ["app/b"])

    def test_the_constants_that_the_code_has_count(self):
        files = {"demos/experiments/a": "extern const DemoInfo kTrainStep;", "demos/engine/b": "kTrainStep",
                 "demos/experiments/c": "find(kBench);", "app/cli/d": "extern const Command kBench;"}
        self.assertEqual(named_in(files, "demo", "train_step"),
                         ["demos/experiments/CMakeLists.txt", "demos/experiments/a"])
        self.assertEqual(named_in(files, "demo", "bench"), ["demos/experiments/CMakeLists.txt", "demos/experiments/c"])
        self.assertEqual(named_in(files, "command", "bench"), ["app/cli/CMakeLists.txt", "app/cli/d"])
        self.assertEqual(named_in({"demos/a": "OptimizerKind::kGaLore"}, "technique", "galore"), ["demos/a"])

    def test_a_word_of_several_kinds_counts_where_the_line_names_the_kind(self):
        files = {"app/a": 'if (page.id == "ladder")', "app/b": 'plan.name = "ladder";', "app/c": 'f("low_rank")'}
        self.assertEqual(named_in(files, "page", "ladder"), ["app/a"])
        self.assertEqual(named_in(files, "page", "low_rank"), ["app/c"])

    def test_comments_do_not_count(self):
        self.assertEqual(without_comments('a; // "flce"\n/* "flce" */ b;'), 'a; \n b;')


if __name__ == "__main__":
    unittest.main()
