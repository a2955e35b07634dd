#!/bin/sh
# Checks training on several GPUs of one host, and packs the results: collectives, plans of every scheme, losses, what a
# killed rank leaves behind, what NCCL takes, and the shipped recordings of 2 and 4 GPUs.
#
#   tools/gpu/ranks.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# Build, machine and results as for check.sh, with 4 GPUs. --quick draws 8 configurations and 2 largest batches instead
# of 40 and 12.
title="Several GPUs"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"
headroom=$build/bin/headroom

step links nvidia-smi topo -m
step doctor "$headroom" doctor
step collectives_test "$build/tests/bin/collectives_gpu_test"

step ring "$headroom" run ring --device cuda --set ranks=4 --json

# Losses of N ranks with the same global batch: within 1e-6 of one rank's after 5 steps, 1e-5 after 20.
losses() {  # NAME SETTINGS…
  wanted losses || return 0
  kind=$1; shift
  sets=
  for setting in model=tiny seq=256 steps=20 precision=fp32 "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086  # settings have no blanks
  "$headroom" run train_step --device cuda $sets --json 2>/dev/null >"$out/logs/losses_$kind.json"
}
losses one_rank batch=8
losses two_data ranks=2 batch=4
losses four_data ranks=4 batch=2
for zero in 1 2 3; do
  losses "two_zero$zero" ranks=2 batch=4 zero=$zero
  losses "four_zero$zero" ranks=4 batch=2 zero=$zero
done
losses four_hybrid ranks=4 batch=2 zero=3 zero_group=2
for zero in off 1 2; do losses "two_graph_$zero" ranks=2 batch=4 zero=$zero cuda_graph=on; done
losses four_graph_hybrid ranks=4 batch=2 zero=1 zero_group=2 cuda_graph=on
step losses python3 "$root/tools/gpu/ranks_losses.py" "$out/logs"

# Signals one rank in the middle of a step: the run ends with a sentence that names the rank, and no process is left.
signalled() {  # NAME SIGNAL SETTINGS…
  log=$out/logs/$1.txt; signal=$2; shift 2
  sets="--set model=llama-3.2-1b --set seq=1024 --set precision=bf16 --set batch=4 --set ranks=4 --set zero=3"
  for setting in steps=2000 "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086  # settings have no blanks
  "$headroom" run train_step --device cuda $sets >"$log" 2>&1 &
  program=$!
  waited=0
  until tr '\r' '\n' <"$log" | grep -q 'step [3-9][0-9]* of'; do
    sleep 0.2; waited=$((waited + 1))
    [ $waited -lt 300 ] || { echo "The run did not reach step 3."; return 1; }
  done
  kill "-$signal" "$(pgrep -P $program | sed -n 3p)"
  from=$(date +%s%N)
  wait $program
  code=$?
  echo "exit code $code after $((($(date +%s%N) - from) / 1000000)) ms"
  tr '\r' '\n' <"$log" | grep 'headroom: '
  sleep 1
  ! pgrep -f headroom-engine && [ $code -ne 0 ]
}
step killed signalled killed KILL
step stuck signalled stuck STOP deadline=5

# Two ranks of a launcher that gives both the same GPU: each says so.
same_gpu() {
  for rank in 0 1; do
    RANK=$rank WORLD_SIZE=2 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=29555 timeout 60 \
      "$headroom" run train_step --device cuda --set model=tiny ranks=2 steps=1 >"$out/logs/same_gpu_$rank.txt" 2>&1 &
  done
  wait
  grep -h 'same GPU' "$out"/logs/same_gpu_0.txt && grep -h 'same GPU' "$out"/logs/same_gpu_1.txt
}
step same_gpu same_gpu

step start python3 "$root/tools/gpu/ranks_start.py" "$headroom" run train_step --device cuda \
  --set model=llama-3.2-1b ranks=4 zero=3 batch=4 seq=1024 precision=bf16 loss=flce steps=20

