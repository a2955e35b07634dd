#!/bin/sh
# Makes all shipped recordings of a GPU at one revision, and packs them.
#
#   tools/gpu/recordings.sh [--build DIR] [--out DIR] [--quick] [--only REGEX]
#
# Build, machine and results as for check.sh. --quick skips the longest: the kernels' benchmark, the ladder, the report.
title="Recordings of a GPU"
# shellcheck source=tools/gpu/common.sh
. "$(dirname "$0")/common.sh"
headroom=$build/bin/headroom
# shellcheck source=tools/technique.sh
. "$root/tools/technique.sh"

# keep NAME COMMAND…: records another command than `run train_step`.
keep() {
  name=$1; shift
  echo "headroom $* --record $name.hrec" >>"$out/recordings/commands.txt"
  step "record_$name" "$build/bin/headroom" "$@" --record "$out/recordings/$name.hrec"
}

# shellcheck disable=SC2086  # settings have no blanks
{
  common="model=llama-3.2-1b precision=bf16 seq=1024 device=cuda"
  fused="fused.rms_norm=on fused.rope=on fused.swiglu=on fused.embedding=on"
  record llama-3.2-1b_h200_b4 completed $common batch=4
  record llama-3.2-1b_h200_b4_checkpointing completed $common batch=4 checkpointing=layer
  record llama-3.2-1b_h200_b8_24gib_oom out_of_memory $common batch=8 cap=24GiB
  # Traced, for launches and kernel times, not speed.
  record llama-3.2-1b_h200_eager_kernels completed $common batch=1 trace=on
  record llama-3.2-1b_h200_fused_kernels completed $common batch=1 trace=on $fused loss=flce
  for rows in 32 1024; do
    name=rms_norm_h200_launches
    [ $rows = 1024 ] || name=${name}_$rows
    keep $name run launches --device cuda --set rows=$rows --trace
  done
  keep edit_kernel_rms_norm_h200 run edit_kernel --set exercise=rms_norm --device cuda
  keep bandwidth_h200 run bandwidth --device cuda
  keep product_rates_h200 bench products --device cuda

  # Number formats and losses, one switch each: 4 sequences in bf16.
  variant() {
    name=technique_$1_h200; shift
    record "$name" completed model=llama-3.2-1b seq=1024 device=cuda batch=4 steps=3 "$@"
  }
  # technique ID SETTINGS…: a row of the table, after the settings that it changes.
  technique() {
    row=$(technique_row "$1") || { step "technique_$1" false; return; }
    shift
    name=${row%% *}
    variant "${name#technique_}" "$@" ${row#"$name"}
  }
  variant plain precision=bf16
  variant fp16_mixed precision=fp16_mixed histogram=on
  technique mixed
  variant bf16_mixed_composed_adamw precision=bf16_mixed fused.adamw=off
  technique bf16
  technique fp8 precision=bf16
  variant fp8_delayed precision=bf16 gemm=fp8 fp8_scaling=delayed
  variant loss_hf_2024 precision=bf16 loss=hf_2024
  variant loss_hf_2025 precision=bf16 loss=hf_2025
  # Others use the fused loss, so that no logits hide what they change.
  technique flce precision=bf16
  variant loss_flce_mixed precision=bf16_mixed loss=flce
  bf16="precision=bf16 loss=flce"
  technique adamw_8bit $bf16
  technique checkpointing $bf16
  variant checkpointing_every checkpointing=every checkpoint_every=4 $bf16
  technique selective $bf16
  variant accumulate batch=1 accumulate=4 $bf16
  technique lora $bf16
  technique qlora $bf16
  technique galore galore_rank=512 galore_interval=2 $bf16
  technique offload_optimizer precision=bf16_mixed loss=flce
  # Without checkpointing neither lowers the peak.
  technique optimizer_in_backward checkpointing=layer $bf16
  technique offload_checkpoints checkpointing=layer $bf16

  # The report's steps: Hugging Face's code of 2024, and all of Liger's kernels.
  report_step() {
    name=$1; outcome=$2; shift 2
    record "$name" "$outcome" model=llama-3.2-1b seq=1024 device=cuda steps=2 precision=fp16_mixed loss_scale=128 \
      checkpointing=layer offload.optimizer=host offload.parameters=on cap=23.2GiB "$@"
  }
  hf="loss=hf_2024 keep_output=on" liger="loss=flce $fused"
  report_step report_hf_4_h200 completed $hf batch=4
  report_step report_hf_8_h200 completed $hf batch=8
  report_step report_liger_4_h200 completed $liger batch=4
  report_step report_liger_8_h200 completed $liger batch=8
  report_step report_liger_112_h200 completed $liger batch=112
  # Largest batches: 8 with the default allocator, 11 with expandable segments.
  report_step holes_b9_h100 out_of_memory $hf batch=9
  report_step holes_b11_expandable_h100 completed $hf batch=11 expandable_segments=on
  report_step holes_b12_expandable_h100 out_of_memory $hf batch=12 expandable_segments=on

  # Losses over 300 steps, memory of three.
  losses() {
    name=lost_updates_$1_h200; shift
    sets=
    for setting in model=llama-3.2-1b batch=4 seq=512 steps=300 learning_rate=0.0001 loss=flce $fused "$@"; do
      sets="$sets --set $setting"
    done
    keep "$name" run train_step --device cuda $sets --memory-steps 3
  }
  losses nearest precision=bf16
  losses stochastic precision=bf16 rounding=stochastic
  losses mixed precision=bf16_mixed

  keep sweep_loss_chunk_h200 sweep train_step --over loss_chunk=32,64,128,256,512,1024,2048,8192 --device cuda \
    --set model=llama-3.2-1b --set precision=bf16 --set batch=8 --set seq=1024 --set loss=flce
  keep sweep_attention_h200 sweep train_step --over seq=512,1024,2048,4096 --over attention=eager,flash --device cuda \
    --set model=llama-3.2-1b --set precision=bf16 --set batch=1 --set loss=flce
  keep sweep_batch_h200 sweep train_step --over batch=1,2,4,8,16 --over loss=plain,flce --device cuda \
    --set model=llama-3.2-1b --set precision=bf16 --set seq=1024
  keep sweep_checkpoint_every_h200 sweep train_step --over checkpoint_every=1,2,4,8,16 --device cuda \
    --set model=llama-3.2-1b --set precision=bf16 --set batch=16 --set seq=1024 --set checkpointing=every --set loss=flce
}

if [ -z "$quick" ]; then
  keep ladder_h200 sweep ladder --device cuda --set model=llama-3.2-1b --set batch=4 --set seq=1024
  # Compared with eager compositions, LibTorch and a copy; the log has the table.
  keep kernels_h200 bench --device cuda --set panel=all
  echo "headroom report --device cuda --out DIR (its report.hrec)" >>"$out/recordings/commands.txt"
  step report "$build/bin/headroom" report --device cuda --out "$out/report"
  [ -e "$out/report/report.hrec" ] && cp "$out/report/report.hrec" "$out/recordings/report_h200.hrec"
  [ -e "$out/report/report.md" ] && cp "$out/report/report.md" "$out/logs/"
fi
finish
