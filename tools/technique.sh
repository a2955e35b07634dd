# Shared by the scripts that make recordings: settings and recordings from the product's table of techniques. $headroom
# is the program.

# technique_row ID: prints the name of its recording, then its settings; fails for an unknown id.
technique_row() {
  "$headroom" list --json | python3 -c '
import json, sys
rows = {row["id"]: row for row in json.load(sys.stdin)["techniques"]}
if sys.argv[1] not in rows:
    sys.exit(f"The table of techniques has no {sys.argv[1]}.")
print(rows[sys.argv[1]]["recording"], *rows[sys.argv[1]]["settings"])' "$1"
}