# Shipped: one step per scheme on 4 GPUs, and 2 GPUs.
# shellcheck disable=SC2086
{
  ship="model=llama-3.2-1b seq=1024 precision=bf16 loss=flce device=cuda batch=4 steps=3"
  fused="fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on"
  record ranks_2_data_h200 completed $ship $fused ranks=2
  record ranks_4_data_h200 completed $ship $fused ranks=4
  for zero in 1 2 3; do record "ranks_4_zero${zero}_h200" completed $ship $fused ranks=4 zero=$zero; done
}
clocks() {
  "$headroom" figures memory_timeline --from "$out/recordings/ranks_4_data_h200.hrec" --format csv \
    --out "$out/logs/clocks" &&
    python3 "$root/tools/gpu/ranks_clocks.py" "$out"/logs/clocks/*.csv
}
step clocks clocks

# Prints NCCL's share of device memory: what a tiny model's run holds beside its allocator.
taken() {
  for blocks in "4 16" "16 16" "24 24"; do
    for scheme in ranks=4 "ranks=2 zero=3" "ranks=4 zero=3 zero_group=2"; do
      sets="--set model=tiny --set batch=1 --set steps=2 --set gather_blocks=${blocks% *} --set sum_blocks=${blocks#* }"
      for setting in $scheme; do sets="$sets --set $setting"; done
      # shellcheck disable=SC2086
      python3 "$root/tools/gpu/peers/device_peak.py" "$headroom" run train_step --device cuda $sets --json 2>/dev/null |
        python3 -c '
import json, sys
run, device = sys.stdin.read().rsplit("\n", 2)[:2]
beside = json.loads(device)["device_bytes"] - max(each["peak_reserved_bytes"] for each in json.loads(run)["ranks"])
print(f"{sys.argv[1]:30} gather_blocks sum_blocks {sys.argv[2]:6} {beside / 2**20:.0f} MiB")' "$scheme" "$blocks"
    done
  done
}
step taken taken
for zero in off 3; do
  step recording_cost_$zero python3 -m torch.distributed.run --no-python --nproc-per-node 4 --standalone \
    "$build/bin/recording_cost" 40 loss=flce ranks=4 zero=$zero
done
for log in start clocks killed stuck losses taken recording_cost_off recording_cost_3; do
  [ ! -e "$out/logs/$log.log" ] || cat "$out/logs/$log.log"
done

# Plans of every scheme, which must equal the runs to the byte on every rank.
step_1b="device=cuda model=llama-3.2-1b seq=1024 precision=bf16 loss=flce"
{
  for ranks in 2 4; do
    for zero in off 1 2 3; do echo "$step_1b batch=4 ranks=$ranks zero=$zero"; done
  done
  echo "$step_1b batch=4 ranks=4 zero=3 prefetch=0"
  echo "$step_1b batch=4 ranks=4 zero=3 prefetch=2"
  echo "$step_1b batch=4 ranks=4 zero=3 reduce=fp32"
  echo "$step_1b batch=4 ranks=4 zero=3 zero_group=2"
  echo "$step_1b batch=2 ranks=4 zero=2 accumulate=4"
  echo "$step_1b batch=2 ranks=4 zero=3 accumulate=4 checkpointing=layer"
  echo "$step_1b batch=16 ranks=4 zero=3 fused.rms_norm=on fused.rope=on fused.swiglu=on"
} >"$out/logs/schemes.txt"
step validate_schemes "$headroom" validate --list "$out/logs/schemes.txt" --out "$out/logs/schemes.csv" \
  --recordings "$out/recordings/schemes"
count=40
borders=12
[ -z "$quick" ] || { count=8; borders=2; }
step validate_draw "$headroom" validate --ranks 4 --count $count --device cuda --out "$out/logs/drawn.csv" \
  --recordings "$out/recordings/drawn"
step validate_borders "$headroom" validate --ranks 4 --borders --count $borders --device cuda \
  --out "$out/logs/borders.csv"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -n "$sanitizer" ] && [ -z "$quick" ]; then
  # NCCL probes for kernels that its library lacks, and handles these errors.
  step sanitizer_memcheck timeout 120 "$sanitizer" --tool memcheck --target-processes all --error-exitcode 1 \
    --report-api-errors no "$build/tests/bin/collectives_gpu_test" "NCCL gives exact values"
fi
for log in "$out"/logs/validate_*.log; do
  [ -e "$log" ] || continue
  { echo; echo "## $(basename "$log" .log)"; echo; tail -n 12 "$log"; } >>"$summary"
done
finish
