#!/bin/sh
# Speed of the training step on this GPU with different techniques, its bound, and fp8's effect on 300 losses.
#
#   tools/gpu/techniques.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# Build, machine and results as for check.sh. --quick skips the losses.
title="Techniques on a GPU"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"

step bench_train_step "$build/bin/headroom" bench train_step --device cuda

fused="fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on"
step_1b="model=llama-3.2-1b seq=1024 device=cuda"

# speed NAME SETTINGS…: the 1B in bf16 with bf16 moments and all kernels.
speed() {
  name=$1; shift
  sets=
  for setting in $step_1b precision=bf16 loss=flce $fused "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086
  step "speed_$name" "$build/bin/headroom" run train_step $sets --json
}
for attention in flash cudnn; do
  speed "b16_$attention" batch=16 steps=10 attention=$attention
  speed "b96_checkpointing_$attention" batch=96 steps=8 checkpointing=layer attention=$attention
done
for scaling in current delayed; do
  speed "b16_fp8_$scaling" batch=16 steps=10 attention=cudnn gemm=fp8 fp8_scaling=$scaling
  speed "b96_checkpointing_fp8_$scaling" batch=96 steps=8 checkpointing=layer attention=cudnn gemm=fp8 \
    fp8_scaling=$scaling
done
# All other runs use timed GEMMs.
for products in libtorch timed; do
  export HEADROOM_PRODUCTS=$products
  speed "b1_products_$products" batch=1 steps=40 attention=auto
  speed "b16_products_$products" batch=16 steps=10 attention=auto
  speed "b96_products_$products" batch=96 steps=8 checkpointing=layer attention=auto
  speed "b16_fp8_products_$products" batch=16 steps=10 attention=auto gemm=fp8
done
unset HEADROOM_PRODUCTS
speed b1 batch=1 steps=40
speed b1_graph batch=1 steps=40 cuda_graph=on
speed b1_graph_cudnn batch=1 steps=40 cuda_graph=on attention=cudnn

# Narrow GEMMs' effect on the loss: 300 steps from three seeds.
[ -n "$quick" ] || for seed in 1 2 3; do
  for products in "as_stored" "fp8 fp8_scaling=current" "fp8 fp8_scaling=delayed"; do
    # shellcheck disable=SC2086
    record "losses_$(echo "$products" | sed 's/ fp8_scaling=/_/')_seed$seed" completed model=llama-3.2-1b batch=4 seq=512 \
      steps=300 device=cuda precision=bf16 rounding=stochastic loss=flce $fused seed=$seed gemm=$products
  done
done
{
  echo
  echo "## Tokens per second and peaks"
  echo
  for log in "$out"/logs/speed_*.log; do
    echo "- $(basename "$log" .log): $(grep -E '"(tokens_per_second|peak_bytes|peak_reserved_bytes)":' "$log" | tr -s ' \n' ' ')"
  done
  echo
  echo "## The step beside its bound"
  echo
  cat "$out/logs/bench_train_step.log"
} >>"$summary"
finish
