# What the GPU scripts share: their options, the environment of the programs, a step with its log and its line in the
# summary, recordings by the product's own command, the archive. Sourced, with $title set.
set -u

root=$(cd "$(dirname "$0")" && while [ ! -e CMakePresets.json ]; do cd ..; done && pwd)
build=$root/build/portable
out=$root/out/gpu
quick=
only=
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$(cd "$2" && pwd) || exit 2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --quick) quick=1; shift ;;
    --only) only=$2; shift 2 ;;  # steps whose names match this regular expression
    *) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
mkdir -p "$out/recordings" "$out/logs" || exit 6
out=$(cd "$out" && pwd)

# LibTorch and CUDA's libraries: those that Python's torch uses.
site=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))') || {
  echo "$0: python3 has no torch; run it with a Python that has torch 2.11." >&2; exit 2; }
LD_LIBRARY_PATH=$site/torch/lib:$site/nvidia/cu13/lib:$site/nvidia/nccl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
export HEADROOM_ASSETS="$root/assets" HEADROOM_ENGINE="$build/bin/headroom-engine" OMP_WAIT_POLICY=passive

summary=$out/summary.md
failures=0
started=$(date +%s)

wanted() { [ -z "$only" ] || printf '%s\n' "$1" | grep -qE -- "$only"; }

# step NAME COMMAND…: runs it with a log, and adds a line to the table. Exit code 77 is "skipped".
step() {
  name=$1; shift
  wanted "$name" || return 0
  begun=$(date +%s)
  "$@" >"$out/logs/$name.log" 2>&1
  code=$?
  took=$(($(date +%s) - begun))
  case $code in
    0) result=passed ;;
    77) result=skipped ;;
    *) result="failed ($code)"; failures=$((failures + 1)); tail -n 40 "$out/logs/$name.log" ;;
  esac
  echo "$name: $result, $took s"
  echo "| $name | $result | $took |" >>"$summary"
}

{
  echo "# $title"
  echo
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv
  echo
  "$build/bin/headroom-engine" --version
  echo
  echo '| what | result | seconds |'
  echo '|---|---|---|'
} >"$summary"

# must_end OUTCOME COMMAND…: runs it; its JSON must have this outcome. Exit code 0 alone may also be out of memory.
must_end() {
  expected=$1; shift
  summary_json=$("$@") || return
  printf '%s\n' "$summary_json"
  ended=$(printf '%s' "$summary_json" | python3 -c 'import json, sys; print(json.load(sys.stdin)["outcome"])') || return
  [ "$ended" = "$expected" ] || { echo "The run ended with $ended instead of $expected." >&2; return 1; }
}

# record NAME OUTCOME SETTINGS…: the shipped recordings, by the product's own command.
record() {
  wanted "record_$1" || return 0
  name=$1; outcome=$2; shift 2
  sets=
  for setting in "$@"; do sets="$sets --set $setting"; done
  echo "headroom run train_step$sets --record $name.hrec" >>"$out/recordings/commands.txt"
  # shellcheck disable=SC2086  # the settings have no blanks
  step "record_$name" must_end "$outcome" \
    "$build/bin/headroom" run train_step $sets --record "$out/recordings/$name.hrec" --json
}

# finish: the recordings' sizes, the archive; fails if a step did.
finish() {
  {
    echo
    echo "## Recordings"
    echo
    for file in "$out"/recordings/*.hrec; do
      [ -e "$file" ] && echo "- $(basename "$file"): $(wc -c <"$file") bytes"
    done
    echo
    echo "All in $(($(date +%s) - started)) s."
  } >>"$summary"
  tar -C "$out" -czf "$out/results.tar.gz" summary.md logs recordings
  cat "$summary"
  [ "$failures" -eq 0 ]
}
