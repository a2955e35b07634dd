#!/bin/sh
# Runs the GPU tests and measurements on this machine, makes the recordings that are shipped, and packs the results.
#
#   tools/gpu/check.sh [--build DIR] [--out DIR] [--quick]
#
# DIR of the build (default build/portable) holds bin/ and tests/bin/; `cmake --preset portable` makes one that can be
# carried here. The machine needs a GPU, its driver, and a Python whose torch is the same release (2.11), from which
# LibTorch is taken. Nothing is installed and nothing is fetched. --quick leaves out the long tests.
set -u

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/portable
out=$root/out/gpu
quick=
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$(cd "$2" && pwd) || exit 2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --quick) quick=1; shift ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
mkdir -p "$out/recordings" "$out/logs" || exit 6
out=$(cd "$out" && pwd)

# LibTorch and CUDA's libraries: those that Python's torch uses.
site=$(python3 -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))') || {
  echo "check.sh: python3 has no torch; run it with a Python that has torch 2.11." >&2; exit 2; }
LD_LIBRARY_PATH=$site/torch/lib:$site/nvidia/cu13/lib:$site/nvidia/nccl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
export HEADROOM_ASSETS="$root/assets" HEADROOM_ENGINE="$build/bin/headroom-engine" OMP_WAIT_POLICY=passive

summary=$out/summary.md
failures=0
started=$(date +%s)

# step NAME COMMAND…: runs it with a log, and adds a line to the table. Exit code 77 is "skipped".
step() {
  name=$1; shift
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
  echo "# GPU checks"
  echo
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv
  echo
  "$build/bin/headroom-engine" --version
  echo
  echo '| what | result | seconds |'
  echo '|---|---|---|'
} >"$summary"

step facts "$build/bin/headroom-engine" --facts
step probe_test "$build/tests/bin/live_gpu_probe_test"
for test in "$build"/tests/bin/kernels_*_gpu_test; do
  step "$(basename "$test" _gpu_test)" "$test"
done
step recording_cost "$build/bin/recording_cost" 60

# must_end OUTCOME COMMAND…: runs it; its JSON must tell this outcome. Exit code 0 alone may also be out of memory.
must_end() {
  expected=$1; shift
  summary_json=$("$@") || return
  printf '%s\n' "$summary_json"
  ended=$(printf '%s' "$summary_json" | python3 -c 'import json, sys; print(json.load(sys.stdin)["outcome"])') || return
  [ "$ended" = "$expected" ] || { echo "The run ended with $ended instead of $expected." >&2; return 1; }
}

# record NAME OUTCOME SETTINGS…: the shipped recordings, by the product's own command.
record() {
  name=$1; outcome=$2; shift 2
  sets=
  for setting in "$@"; do sets="$sets --set $setting"; done
  echo "headroom run train_step$sets --record $name.hrec" >>"$out/recordings/commands.txt"
  # shellcheck disable=SC2086  # the settings have no blanks
  step "record_$name" must_end "$outcome" \
    "$build/bin/headroom" run train_step $sets --record "$out/recordings/$name.hrec" --json
}
common="model=llama-3.2-1b precision=bf16 seq=1024 device=cuda"
# shellcheck disable=SC2086
{
  record llama-3.2-1b_h200_b4 completed $common batch=4
  record llama-3.2-1b_h200_b4_checkpointing completed $common batch=4 checkpointing=layer
  record llama-3.2-1b_h200_b8_24gib_oom out_of_memory $common batch=8 cap=24GiB
}
# Kernels of a step, eager and fused: traced, so that they tell launches and kernel times, but no speed.
fused="fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on loss=flce"
# shellcheck disable=SC2086
{
  record llama-3.2-1b_h200_eager_kernels completed $common batch=1 trace=on
  record llama-3.2-1b_h200_fused_kernels completed $common batch=1 trace=on $fused
}
step record_launches must_end completed "$build/bin/headroom" run launches --device cuda --set rows=1024 --trace \
  --record "$out/recordings/rms_norm_h200_launches.hrec" --json
echo "headroom run launches --device cuda --set rows=1024 --trace --record rms_norm_h200_launches.hrec" \
  >>"$out/recordings/commands.txt"
step trace_test "$build/tests/bin/live_gpu_trace_test"
step edit_kernel_test "$build/tests/bin/edit_kernel_gpu_test"
step record_edit_kernel "$build/bin/headroom" run edit_kernel --set exercise=rms_norm --device cuda \
  --record "$out/recordings/edit_kernel_rms_norm_h200.hrec"
echo "headroom run edit_kernel --set exercise=rms_norm --device cuda --record edit_kernel_rms_norm_h200.hrec" \
  >>"$out/recordings/commands.txt"
step bench_step "$build/bin/headroom" bench step --device cuda
# Kernels beside eager compositions, LibTorch's own and a copy; the table stands in the log.
bench="bench --device cuda --set panel=all"
[ -z "$quick" ] || bench="$bench --quick"
# shellcheck disable=SC2086
step record_bench "$build/bin/headroom" $bench --record "$out/recordings/kernels_h200.hrec"
echo "headroom $bench --record kernels_h200.hrec" >>"$out/recordings/commands.txt"
[ -n "$quick" ] || step run_test "$build/tests/bin/live_gpu_run_test"

# The kernels alone, without LibTorch, on memory of exactly the right size. Last: the tools keep the GPU busy for each
# other, so nothing is timed beside them.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -n "$sanitizer" ] && [ -z "$quick" ]; then
  tools="memcheck racecheck initcheck synccheck"
  for tool in $tools; do
    { timeout 150 "$sanitizer" --tool "$tool" --error-exitcode 1 "$build/bin/kernel_driver" \
        >"$out/logs/$tool.tool" 2>&1; echo $? >"$out/logs/$tool.code"; } &
  done
  wait
  for tool in $tools; do
    # shellcheck disable=SC2016  # the inner shell is the one to look
    step "sanitizer_$tool" sh -c 'tail -n 200 "$1.tool"; exit "$(cat "$1.code")"' - "$out/logs/$tool"
    rm -f "$out/logs/$tool.tool" "$out/logs/$tool.code"
  done
fi

{
  echo
  echo "## What recording costs"
  echo
  cat "$out/logs/recording_cost.log"
  echo
  echo "## A step and its kernels"
  echo
  cat "$out/logs/bench_step.log"
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
