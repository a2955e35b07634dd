"""A race's rows as a Markdown table.

    table.py ROWS.jsonl
    table.py --ours NAME SETTINGS LOG    one of our runs (JSON of `headroom run`)
"""
import json
import sys

GIB = 2**30


def row_of_ours(name, settings, log):
    text = open(log).read()
    run = json.loads(text[text.index("{"):])
    given = dict(part.split("=", 1) for part in settings.split())
    spread = run.get("tokens_per_second_spread") or {}
    numbers = [spread.get("p20"), run.get("tokens_per_second"), spread.get("p80")]
    return {"program": "headroom", "settings": settings, "checkpointing": given.get("checkpointing", "off") != "off",
            "batch": int(given["batch"]), "tokens": 1024, "outcome": run.get("outcome"), "tokens_per_second": numbers,
            "allocated": run.get("peak_bytes"), "reserved": run.get("peak_reserved_bytes")}


def label(row):
    if row["program"] == "headroom":
        extra = [word for word in row["settings"].split() if word.startswith(("attention", "cuda_graph"))]
        return "Headroom " + " ".join(extra)
    name = {"hf": "transformers", "liger": "Liger-Kernel"}[row["program"]]
    return name + (f", torch.compile ({row['compile']})" if row["compile"] else "")


def table(rows):
    lines = ["| checkpointing | batch | program | tokens/s (p20 to p80) | allocated, GiB | reserved, GiB | ours / this |",
             "|---|---|---|---|---|---|---|"]
    ours = {}
    for row in rows:
        if row["program"] == "headroom" and row["tokens_per_second"][1]:
            ours.setdefault((row["checkpointing"], row["batch"]), []).append(row["tokens_per_second"][1])
    for row in sorted(rows, key=lambda r: (r["checkpointing"], r["batch"], r["program"] != "headroom", label(r))):
        each = "each layer" if row["checkpointing"] else "off"
        if row.get("out_of_memory"):
            lines.append(f"| {each} | {row['batch']} | {label(row)} | out of memory | | | |")
            continue
        low, middle, high = row["tokens_per_second"]
        best = max(ours.get((row["checkpointing"], row["batch"]), [0]))
        ratio = f"{best / middle:.3f}" if row["program"] != "headroom" and best else ""
        lines.append(f"| {each} | {row['batch']} | {label(row)} | {middle:,.0f} ({low:,.0f} to {high:,.0f}) | "
                     f"{row['allocated'] / GIB:.2f} | {row['reserved'] / GIB:.2f} | {ratio} |")
    versions = {}
    for row in rows:
        versions |= row.get("versions", {})
    lines.append("")
    lines.append("Versions: " + ", ".join(f"{name} {number}" for name, number in sorted(versions.items())) + ".")
    return "\n".join(lines)


if sys.argv[1] == "--ours":
    print(json.dumps(row_of_ours(*sys.argv[2:5])))
else:
    print(table([json.loads(line) for line in open(sys.argv[1])]))
