"""Checks that the ranks of a recorded run have one clock: a sum ends on all of them at the same time.

    ranks_clocks.py CSV

CSV is the figure memory_timeline of a run of several ranks with data parallelism.
"""
import collections
import csv
import sys

LIMIT_NS = 500_000  # a step takes 60 ms or more

ends = collections.defaultdict(dict)  # of a sum, by rank
with open(sys.argv[1]) as file:
    for row in csv.reader(line for line in file if not line.startswith("#")):
        if len(row) == 7 and row[0].startswith("Rank ") and row[3] == "sum":
            ends[row[6].split(":")[0]].setdefault(row[0], int(row[2]))
spreads = [max(times.values()) - min(times.values()) for times in ends.values() if len(times) > 1]
print(f"{len(spreads)} sums end on all ranks within {max(spreads, default=0) / 1000:.0f} µs")
sys.exit(not spreads or max(spreads) > LIMIT_NS)
