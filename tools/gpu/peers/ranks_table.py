"""Rows of tools/gpu/peers/ranks.sh as a Markdown table.

    ranks_table.py ROWS.jsonl
    ranks_table.py --row NAME SETTINGS LOG    one program's row; LOG ends with a line of device_peak.py
"""
import json
import sys

GIB = 2**30


def row_of(name, settings, log):
    """Reads our JSON of many lines, or the peer's one line."""
    lines = open(log).read().rstrip().splitlines()
    row = {"name": name, "case": name.split("_")[0], "settings": settings}
    try:
        row |= json.loads(lines[-1])
        if "_ours" not in name:
            return row | json.loads(next(line for line in lines if line.startswith('{"program"')))
        run = json.loads("\n".join(lines[lines.index("{"):-1]))
        spread = run["tokens_per_second_spread"]
        return row | {"program": "headroom", "ranks": run["params"]["ranks"], "outcome": run["outcome"],
                      "tokens_per_second": [spread["p20"], run["tokens_per_second"], spread["p80"]],
                      "allocated": max(each["peak_bytes"] for each in run["ranks"]),
                      "reserved": max(each["peak_reserved_bytes"] for each in run["ranks"])}
    except (ValueError, StopIteration, KeyError, IndexError) as error:
        return row | {"trouble": repr(error)}


def table(rows):
    lines = ["| run | settings | tokens/s (p20 to p80) | allocated, GiB | reserved, GiB | device, GiB |",
             "|---|---|---|---|---|---|"]
    versions = {}
    for row in rows:
        versions |= row.get("versions", {})
        what = f"| {row['name']} | {row['settings']} |"
        if "trouble" in row:
            lines.append(f"{what} {row['trouble']} | | | |")
            continue
        low, middle, high = row["tokens_per_second"]
        lines.append(f"{what} {middle:,.0f} ({low:,.0f} to {high:,.0f}) | {row['allocated'] / GIB:.2f} | "
                     f"{row['reserved'] / GIB:.2f} | {row['device_bytes'] / GIB:.2f} |")
    return "\n".join(lines + ["", "Versions: " + ", ".join(f"{name} {number}" for name, number in versions.items())])


if sys.argv[1] == "--row":
    print(json.dumps(row_of(*sys.argv[2:5])))
else:
    print(table([json.loads(line) for line in open(sys.argv[1])]))
