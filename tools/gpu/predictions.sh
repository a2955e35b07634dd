#!/bin/sh
# Compares predictions with runs on this GPU: random configurations, largest batches, other programs' steps, CUDA graphs
# and expandable segments. Makes recordings for tests/predict and packs the results.
#
#   tools/gpu/predictions.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# Build, machine and results as for check.sh. --quick skips random configurations and largest batches (5 minutes on an
# H200).
title="Predictions on a GPU"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"

mkdir -p "$out/logs/prediction"
# compare NAME: configurations from stdin; differing ones keep their recordings.
compare() {
  cat >"$out/logs/prediction/$1.txt"
  step "validate_$1" "$build/bin/headroom" validate --list "$out/logs/prediction/$1.txt" \
    --out "$out/logs/prediction/$1.csv" --recordings "$out/recordings/$1"
}

# The 12 steps of docs/results/prediction-h200.md in Hugging Face's and Liger's way.
for checkpointing in off layer; do
  for batch in 1 4 16; do
    for code in "loss=hf_2025 keep_output=off" \
      "loss=flce loss_mode=report fused.rms_norm=on fused.rope=on fused.swiglu=on fused.keep=on"; do
      echo "device=cuda model=llama-3.2-1b batch=$batch seq=1024 precision=bf16 $code checkpointing=$checkpointing"
    done
  done
done | compare other_codes

small="model=custom hidden_size=1000 intermediate_size=2600 num_layers=10 num_heads=8 num_kv_heads=8 head_dim=128 vocab_size=32000"
compare graphs <<END
device=cuda steps=4 cuda_graph=on model=llama-3.2-1b batch=4 seq=1024 precision=bf16 loss=flce fused.rms_norm=on fused.swiglu=on fused.rope=on
device=cuda steps=5 cuda_graph=on model=llama-3.2-1b batch=2 seq=1000 precision=bf16
device=cuda steps=4 cuda_graph=on model=llama-3.2-1b batch=8 seq=512 precision=bf16_mixed checkpointing=layer loss=flce
device=cuda steps=4 cuda_graph=on model=llama-3.2-1b batch=1 seq=2048 precision=fp16_mixed attention=cudnn
device=cuda steps=4 cuda_graph=on model=llama-3.2-1b batch=2 seq=1500 precision=bf16 attention=auto
device=cuda steps=4 cuda_graph=on $small batch=5 seq=640 precision=bf16 optimizer=adamw_8bit accumulate=2 loss=flce
device=cuda steps=4 cuda_graph=on model=llama-3.2-1b batch=2 seq=512 precision=bf16 adapters=lora
device=cuda steps=4 cuda_graph=on model=llama-3.2-1b batch=8 seq=1024 precision=bf16 cap=12GiB
device=cuda steps=4 cuda_graph=on expandable_segments=on model=llama-3.2-1b batch=4 seq=1024 precision=bf16 fused.cross_entropy=on
END
compare expandable <<END
device=cuda expandable_segments=on model=llama-3.2-1b batch=4 seq=1024 precision=bf16
device=cuda expandable_segments=on model=llama-3.2-1b batch=6 seq=900 precision=bf16_mixed checkpointing=layer loss=flce
device=cuda expandable_segments=on model=llama-3.2-1b batch=2 seq=1500 precision=fp32
device=cuda expandable_segments=on model=llama-3.2-1b batch=4 seq=1024 precision=bf16 loss=hf_2025 cap=21GiB
device=cuda expandable_segments=on model=llama-3.2-1b batch=4 seq=1024 precision=bf16 loss=hf_2024 cap=23GiB
device=cuda expandable_segments=on model=llama-3.2-1b batch=3 seq=1024 precision=bf16 attention=eager
device=cuda expandable_segments=on $small batch=9 seq=1333 precision=fp16_mixed accumulate=2
device=cuda expandable_segments=on model=llama-3.2-1b batch=2 seq=512 precision=bf16 adapters=qlora
device=cuda expandable_segments=on model=llama-3.2-1b batch=4 seq=700 precision=bf16_mixed offload.optimizer=host checkpointing=layer offload.parameters=on
device=cuda expandable_segments=on model=llama-3.2-1b batch=4 seq=1024 precision=bf16 optimizer=galore galore_rank=512
END

step_1b="model=llama-3.2-1b batch=4 seq=1024 precision=bf16 device=cuda"
# shellcheck disable=SC2086
{
  record graph completed $step_1b steps=5 cuda_graph=on loss=flce fused.rms_norm=on fused.swiglu=on
  record expandable completed $step_1b steps=3 expandable_segments=on
  record expandable_tight completed $step_1b steps=3 expandable_segments=on cap=20GiB
  record every completed $step_1b steps=3 checkpointing=every checkpoint_every=2
  record inback completed $step_1b steps=3 checkpointing=layer loss=flce optimizer_in_backward=on
  record offload completed $step_1b steps=3 checkpointing=layer offload.optimizer=host offload.parameters=on
  record tight2 completed $step_1b steps=3 checkpointing=layer loss=flce cap=12GiB
  record flce3b completed model=llama-3.2-3b batch=2 seq=2048 precision=bf16 device=cuda steps=2 checkpointing=layer \
    loss=flce fused.rms_norm=on fused.swiglu=on
}

if [ -z "$quick" ]; then
  step validate_draw "$build/bin/headroom" validate --out "$out/logs/prediction/runs.csv"
  step validate_borders "$build/bin/headroom" validate --borders --out "$out/logs/prediction/borders.csv"
fi
for log in "$out"/logs/validate_*.log; do
  { echo; echo "## $(basename "$log" .log)"; echo; tail -n 12 "$log"; } >>"$summary"
done
finish
