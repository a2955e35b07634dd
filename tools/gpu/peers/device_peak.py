"""Runs a command, and then prints as JSON how much device memory it took at most.

    device_peak.py COMMAND…

{"device_bytes": the most that NVML showed on any GPU, less what was used before}. A user pays this much, whatever
allocator or communicator took it. Ends with the command's exit code.
"""
import json
import subprocess
import sys

import pynvml

INTERVAL_S = 0.02

pynvml.nvmlInit()
gpus = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]


def used():
    return [pynvml.nvmlDeviceGetMemoryInfo(gpu).used for gpu in gpus]


before = peak = used()
command = subprocess.Popen(sys.argv[1:])
while True:
    try:
        command.wait(INTERVAL_S)
        break
    except subprocess.TimeoutExpired:
        peak = list(map(max, peak, used()))
print(json.dumps({"device_bytes": max(most - base for most, base in zip(peak, before))}))
sys.exit(command.returncode)
