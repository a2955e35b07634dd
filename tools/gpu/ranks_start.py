"""Measures how long a run takes from its processes being up to its first step, by the progress that it shows.

    ranks_start.py COMMAND…

COMMAND is `headroom run train_step …`. Fails above 3 s.
"""
import os
import pty
import subprocess
import sys
import time

LIMIT_S = 3
UP, TRAINS = b"building the model", b"step 1 of"

ours, its = pty.openpty()  # a terminal's progress is shown ten times per second
begin = time.monotonic()
run = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=its, stdin=subprocess.DEVNULL)
os.close(its)
seen, when = b"", {}
while True:
    try:
        more = os.read(ours, 4096)
    except OSError:
        break  # the terminal's other end is closed
    if not more:
        break
    seen = seen[-200:] + more
    for text in (UP, TRAINS):
        if text in seen:
            when.setdefault(text, time.monotonic())
run.wait()
if len(when) < 2:
    sys.exit(f"The run showed no first step: {seen[-200:]!r}")
taken = when[TRAINS] - when[UP]
print(f"processes up after {when[UP] - begin:.1f} s, the first step runs {taken:.1f} s later")
sys.exit(taken > LIMIT_S)
