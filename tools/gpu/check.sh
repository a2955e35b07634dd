#!/bin/sh
# Runs the GPU tests, the kernels under compute-sanitizer and benchmarks, and packs the results.
#
#   tools/gpu/check.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# Needs a build (default build/portable, which `cmake --preset portable` makes for other machines), a GPU with a driver,
# and a Python with torch 2.11, whose LibTorch is used. Installs and fetches nothing. --quick skips long tests.
title="GPU checks"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"

step facts "$build/bin/headroom-engine" --facts
step probe_test "$build/tests/bin/live_gpu_probe_test"
step kernels_test "$build/tests/bin/kernels_gpu_test"
step emulated_product_test "$build/tests/bin/kernels_emulated_product_gpu_test"
# Runs use this GPU's table once it is in assets/data/products.
step product_times "$build/bin/product_times" --table "$out/products.csv" 1024 4096 16384 98304
step recording_cost "$build/bin/recording_cost" 60

step trace_test "$build/tests/bin/live_gpu_trace_test"
step edit_kernel_test "$build/tests/bin/edit_kernel_gpu_test"
step techniques_test "$build/tests/bin/techniques_gpu_test"
step prediction_test "$build/tests/bin/gpu_prediction_test"
step bench_step "$build/bin/headroom" bench step --device cuda
[ -n "$quick" ] || step run_test "$build/tests/bin/live_gpu_run_test"

# Last, because nothing can be timed meanwhile. Without LibTorch, on memory of exactly the right size.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
tools=
for tool in memcheck racecheck initcheck synccheck; do wanted "sanitizer_$tool" && tools="$tools $tool"; done
if [ -n "$sanitizer" ] && [ -z "$quick" ] && [ -n "$tools" ]; then
  for tool in $tools; do
    { timeout 540 "$sanitizer" --tool "$tool" --error-exitcode 1 "$build/bin/kernel_driver" \
        >"$out/logs/$tool.tool" 2>&1; echo $? >"$out/logs/$tool.code"; } &
  done
  wait
  for tool in $tools; do
    # shellcheck disable=SC2016  # the inner shell expands
    step "sanitizer_$tool" sh -c 'tail -n 200 "$1.tool"; exit "$(cat "$1.code")"' - "$out/logs/$tool"
    rm -f "$out/logs/$tool.tool" "$out/logs/$tool.code"
  done
fi

{
  echo
  echo "## Offload"
  echo
  grep '^batch' "$out/logs/techniques_test.log" | sort -u
  echo
  echo "## What recording costs"
  echo
  cat "$out/logs/recording_cost.log"
  echo
  echo "## A step and its kernels"
  echo
  cat "$out/logs/bench_step.log"
} >>"$summary"
finish
