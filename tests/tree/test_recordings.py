#!/usr/bin/env python3
"""Tests which recordings tools/gpu/recordings.sh accepts, with fakes of the program and torch."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Recordings(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="headroom-recordings-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "build" / "bin").mkdir(parents=True)
        (self.folder / "python" / "torch").mkdir(parents=True)
        (self.folder / "python" / "torch" / "__init__.py").touch()

    def summary(self, program):
        """Summary lines of plain steps recorded by a fake program."""
        headroom = self.folder / "build" / "bin" / "headroom"
        headroom.write_text("#!/bin/sh\n" + program)
        headroom.chmod(0o755)
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([ROOT / "tools/gpu/recordings.sh", "--build", self.folder / "build", "--out", out, "--quick",
                        "--only", "llama-3.2-1b_h200_b"],
                       env=os.environ | {"PYTHONPATH": str(self.folder / "python")}, capture_output=True, check=False)
        lines = [line.split("|") for line in (out / "summary.md").read_text().splitlines() if "_h200_b" in line]
        return {cells[1].strip().removeprefix("record_llama-3.2-1b_h200_"): cells[2].strip() for cells in lines}, out

    def test_recordings_that_ended_as_they_should_are_good(self):
        results, out = self.summary(
            'case "$*" in *cap=24GiB*) end=out_of_memory ;; *) end=completed ;; esac; echo "{\\"outcome\\": \\"$end\\"}"')
        self.assertEqual(results, {"b4": "passed", "b4_checkpointing": "passed", "b8_24gib_oom": "passed"})
        commands = (out / "recordings" / "commands.txt").read_text().splitlines()
        self.assertTrue(commands[0].endswith("--set batch=4 --record llama-3.2-1b_h200_b4.hrec"), commands[0])

    def test_a_run_that_ended_otherwise_is_not(self):
        results, _ = self.summary("""echo '{"outcome": "completed"}'""")
        self.assertEqual(results, {"b4": "passed", "b4_checkpointing": "passed", "b8_24gib_oom": "failed (1)"})
        results, _ = self.summary("""echo '{"outcome": "out_of_memory"}'""")
        self.assertEqual(results, {"b4": "failed (1)", "b4_checkpointing": "failed (1)", "b8_24gib_oom": "passed"})
        results, _ = self.summary("exit 7")
        self.assertEqual(set(results.values()), {"failed (7)"})


if __name__ == "__main__":
    unittest.main()
