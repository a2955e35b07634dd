#!/usr/bin/env python3
"""Tests the check of counts: files that name an id, and its own files."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from counts import edits, named_by, named_in, techniques, without_comments  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent


class Counts(unittest.TestCase):
    def test_a_technique_is_named_by_its_setting_its_enumerator_and_what_asks_for_it(self):
        known = techniques(ROOT)

        def named(technique, files):
            return named_by({file: edits(text) for file, text in files.items()}, technique, known[technique])
        files = {"demos/a": 'set("loss=flce")', "demos/b": '{"loss", "hf_2024|flce"}', "demos/c": "LossPath::kFlce",
                 "demos/d": 'params.text("loss") == "flce"', "demos/e": "if (step.loss)",
                 "demos/f": '"flce.chunk"', "demos/g": '"loss=plain"', "demos/flce_loss": '"loss=flce"'}
        self.assertEqual(named("loss=flce", files), ["demos/a", "demos/b", "demos/c", "demos/d"])
        self.assertEqual(named("gemm=fp8", {"demos/a": "step.fp8()"}), ["demos/a"])
        self.assertEqual(named("cuda_graph=on", {"demos/a": "step.cuda_graph", "demos/b": "cuda"}), ["demos/a"])
        self.assertEqual(named("fused.rope=on", {"demos/a": "step.fused.rope", "demos/b": "layer.rope"}), ["demos/a"])
        self.assertNotIn("loss=plain", known)  # the default

    def test_each_setting_of_a_technique_has_a_pattern(self):
        self.assertLess({"gemm=fp8", "checkpointing=layer", "optimizer=galore", "adapters=qlora", "fused.rope=on"},
                        set(techniques(ROOT)))

    def test_the_file_of_the_record_is_its_own(self):
        files = {"app/cli/drive": '{.name = "bench"}', "app/cli/bench_step": '"bench"', "app/page/x": 'demo == "bench"'}
        self.assertEqual(named_in(files, "demo", "bench"), ["demos/experiments/CMakeLists.txt", "app/page/x"])
        files = {"app/window/widgets/a": 'constinit const Widget kAWidget{\n    &lessons::kCalculatorWidget,', "app/b": "kCalculatorWidget"}
        self.assertEqual(named_in(files, "widget", "calculator"), ["app/b"])

    def test_the_constants_that_the_code_has_count(self):
        files = {"demos/experiments/a": "extern const DemoInfo kTrainStep;", "demos/engine/b": "kTrainStep",
                 "demos/experiments/c": "find(kBench);", "app/cli/d": "extern const Command kBench;"}
        self.assertEqual(named_in(files, "demo", "train_step"),
                         ["demos/experiments/CMakeLists.txt", "demos/experiments/a"])
        self.assertEqual(named_in(files, "demo", "bench"), ["demos/experiments/CMakeLists.txt", "demos/experiments/c"])
        self.assertEqual(named_in(files, "command", "bench"), ["app/cli/CMakeLists.txt", "app/cli/d"])

    def test_a_word_of_several_kinds_counts_where_the_line_names_the_kind(self):
        files = {"app/a": 'if (page.id == "ladder")', "app/b": 'plan.name = "ladder";', "app/c": 'f("low_rank")'}
        self.assertEqual(named_in(files, "page", "ladder"), ["app/a"])
        self.assertEqual(named_in(files, "page", "low_rank"), ["app/c"])

    def test_comments_do_not_count(self):
        self.assertEqual(without_comments('a; // "flce"\n/* "flce" */ b;'), 'a; \n b;')


if __name__ == "__main__":
    unittest.main()
