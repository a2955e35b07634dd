#!/bin/sh
# Runs every memory technique on this machine's GPU: tests against the CPU, recordings to ship, speed, the ladder and the
# report's experiment, and packs the results.
#
#   tools/gpu/techniques.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# Build, machine and results as for tools/gpu/check.sh. --quick leaves out the report's experiment.
title="Techniques on a GPU"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"

step techniques_test "$build/tests/bin/techniques_gpu_test"
step offload_test "$build/tests/bin/llama_offload_gpu_test"
step bench_train_step "$build/bin/headroom" bench train_step --device cuda

fused="fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on"
step_1b="model=llama-3.2-1b seq=1024 device=cuda"

# speed NAME SETTINGS…: tokens per second and the peak of the 1B, in bf16 with bf16 moments, all kernels on.
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
# All others have timed products.
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

# One technique each beside the plain step: 4 sequences in bf16.
technique() {
  name=technique_$1_h200; shift
  # shellcheck disable=SC2086
  record "$name" completed $step_1b batch=4 steps=3 "$@"
}
technique plain precision=bf16
technique fp16_mixed precision=fp16_mixed histogram=on
technique bf16_mixed precision=bf16_mixed
technique bf16_stochastic precision=bf16 rounding=stochastic
technique tf32 precision=fp32 gemm=tf32
technique fp8 precision=bf16 gemm=fp8
technique fp8_delayed precision=bf16 gemm=fp8 fp8_scaling=delayed
technique adamw_8bit precision=bf16 optimizer=adamw_8bit
technique optimizer_in_backward precision=bf16 optimizer_in_backward=on
technique checkpointing_layer precision=bf16 checkpointing=layer
technique checkpointing_every precision=bf16 checkpointing=every checkpoint_every=4
technique checkpointing_selective precision=bf16 checkpointing=selective
technique accumulate precision=bf16 batch=1 accumulate=4
technique loss_hf_2024 precision=bf16 loss=hf_2024
technique loss_hf_2025 precision=bf16 loss=hf_2025
technique loss_flce precision=bf16 loss=flce
technique fused_keep precision=bf16 loss=flce loss_mode=report fused.rms_norm=on fused.rope=on fused.swiglu=on \
  fused.keep=on
technique offload_optimizer precision=bf16_mixed offload.optimizer=host
technique offload precision=bf16_mixed checkpointing=layer offload.optimizer=host offload.parameters=on
technique offload_checkpoints precision=bf16 checkpointing=layer offload.checkpoints=on
technique lora precision=bf16 adapters=lora
technique qlora precision=bf16 adapters=qlora
technique galore precision=bf16 optimizer=galore galore_rank=512 galore_interval=2
# What narrow products do to the loss: 300 steps from three starts each.
for seed in 1 2 3; do
  for products in "as_stored" "fp8 fp8_scaling=current" "fp8 fp8_scaling=delayed"; do
    # shellcheck disable=SC2086
    record "losses_$(echo "$products" | sed 's/ fp8_scaling=/_/')_seed$seed" completed model=llama-3.2-1b batch=4 seq=512 \
      steps=300 device=cuda precision=bf16 rounding=stochastic loss=flce $fused seed=$seed gemm=$products
  done
done
step record_bandwidth "$build/bin/headroom" run bandwidth --device cuda --record "$out/recordings/bandwidth_h200.hrec"
echo "headroom run bandwidth --device cuda --record bandwidth_h200.hrec" >>"$out/recordings/commands.txt"

ladder="sweep ladder --device cuda --set model=llama-3.2-1b --set batch=4 --set seq=1024"
# shellcheck disable=SC2086
step record_ladder "$build/bin/headroom" $ladder --record "$out/recordings/ladder_h200.hrec"
echo "headroom $ladder --record ladder_h200.hrec" >>"$out/recordings/commands.txt"

if [ -z "$quick" ]; then
  step report "$build/bin/headroom" report --device cuda --out "$out/report"
  [ -e "$out/report/report.hrec" ] && cp "$out/report/report.hrec" "$out/recordings/report_h200.hrec"
  [ -e "$out/report/report.md" ] && cp "$out/report/report.md" "$out/logs/"
  echo "headroom report --device cuda --out DIR (its report.hrec)" >>"$out/recordings/commands.txt"
fi

{
  echo
  echo "## Tokens per second and peaks"
  echo
  for log in "$out"/logs/speed_*.log; do
    echo "- $(basename "$log" .log): $(grep -E '"(tokens_per_second|peak_bytes|peak_reserved_bytes)":' "$log" | tr -s ' \n' ' ')"
  done
  echo
  echo "## Offload"
  echo
  grep '^batch' "$out/logs/offload_test.log" | sort -u
  echo
  echo "## The step beside its bound"
  echo
  cat "$out/logs/bench_train_step.log"
} >>"$summary"
finish
