#!/bin/sh
# Runs the GPU tests and measurements on this machine, makes the recordings that are shipped, and packs the results.
#
#   tools/gpu/check.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# DIR of the build (default build/portable) holds bin/ and tests/bin/; `cmake --preset portable` makes one that can be
# carried here. The machine needs a GPU, its driver, and a Python whose torch is the same release (2.11), from which
# LibTorch is taken. Nothing is installed and nothing is fetched. --quick leaves out the long tests.
title="GPU checks"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"

step facts "$build/bin/headroom-engine" --facts
step probe_test "$build/tests/bin/live_gpu_probe_test"
for test in "$build"/tests/bin/kernels_*_gpu_test; do
  step "$(basename "$test" _gpu_test)" "$test"
done
# What it finds is the table of this GPU; put into assets/data/products, runs take it from there.
step product_times "$build/bin/product_times" --table "$out/products.csv" 1024 4096 16384 98304
step recording_cost "$build/bin/recording_cost" 60

common="model=llama-3.2-1b precision=bf16 seq=1024 device=cuda"
# shellcheck disable=SC2086
{
  record llama-3.2-1b_h200_b4 completed $common batch=4
  record llama-3.2-1b_h200_b4_checkpointing completed $common batch=4 checkpointing=layer
  record llama-3.2-1b_h200_b8_24gib_oom out_of_memory $common batch=8 cap=24GiB
}
# Kernels of a step, eager and fused: traced, so that they give launches and kernel times, but no speed.
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
# Kernels beside eager compositions, LibTorch's own and a copy; the table is in the log.
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
    { timeout 300 "$sanitizer" --tool "$tool" --error-exitcode 1 "$build/bin/kernel_driver" \
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
} >>"$summary"
finish
