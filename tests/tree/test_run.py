#!/usr/bin/env python3
"""Tests ./run and tools/setup.sh in a separate tree with fakes of the programs they start, which log their calls."""
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import progress  # noqa: E402

STANDINS = {
    # All requested packages are installed except $ABSENT.
    "dpkg-query": 'for p in "${@:4}"; do case " $ABSENT " in *" $p "*) ;; *) echo "installed $p" ;; esac; done',
    "apt-get": 'echo "apt-get $*" >>"$LOG"',
    "id": "echo 1000",
    "uname": "echo x86_64",
    "nvcc": 'echo "Cuda compilation tools, release $NVCC_RELEASE"',
    "cmake": '''echo "cmake $*" >>"$LOG"
for word; do preset=$last; [ "$last" = --preset ] && build=build/$word; last=$word; done
[ "$build" = build/default ] && build=build
mkdir -p "$build" && touch "$build/build.ninja"''',
    "ninja": '''echo "ninja $*" >>"$LOG"
sleep "${NINJA_PAUSE:-0}"
[ -z "$NINJA_FAILS" ] || { echo "FAILED: a.o"; echo "a.cpp:1: error: no"; exit 1; }
mkdir -p "$2/bin"
printf '#!/bin/sh\\necho "headroom in $(pwd): $*"\\n' >"$2/bin/headroom"
chmod +x "$2/bin/headroom"''',
}


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="headroom-run-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree, self.log = self.folder / "tree", self.folder / "log"
        (self.tree / "tools").mkdir(parents=True)
        shutil.copy(ROOT / "run", self.tree)
        for tool in ("setup.sh", "progress.py"):
            shutil.copy(ROOT / "tools" / tool, self.tree / "tools")
        (self.tree / "CMakePresets.json").write_text("{}")
        (self.tree / "tools" / "fetch.py").write_text(
            "import os, sys\nopen(os.environ['LOG'], 'a').write('fetch ' + ' '.join(sys.argv[1:]) + '\\n')\n")
        standins = self.folder / "standins"
        standins.mkdir()
        for name, script in STANDINS.items():
            (standins / name).write_text(f"#!/bin/bash\n{script}\n")
            (standins / name).chmod(0o755)
        self.environment = {
            "PATH": f"{standins}:/usr/bin:/bin", "HOME": str(self.folder), "LOG": str(self.log), "LC_ALL": "C.UTF-8",
            "CUDACXX": str(standins / "nvcc"), "NVCC_RELEASE": "13.0"}

    def run_it(self, *words, cwd=None, **environment):
        """The completed ./run WORDS; self.asked: the fakes' log."""
        self.log.write_text("")
        done = subprocess.run([self.tree / "run", *words], cwd=cwd or self.tree, env={**self.environment, **environment},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.asked = self.log.read_text()
        return done

    def test_a_command_runs_in_the_folder_of_its_caller(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        done = self.run_it("figures", "--out", "out", cwd=elsewhere)
        self.assertEqual(done.stdout, f"headroom in {elsewhere}: figures --out out\n", done.stderr)
        self.assertIn(f"headroom in {elsewhere}: doctor", self.run_it("doctor", cwd=elsewhere).stdout)

    def test_the_second_start_configures_nothing(self):
        self.run_it("list")
        self.assertIn("cmake --preset default\n", self.asked)
        self.run_it("list")
        self.assertNotIn("cmake", self.asked)
        self.assertIn("ninja -C build", self.asked)

    def test_what_was_configured_otherwise_or_elsewhere_is_configured_afresh(self):
        self.run_it("list")
        (self.tree / "CMakePresets.json").write_text("{ }")
        self.run_it("list")
        self.assertIn("cmake --fresh --preset default\n", self.asked)
        self.tree = self.tree.rename(self.folder / "moved")
        self.run_it("list")
        self.assertIn("cmake --fresh --preset default\n", self.asked)

    def test_only_builds_with_the_engine_fetch_it(self):
        self.run_it("list")
        self.assertIn("fetch get window engine\n", self.asked)
        self.run_it("list", NVCC_RELEASE="12.4")
        self.assertIn("fetch get window engine toolkit\n", self.asked)
        for words, environment in ((("--light", "list"), {}), (("list",), {"HEADROOM_PRESET": "asan"})):
            self.run_it(*words, **environment)
            self.assertIn("fetch get window\n", self.asked)

    def test_missing_packages_are_named_with_the_one_command_and_not_installed_unasked(self):
        done = self.run_it("list", ABSENT="ninja-build libzstd-dev")
        self.assertEqual(done.returncode, 2)
        self.assertIn("sudo apt-get install -y --no-install-recommends libzstd-dev ninja-build\n", done.stderr)
        for tool in ("apt-get", "cmake", "ninja"):
            self.assertNotIn(tool, self.asked)

    def test_doctor_says_what_is_missing_and_the_cure_or_that_nothing_is(self):
        done = self.run_it("doctor", ABSENT="libzstd-dev")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Missing packages: libzstd-dev", done.stderr)
        self.assertIn("fix: sudo apt-get install", done.stderr)
        done = self.run_it("doctor")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Nothing is missing", done.stderr)

    def test_a_build_that_fails_shows_the_first_error_and_starts_nothing(self):
        done = self.run_it("list", NINJA_FAILS="1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a.cpp:1: error: no", done.stderr)
        self.assertIn("setup.log", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_what_took_its_time_is_said_with_its_seconds(self):
        done = self.run_it("list", NINJA_PAUSE="2.1")
        self.assertRegex(done.stderr, r"Set up: .*building \d+ s\.")


class Progress(unittest.TestCase):
    """Output while Ninja builds."""
    STEPS = ["[1/3] Building CXX object lessons/a.o", "a.cpp: a warning", "[2/3] Building CXX object kernels/b.o",
             "[3/3] Linking CXX executable c"]

    def show(self, pause):
        shown, written = io.StringIO(), tempfile.NamedTemporaryFile("r")
        with contextlib.ExitStack() as stack:
            stack.enter_context(written)
            for patch in (mock.patch.object(sys, "argv", ["progress.py", "4/4 building", written.name, "build"]),
                          mock.patch.object(sys, "stdin", io.StringIO("\n".join(self.STEPS) + "\n")),
                          mock.patch.object(progress, "planned", return_value=12.5),
                          mock.patch.object(progress, "PAUSE", pause), contextlib.redirect_stderr(shown)):
                stack.enter_context(patch)
            progress.main()
            return shown.getvalue(), written.read()

    def test_each_line_counts_the_steps_and_the_log_has_everything(self):
        shown, log = self.show(pause=0)
        self.assertEqual(shown.splitlines(), [f"4/4 building: {i} of 3 steps, 0:00" for i in (1, 2, 3)])
        self.assertEqual(log.splitlines(), self.STEPS)

    def test_without_a_terminal_a_minute_passes_between_lines(self):
        self.assertEqual(self.show(pause=60)[0], "")

    def test_what_is_left_follows_the_pace_of_the_steps_so_far(self):
        self.assertEqual(progress.left(60, 10, 40), ", about 3 min left")
        self.assertEqual(progress.left(60, 30, 40), ", about 20 s left")
        self.assertEqual(progress.left(5, 30, 40), "")
        self.assertEqual(progress.left(60, 40, 40), "")
        self.assertEqual(progress.left(60, 39, 40), "")

    def test_the_steps_to_come_are_known_though_cmake_may_be_run_again(self):
        with tempfile.TemporaryDirectory() as build:
            Path(build, "build.ninja").write_text(
                "rule cxx\n  command = false\n  description = Building CXX object $out\n"
                "rule again\n  command = false\n  generator = 1\n"
                "build checked: phony missing\nbuild missing: again\n"
                "build build.ninja: again | checked\n  pool = console\n"
                "build lessons/a.o: cxx\nbuild kernels/b.o: cxx\n", encoding="utf-8")
            self.assertEqual(progress.planned(build, ["lessons/a.o"]), progress.weight(self.STEPS[0]))
            self.assertEqual(progress.planned(build, ["lessons/a.o", "kernels/b.o"]),
                             progress.weight(self.STEPS[0]) + progress.weight(self.STEPS[2]))

    def test_code_with_libtorch_weighs_more_than_code_without(self):
        plain, torch, link = (progress.weight(text) for text in (self.STEPS[0], *self.STEPS[2:]))
        self.assertGreater(progress.weight("Building CUDA object kernels/a.cu.o"), torch)
        self.assertGreater(torch, plain)
        self.assertGreater(plain, link)


if __name__ == "__main__":
    unittest.main()
