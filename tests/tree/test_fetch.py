#!/usr/bin/env python3
"""Tests tools/fetch.py with small archives, some damaged, interrupted or too large."""
import contextlib
import hashlib
import importlib.util
import io
import json
import shutil
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC = importlib.util.spec_from_file_location("fetch", ROOT / "tools" / "fetch.py")
fetch = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fetch)


class Fetch(unittest.TestCase):
    def setUp(self):
        folder = Path(tempfile.mkdtemp(prefix="headroom-fetch-"))
        self.addCleanup(shutil.rmtree, folder)
        for name, path in (("LOCK", folder / "lock.json"), ("DEPS", folder / "deps"), ("CACHE", folder / "cache")):
            patch = mock.patch.object(fetch, name, path)
            patch.start()
            self.addCleanup(patch.stop)
        fetch.CACHE.mkdir()
        self.packages = []

    def add(self, name, files, **more):
        """Adds a package to the lock file and the cache."""
        file = f"{name}-1.0-py3-none-any.whl"
        with zipfile.ZipFile(fetch.CACHE / file, "w") as archive:
            for path, text in files.items():
                archive.writestr(path, text)
        data = (fetch.CACHE / file).read_bytes()
        self.packages.append({"name": name, "version": "1.0", "set": "window", "why": "a test", "file": file,
                              "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "unpacked_bytes": 100,
                              "into": "wheels", "only": ["*"], "skip": [], **more})
        fetch.LOCK.write_text(json.dumps({"packages": self.packages}), encoding="utf-8")
        return self.packages[-1]

    def run_it(self, *words):
        """Exit code and output."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = fetch.main(list(words))
        return code, printed.getvalue()

    def unpacked(self):
        return sorted(str(f.relative_to(fetch.DEPS)) for f in fetch.DEPS.rglob("*") if f.is_file() and f.parent.name != "stamps")

    def test_the_files_chosen_are_unpacked_once(self):
        self.add("a", {"lib/a.so": "A", "lib/a.py": "no", "doc/a": "no"}, only=["lib/*"], skip=["*.py"])
        self.add("b", {"b": "B"}, set="engine")
        self.assertEqual(self.run_it("status", "window"), (1, "a 1.0 (0 MiB): a test\n"))
        self.assertEqual(self.run_it("get", "window")[0], 0)
        self.assertEqual(self.unpacked(), ["wheels/lib/a.so"])
        self.assertEqual(self.run_it("status", "window"), (0, ""))
        shutil.rmtree(fetch.CACHE)  # the second start needs no cache
        self.assertEqual(self.run_it("get", "window"), (0, ""))

    def test_another_choice_of_files_is_unpacked_anew(self):
        package = self.add("a", {"a": "A", "b": "B"}, only=["a"])
        self.run_it("get", "window")
        package["only"] = ["*"]
        fetch.LOCK.write_text(json.dumps({"packages": self.packages}), encoding="utf-8")
        self.assertEqual(self.run_it("get", "window")[0], 0)
        self.assertEqual(self.unpacked(), ["wheels/a", "wheels/b"])

    def test_after_an_interruption_it_goes_on_where_it_stopped(self):
        self.add("a", {"a": "A"})
        self.add("b", {"b": "B"})
        with mock.patch.object(fetch.shutil, "copyfileobj", side_effect=[None, KeyboardInterrupt]):
            self.assertEqual(self.run_it("get", "window")[0], 130)
        self.assertEqual(self.run_it("status", "window"), (1, "b 1.0 (0 MiB): a test\n"))
        self.assertEqual(self.run_it("get", "window")[0], 0)
        self.assertEqual((fetch.DEPS / "wheels" / "b").read_text(), "B")

    def test_the_toolkit_gets_its_links_also_when_that_was_interrupted(self):
        names = ("cudart", "cublas", "cublasLt", "cupti", "nvrtc")
        self.add("nvcc", {f"nvidia/cu13/lib/lib{name}.so.13": name for name in names}, set="toolkit")
        with mock.patch.object(fetch, "complete_toolkit", side_effect=KeyboardInterrupt):
            self.assertEqual(self.run_it("get", "toolkit")[0], 130)
        self.assertEqual(self.run_it("get", "toolkit")[0], 0)
        for name in names:
            self.assertEqual((fetch.DEPS / "wheels/nvidia/cu13/lib64" / f"lib{name}.so").read_text(), name)

    def test_a_damaged_archive_is_refused_and_deleted(self):
        package = self.add("a", {"a": "A"})
        (fetch.CACHE / package["file"]).write_bytes(b"damaged")
        code, said = self.run_it("get", "window")
        self.assertEqual(code, 2)
        self.assertIn("is not the file that tools/deps.lock.json pins", said)
        self.assertFalse((fetch.CACHE / package["file"]).exists())
        self.assertEqual(self.unpacked(), [])

    def test_an_archive_that_reaches_out_of_its_folder_is_refused(self):
        self.add("a", {"../evil": "no"})
        code, said = self.run_it("get", "window")
        self.assertEqual(code, 2)
        self.assertIn("outside its folder", said)
        self.assertFalse((fetch.DEPS / "evil").exists())

    def test_room_on_the_disk_is_asked_for_before_the_first_byte(self):
        self.add("a", {"a": "A"}, unpacked_bytes=5 << 30)
        usage = mock.Mock(free=3 << 30)
        with mock.patch.object(fetch.shutil, "disk_usage", return_value=usage):
            code, said = self.run_it("get", "window")
        self.assertEqual(code, 2)
        self.assertIn("5.0 GiB needed", said)
        self.assertIn("3.0 GiB free", said)
        self.assertIn("XDG_CACHE_HOME", said)
        self.assertEqual(self.unpacked(), [])


if __name__ == "__main__":
    unittest.main()
