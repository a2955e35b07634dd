#!/bin/sh
# Compares our training step on 4 GPUs with DDP, ZeroRedundancyOptimizer, FSDP2 and DeepSpeed, in turn on one machine.
#
#   tools/gpu/peers/ranks.sh [--build DIR] [--out DIR] [--only REGEX]
#
# Build and machine as for tools/gpu/ranks.sh, plus transformers, liger-kernel and deepspeed.
title="Peers on several GPUs"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/../common.sh"
here=$root/tools/gpu/peers
rows=$out/rows.jsonl
: >"$rows"
export NCCL_NVLS_ENABLE=0  # as ours

row() { python3 "$here/ranks_table.py" --row "$1" "$2" "$out/logs/$1.log" >>"$rows"; }
kernels="loss=flce fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on attention=cudnn"
# ours NAME SETTINGS…: on 4 GPUs in bf16 with all fused kernels.
ours() {
  wanted "$1" || return 0
  name=$1; shift
  sets=
  for setting in ranks=4 precision=bf16 steps=15 $kernels "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086
  step "$name" python3 "$here/device_peak.py" "$build/bin/headroom" run train_step --device cuda $sets --json
  row "$name" "$*"
}
peer() {
  wanted "$1" || return 0
  name=$1; shift
  step "$name" python3 "$here/device_peak.py" \
    python3 -m torch.distributed.run --nproc-per-node 4 --standalone "$here/ranks_step.py" "$@"
  row "$name" "$*"
}

b4="model=llama-3.2-1b seq=1024 batch=4"
b16="model=llama-3.2-1b seq=1024 batch=16"
# shellcheck disable=SC2086
{
  ours b4_data_ours $b4
  peer b4_data_ddp ddp
  ours b4_zero1_ours $b4 zero=1
  peer b4_zero1_redundancy zero_redundancy
  ours b4_zero3_ours $b4 zero=3
  peer b4_zero3_fsdp fsdp
  peer b4_zero3_fsdp_keep fsdp_keep
  ours b4_zero2_ours $b4 zero=2
  ours b16_data_ours $b16
  peer b16_data_ddp ddp --batch 16
  ours b16_zero3_ours $b16 zero=3
  peer b16_zero3_fsdp fsdp --batch 16
  large="model=llama-3-8b seq=2048 batch=2 checkpointing=layer zero=3"
  ours 8b_ours $large
  peer 8b_fsdp fsdp --model 8b --batch 2 --tokens 2048 --checkpointing --steps 8
  ours 8b_masters_ours $large precision=bf16_mixed
  peer 8b_masters_fsdp fsdp --model 8b --batch 2 --tokens 2048 --checkpointing --fp32 --steps 8
  ours b4_data_ours_again $b4
  ours b4_zero3_ours_again $b4 zero=3
  peer b4_deepspeed1 deepspeed1
  peer b4_deepspeed2 deepspeed2
  peer b4_deepspeed3 deepspeed3
}

python3 "$here/ranks_table.py" "$rows" | tee "$out/peers.md"
finish
