# Shared by the GPU scripts, which set $title: options, environment, logged steps, recordings, the archive.
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
    --only) only=$2; shift 2 ;;  # steps whose names match
    *) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
mkdir -p "$out/recordings" "$out/logs" || exit 6
out=$(cd "$out" && pwd)

# Python's LibTorch and CUDA libraries.
site=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))') || {
  echo "$0: python3 has no torch; run it with a Python that has torch 2.11." >&2; exit 2; }
LD_LIBRARY_PATH=$site/torch/lib:$site/nvidia/cu13/lib:$site/nvidia/nccl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
export HEADROOM_ASSETS="$root/assets" HEADROOM_ENGINE="$build/bin/headroom-engine" OMP_WAIT_POLICY=passive

summary=$out/summary.md
failures=0
started=$(date +%s)

wanted() { [ -z "$only" ] || printf '%s\n' "$1" | grep -qE -- "$only"; }

# step NAME COMMAND…: runs the command, logs it and adds a line to the table; exit code 77 means skipped.
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

# must_end OUTCOME COMMAND…: requires this outcome in the command's JSON; exit code 0 may be out of memory.
must_end() {
  expected=$1; shift
  summary_json=$("$@") || return
  printf '%s\n' "$summary_json"
  ended=$(printf '%s' "$summary_json" | python3 -c 'import json, sys; print(json.load(sys.stdin)["outcome"])') || return
  [ "$ended" = "$expected" ] || { echo "The run ended with $ended instead of $expected." >&2; return 1; }
}

# record NAME OUTCOME SETTINGS…: makes a shipped recording.
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

# finish: packs the results; fails if a step did.
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
