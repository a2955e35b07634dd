#!/bin/sh
# Compares our training step with transformers, Liger-Kernel and torch.compile, alternating on one GPU.
#
#   tools/gpu/peers/race.sh [--build DIR] [--out DIR] [--only REGEX]
#
# Build and machine as for tools/gpu/check.sh, plus transformers and liger-kernel.
title="Peers beside us"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/../common.sh"
here=$root/tools/gpu/peers
rows=$out/rows.jsonl
: >"$rows"

kernels="loss=flce fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on"
# ours NAME STEPS SETTINGS…: Llama 3.2 1B in bf16 with all fused kernels.
ours() {
  wanted "$1" || return 0
  name=$1; shift
  sets=
  for setting in model=llama-3.2-1b seq=1024 precision=bf16 $kernels "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086
  step "$name" "$build/bin/headroom" run train_step --device cuda $sets --json
  python3 "$here/table.py" --ours "$name" "$*" "$out/logs/$name.log" >>"$rows"
}
peer() {
  wanted "$1" || return 0
  name=$1; shift
  step "$name" python3 "$here/peer_step.py" "$@"
  grep '^{' "$out/logs/$name.log" >>"$rows"
}

cudnn="attention=cudnn"
ours ckpt_ours_112 steps=12 batch=112 checkpointing=layer $cudnn
peer ckpt_liger liger --checkpointing --batch 96 --batch 112
ours ckpt_ours_96 steps=12 batch=96 checkpointing=layer $cudnn
ours plain_ours_16 steps=14 batch=16 $cudnn
peer plain_liger liger --batch 16 --batch 64
ours plain_ours_64 steps=10 batch=64 $cudnn
peer plain_hf hf --batch 16
ours plain_ours_16_again steps=14 batch=16 $cudnn
peer plain_compile hf --compile default --batch 16
ours ckpt_ours_96_again steps=12 batch=96 checkpointing=layer $cudnn
peer ckpt_liger_again liger --checkpointing --batch 96 --batch 112
ours ckpt_ours_112_again steps=12 batch=112 checkpointing=layer $cudnn
peer one_compile hf --compile reduce-overhead --batch 1 --steps 60
ours one_ours_graph steps=64 batch=1 cuda_graph=on $cudnn
peer one_liger liger --batch 1 --steps 60
ours one_ours steps=60 batch=1

# The output layer's loss.
step loss_peers python3 "$here/peer_loss.py"
step loss_ours "$build/bin/headroom" bench fused_linear_cross_entropy --device cuda

python3 "$here/table.py" "$rows" | tee "$out/peers.md"
finish
