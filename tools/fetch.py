#!/usr/bin/env python3
"""Fetches what tools/deps.lock.json pins with pip, and unpacks it into .deps.

    fetch.py status SET...   lists what is missing; exits with 1 if anything is
    fetch.py get SET...      downloads (into the cache), checks and unpacks what is missing

Sets: window, engine, toolkit. No package is installed or run, so the Python version does not matter. An interrupted
command can be repeated: files are unpacked under temporary names, and a package's stamp is written last.
"""
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "tools" / "deps.lock.json"
DEPS = ROOT / ".deps"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headroom" / "downloads"
GIB = 1 << 30


class Stop(Exception):
    """Ends the program with a message."""


def packages(sets):
    return [p for p in json.loads(LOCK.read_text(encoding="utf-8"))["packages"] if p["set"] in sets]


def stamp_of(package):
    return DEPS / "stamps" / package["name"]


def stamp_text(package):
    """Hashes of the archive and of the files chosen from it."""
    choice = json.dumps([package["into"], package["only"], package["skip"]])
    return package["sha256"] + " " + hashlib.sha256(choice.encode()).hexdigest() + "\n"


def is_unpacked(package):
    stamp = stamp_of(package)
    return stamp.is_file() and stamp.read_text() == stamp_text(package)


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def size(count):
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / (1 << 20):.0f} MiB"


def check_disk(missing):
    """Stops unless the disk has room for everything missing."""
    wanted = [(CACHE, sum(p["bytes"] for p in missing if not (CACHE / p["file"]).is_file()), "downloads"),
              (DEPS, sum(p["unpacked_bytes"] for p in missing), "libraries")]
    for folder, _, _ in wanted:
        folder.mkdir(parents=True, exist_ok=True)
    by_disk = {}
    for folder, need, what in wanted:
        by_disk.setdefault(os.stat(folder).st_dev, []).append((folder, need, what))
    for entries in by_disk.values():
        need = sum(n for _, n, _ in entries)
        free = shutil.disk_usage(entries[0][0]).free
        if need > free:
            parts = ", ".join(f"{size(n)} of {what} in {folder}" for folder, n, what in entries if n)
            raise Stop(f"Not enough disk space: {size(need)} needed ({parts}), {size(free)} free. Free some space, or "
                       "move the cache with XDG_CACHE_HOME=FOLDER, then run this again: it resumes. "
                       "'./run --light' needs far less.")


def find_pip():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
            return [python, "-m", "pip"]
    raise Stop("pip is missing. Install it with: apt-get install python3-pip")


def download(package, pip):
    """Downloads a file with this machine's pip and checks it against the lock."""
    target = CACHE / package["file"]
    beside = CACHE / (package["name"] + ".partial")
    shutil.rmtree(beside, ignore_errors=True)
    command = pip + ["download", "--no-deps", "--disable-pip-version-check", "--no-cache-dir", "-d", str(beside)]
    command += ["--progress-bar", "on" if sys.stderr.isatty() else "off"]
    environment = dict(os.environ)
    if package["file"].endswith(".whl"):
        # The locked file, whatever Python runs this.
        python, abi, platforms = package["file"][:-len(".whl")].split("-")[2:]
        command += ["--only-binary", ":all:", "--implementation", "cp", "--python-version", "3.11", "--abi", abi]
        for platform in platforms.split("."):
            command += ["--platform", platform]
    else:
        command += ["--no-binary", ":all:", "--no-build-isolation"]
        environment.update(PYTHONPATH=str(ROOT / "tools" / "no_build"), HEADROOM_FETCH_NAME=package["name"],
                           HEADROOM_FETCH_VERSION=package["version"])
    command.append(f"{package['name']}=={package['version']}")
    result = subprocess.run(command, env=environment, check=False,
                            **({} if sys.stderr.isatty() else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}))
    found = beside / package["file"]
    if result.returncode != 0 or not found.is_file():
        if result.stdout:
            sys.stderr.write(result.stdout.decode(errors="replace"))
        raise Stop(f"pip could not download {package['name']} {package['version']} (its message is above). Check the "
                   "network and pip's settings ('pip config list'), then run this again: it resumes.")
    check_hash(package, found)
    os.replace(found, target)
    shutil.rmtree(beside)


def check_hash(package, path):
    found = sha256(path)
    if found != package["sha256"]:
        path.unlink()
        raise Stop(f"{package['file']} is not the file that tools/deps.lock.json pins, and was deleted.\n"
                   f"  pinned {package['sha256']}\n  found  {found}\nRun this again: it downloads the file again.")


def members(path):
    """(name, mode, open function) of an archive's regular files, without a source archive's top folder."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield info.filename, info.external_attr >> 16, lambda info=info: archive.open(info)
    else:
        with tarfile.open(path) as archive:
            for info in archive:
                if info.isfile():
                    yield info.name.split("/", 1)[-1], info.mode, lambda info=info: archive.extractfile(info)


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def unpack(package):
    into = DEPS / package["into"]
    for name, mode, opened in members(CACHE / package["file"]):
        if not matches(name, package["only"]) or matches(name, package["skip"]):
            continue
        target = (into / name).resolve()
        if into.resolve() not in target.parents:
            raise Stop(f"{package['file']} holds a file outside its folder ({name}): not unpacked.")
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        with opened() as source, open(partial, "wb") as out:
            shutil.copyfileobj(source, out, 1 << 20)
        partial.chmod(0o755 if mode & 0o100 else 0o644)
        partial.replace(target)


def complete_toolkit():
    """Adds a folder lib64 and unversioned library names, which nvcc expects and the wheels lack."""
    cuda = DEPS / "wheels" / "nvidia" / "cu13"
    if not (cuda / "lib64").exists():
        (cuda / "lib64").symlink_to("lib")
    for name in ("cudart", "cublas", "cublasLt", "cupti", "nvrtc"):
        link = cuda / "lib" / f"lib{name}.so"
        if not link.exists():
            link.symlink_to(sorted((cuda / "lib").glob(f"lib{name}.so.[0-9]*"))[0].name)


def get(sets):
    missing = [p for p in packages(sets) if not is_unpacked(p)]
    if missing:
        check_disk(missing)
    pip = None
    for number, package in enumerate(missing, 1):
        start = time.monotonic()
        archive = CACHE / package["file"]
        known = archive.is_file()
        print(f"[{number}/{len(missing)}] {package['name']} {package['version']} ({size(package['bytes'])}"
              f"{', in the cache' if known else ''})", end=" " if not sys.stderr.isatty() or known else "\n", flush=True)
        if known:
            check_hash(package, archive)
        else:
            pip = pip or find_pip()
            download(package, pip)
        unpack(package)
        stamp_of(package).parent.mkdir(parents=True, exist_ok=True)
        stamp_of(package).write_text(stamp_text(package))
        print(f"ready, {time.monotonic() - start:.0f} s", flush=True)
    if "toolkit" in sets:
        complete_toolkit()  # always, in case of an earlier interruption


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("status", "get"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if arguments[0] == "get":
            get(arguments[1:])
            return 0
        missing = [p for p in packages(arguments[1:]) if not is_unpacked(p)]
        for package in missing:
            print(f"{package['name']} {package['version']} ({size(package['bytes'])}): {package['why']}")
        return 1 if missing else 0
    except Stop as stop:
        print(f"\n{stop}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"\n{error}. Fix that, then run this again: it resumes.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nInterrupted. Run this again: it resumes.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
