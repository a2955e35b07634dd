#!/bin/sh
# Makes the pages' recordings of a machine without a GPU, in seven minutes on two cores. Nothing else should run
# meanwhile, because the recorded times are compared.
#
#   tools/record_cpu.sh [--build DIR] FOLDER
set -eu

build=$(cd "$(dirname "$0")/.." && pwd)/build
if [ "${1:-}" = --build ]; then build=$2; shift 2; fi
[ $# -eq 1 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
headroom=$build/bin/headroom
export OMP_WAIT_POLICY=passive
# shellcheck source=tools/technique.sh
. "$(dirname "$0")/technique.sh"

record() {
  name=$1; shift
  echo "== $name"
  "$headroom" "$@" --device cpu --record "$folder/$name.hrec" >/dev/null
}

# variant NAME SETTINGS…: the tiny model with settings that are no row of the table.
variant() {
  name=technique_$1_cpu; shift
  sets=
  for setting in "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086  # the settings have no blanks
  record "$name" run train_step --set model=tiny --set steps=3 $sets
}

# technique ID SETTINGS…: a row of the table, and further settings.
technique() {
  row=$(technique_row "$1") || exit
  shift
  # shellcheck disable=SC2086
  set -- $row "$@"
  name=${1#technique_}
  shift
  variant "$name" "$@"
}

record tiny_cpu run train_step --set model=tiny --set steps=3
variant plain
variant fp16_mixed precision=fp16_mixed histogram=on
technique mixed histogram=on
technique bf16 histogram=on
variant tf32 gemm=tf32
variant loss_hf_2024 loss=hf_2024 keep_output=on
variant loss_hf_2025 loss=hf_2025 keep_output=on
# Others use the fused loss, so that no logits hide what they change.
flce="loss=flce loss_chunk=128"
# shellcheck disable=SC2086
{
  technique flce $flce
  technique adamw_8bit $flce
  technique galore $flce
  technique checkpointing $flce
  variant checkpointing_every checkpointing=every checkpoint_every=2 $flce
  technique selective $flce
  variant accumulate batch=1 accumulate=4 $flce
  technique offload_optimizer $flce
  technique lora $flce
  technique qlora $flce
  # With checkpointing.
  technique optimizer_in_backward checkpointing=layer $flce
  variant offload checkpointing=layer offload.optimizer=host offload.parameters=on $flce
}
record moments_cpu run moments
# A decoder block of GPT-2 and one of Llama.
record block_cpu run block --set storage=bf16
record block_llama_cpu run block --set storage=bf16 --set positions=rope --set norm=rms_norm --set mlp=swiglu \
  --set dropout=off --set num_kv_heads=4 --set biases=off
record bandwidth_cpu run bandwidth
record rms_norm_cpu_launches run launches --set kernel=rms_norm --set rows=1024 --set trace=on
# The pages on several GPUs: ranks that share the CPU.
record ring_cpu run ring --set ranks=4
record data_parallel_cpu run train_step --set model=tiny --set ranks=2 --set batch=2 --set accumulate=4 --set steps=3
# The page on configurations: the printed file on two ranks, the corrected one on one.
config() {
  name=$1 file=$2; shift 2
  record "$name" run train_step --config "$(dirname "$0")/../assets/configs/$file" --set model=tiny --set batch=1 \
    --set steps=3 "$@"
}
config read_a_config_cpu gpt2_xl_zero3.json --set ranks=2
config read_a_config_param_cpu gpt2_xl_zero3_param.json --set checkpointing=layer
# The page on schedules.
schedule() {
  record "$@" --set checkpointing=every --set model=custom --set num_layers=64 --set hidden_size=64 \
    --set intermediate_size=64 --set num_heads=4 --set num_kv_heads=2 --set head_dim=16 --set vocab_size=256 \
    --set batch=8 --set loss=flce --set fused.rms_norm=on --set fused.rope=on --set fused.swiglu=on
}
schedule schedule_cpu run train_step --set steps=3
schedule sweep_checkpoint_every_cpu sweep train_step --over checkpoint_every=1,2,4,8,16
# The page on tiled attention: the peak is at the loss, before any layer's gradients.
record sweep_attention_cpu sweep train_step --over seq=256,512,1024,2048 --over attention=eager,flash \
  --set model=custom --set num_layers=4 --set hidden_size=128 --set intermediate_size=128 --set num_heads=4 \
  --set num_kv_heads=4 --set head_dim=32 --set vocab_size=16384 --set batch=2 --set fused.rms_norm=on \
  --set fused.rope=on --set fused.swiglu=on
# The pages on number formats: many steps of a small model.
small() {
  name=$1; shift
  sets=
  for setting in "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086  # the settings have no blanks
  record "$name" run train_step --set model=custom --set num_layers=2 --set hidden_size=64 --set intermediate_size=128 \
    --set num_heads=4 --set num_kv_heads=2 --set head_dim=16 --set vocab_size=256 --set batch=2 --set seq=64 \
    --set loss=flce --set fused.rms_norm=on --set fused.rope=on --set fused.swiglu=on --set histogram=on $sets
}
small loss_scale_cpu precision=fp16_mixed steps=100 loss_scale_window=10
small lost_updates_nearest_cpu precision=bf16 steps=200 learning_rate=0.0001
small lost_updates_stochastic_cpu precision=bf16 rounding=stochastic steps=200 learning_rate=0.0001
small lost_updates_mixed_cpu precision=bf16_mixed steps=200 learning_rate=0.0001
# The page on adapters: 200 steps from the same weights.
for way in "full off" "lora lora" "qlora qlora"; do
  record "losses_${way% *}_cpu" run train_step --set model=tiny --set steps=200 --set "adapters=${way#* }" --memory-steps 3
done
# The page on a step of ZeRO: four ranks with a sequence each, and one rank with the same four as one batch.
of_ranks() {
  name=$1; shift
  sets=
  for setting in "$@"; do sets="$sets --set $setting"; done
  # shellcheck disable=SC2086  # the settings have no blanks
  record "$name" run train_step --set model=tiny --set steps=20 $sets --memory-steps 2
}
of_ranks zero_step_cpu batch=1 ranks=4 zero=3
of_ranks zero_step_off_cpu batch=1 ranks=4
of_ranks zero_step_alone_cpu batch=4
record ladder_cpu sweep ladder --set model=tiny --set steps=3
record kernels_cpu bench

echo "== report_quick_cpu"
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
"$headroom" report --quick --out "$report" >/dev/null
mv "$report/report.hrec" "$folder/report_quick_cpu.hrec"
