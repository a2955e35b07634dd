#!/usr/bin/env python3
"""Tests the check of operators' names."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from operators import named  # noqa: E402

NAMES = {"mlp.gate_proj", "lm_head", "tokens", "mlp.silu"}


def found(text):
    return [word for _, word in named(text, NAMES)]


class Operators(unittest.TestCase):
    def test_a_name_counts_alone_and_in_a_list(self):
        self.assertEqual(found('f("mlp.gate_proj, up_proj"); g("lm_head");'), ["mlp.gate_proj", "lm_head"])
        self.assertEqual(found('f("mlp.gate_proj.weight");  // "mlp.silu"'), [])

    def test_a_word_of_several_meanings_counts_on_lines_about_operators(self):
        self.assertEqual(found('text("tokens");\nif (op == "tokens") return;'), ["tokens"])

    def test_a_number_of_a_text_counts(self):
        self.assertEqual(found('intern_operator("moe.router");\nintern_operator(name);'), ["moe.router"])


if __name__ == "__main__":
    unittest.main()
