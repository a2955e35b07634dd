// The keys of DeepSpeed's JSON: deepspeed/runtime/config.py, runtime/zero/config.py and zero/offload_config.py.
#include <array>

#include <fmt/format.h>

#include "demos/configs/reading.h"

namespace headroom::configs {

namespace {

using predict::StateOffload;
using predict::Zero;

constexpr std::int64_t kMostElements = 1'000'000'000'000;
constexpr std::int64_t kMostSteps = 1'000'000;
constexpr int kHighestPower = 24;  // of our loss scale

constexpr std::string_view kReports = "it reports, and holds no tensors";
constexpr std::string_view kSpeedOnly = "it changes when copies run, not what is held";
constexpr std::string_view kHostSide = "it concerns buffers on the host";
constexpr std::string_view kChecks = "it is a check, and holds no tensors";
constexpr std::string_view kSaving = "it concerns saved files";

// A number that a setting takes as it is.
template <const char* kSetting>
void read_real(Reading& reading, const Item& item) {
  constexpr double kMost = 1e12;
  const auto value = reading.real(item, 0, kMost);
  if (!value) return;
  reading.set(kSetting, fmt::format("{}", *value), item.path);
  reading.means(item, kSetting);
}
template <const char* kSetting>
void read_steps(Reading& reading, const Item& item) {
  const auto value = reading.whole(item, 0, kMostSteps);
  if (!value) return;
  reading.set(kSetting, fmt::format("{}", *value), item.path);
  reading.means(item, kSetting);
}

constexpr char kLearningRate[] = "learning_rate", kWeightDecay[] = "weight_decay", kEpsilon[] = "epsilon",
               kClip[] = "clip", kWarmup[] = "warmup_steps", kScheduleSteps[] = "schedule_steps",
               kScaleWindow[] = "loss_scale_window";

template <std::optional<bool> Reading::*kWhich>
void read_enabled(Reading& reading, const Item& item) {
  if (const auto on = reading.flag(item)) reading.means(item, "precision"), reading.*kWhich = *on;
}

void read_loss_scale(Reading& reading, const Item& item) {
  const auto scale = reading.real(item, 0, 1e12);
  if (!scale) return;
  if (*scale == 0) return reading.means(item, "loss_scale", "0: the scale adapts, as here");
  reading.loss_scale = *scale;
  reading.means(item, "loss_scale", "a fixed scale there; here it is the first one, and adapts");
}

void read_scale_power(Reading& reading, const Item& item) {
  const auto power = reading.whole(item, 0, 64);
  if (!power) return;
  if (*power > kHighestPower)
    return reading.ignore(item, "the first scale is at most 2^24 here; a higher one only skips the first steps");
  if (!reading.loss_scale) reading.loss_scale = static_cast<double>(std::int64_t{1} << *power);
  reading.means(item, "loss_scale");
}

void read_half_masters(Reading& reading, const Item& item) {
  const auto on = reading.flag(item);
  if (!on) return;
  reading.config.half_masters = *on;
  reading.ignore(item, *on ? "masters are fp32 here, so the plan has more" : "masters are fp32, as here");
}

std::optional<Format> format_named(const std::string& name) {
  if (name == "fp32") return Format::kFp32;
  if (name == "bf16" || name == "bfp16") return Format::kBf16;
  if (name == "fp16") return Format::kFp16;
  return std::nullopt;
}

void read_accumulated(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return;
  reading.config.accumulated = format_named(*name);
  if (!reading.config.accumulated) return reading.wrong(item, "\"fp32\", \"bf16\" or \"fp16\"");
  reading.ignore(item, "gradients have the format of the weights here");
}

void read_sums(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return;
  if (*name != "none" && !format_named(*name)) return reading.wrong(item, "\"fp32\", \"bf16\", \"fp16\" or \"none\"");
  if (*name == "fp32") reading.config.fp32_sums = true;
  reading.means(item, "reduce");
}

void read_fp32_sums(Reading& reading, const Item& item) {
  if (const auto on = reading.flag(item)) reading.means(item, "reduce"), reading.config.fp32_sums = *on;
}

template <std::optional<std::int64_t> Reading::*kWhich, const char* kSetting>
void read_count(Reading& reading, const Item& item) {
  if (const auto count = reading.whole(item, 1, kMostSteps)) reading.means(item, kSetting), reading.*kWhich = *count;
}
constexpr char kBatch[] = "batch", kAccumulate[] = "accumulate";

void read_global_batch(Reading& reading, const Item& item) {
  const auto count = reading.whole(item, 1, kMostSteps);
  if (!count) return;
  reading.global_batch = *count;
  reading.means(item, "ranks", "sequences per step: batch x accumulate x GPUs");
}

void read_stage(Reading& reading, const Item& item) {
  const auto stage = reading.whole(item, 0, 3);
  if (!stage) return;
  reading.config.zero = static_cast<Zero>(*stage);
  reading.means(item, "zero");
}

void read_bucket(Reading& reading, const Item& item) {
  const auto elements = reading.whole(item, 0, kMostElements);
  if (!elements) return;
  reading.config.bucket_elements = *elements;
  reading.means(item, "bucket", "elements there, bytes here");
}

void read_overlap(Reading& reading, const Item& item) {
  const auto on = reading.flag(item);
  if (!on) return;
  reading.overlaps = *on;
  reading.ignore(item, *on ? "sums always run next to backward here; DeepSpeed then has two buckets"
                           : "sums always run next to backward here");
}

void read_group(Reading& reading, const Item& item) {
  const auto ranks = reading.whole(item, -1, 1024);
  if (!ranks) return;
  if (*ranks <= 0) return reading.ignore(item, "no groups: all GPUs share");
  reading.config.zero_group = *ranks;
  reading.means(item, "zero_group");
}

void read_prefetch(Reading& reading, const Item& item) {
  const auto elements = reading.whole(item, 0, kMostElements);
  if (!elements) return;
  reading.set("prefetch", *elements == 0 ? "0" : "1", item.path);
  reading.means(item, "prefetch", *elements == 0 ? "" : "elements there, whole layers here");
}

std::optional<StateOffload> place_of(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return std::nullopt;
  if (*name == "cpu") return StateOffload::kHost;
  if (*name == "nvme") return StateOffload::kFile;
  if (*name == "none") return StateOffload::kOff;
  reading.wrong(item, "\"cpu\", \"nvme\" or \"none\"");
  return std::nullopt;
}

void read_state_place(Reading& reading, const Item& item) {
  if (const auto place = place_of(reading, item)) reading.means(item, kOffloadOptimizer), reading.config.state = *place;
}

void read_weights_place(Reading& reading, const Item& item) {
  if (const auto place = place_of(reading, item))
    reading.means(item, kOffloadParameters), reading.config.weights = *place;
}

// Keys of DeepSpeed before 0.4.
template <StateOffload Config::*kWhat, const char* kSetting>
void read_old_offload(Reading& reading, const Item& item) {
  const auto on = reading.flag(item);
  if (!on) return;
  if (*on) reading.config.*kWhat = StateOffload::kHost;
  reading.means(item, kSetting, "an old key");
}

void read_optimizer(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return;
  for (const std::string_view adam : {"AdamW", "Adam", "FusedAdam", "DeepSpeedCPUAdam", "adamw", "adam"})
    if (*name == adam) return reading.set("optimizer", "adamw", item.path), reading.means(item, "optimizer");
  reading.ignore(item, "our step has AdamW, whose state is planned instead");
}

void read_betas(Reading& reading, const Item& item) {
  const Json& value = item.value;
  const bool two = value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_number();
  if (!two) return reading.wrong(item, "two numbers in brackets");
  reading.set("beta1", fmt::format("{}", value[0].get<double>()), item.path);
  reading.set("beta2", fmt::format("{}", value[1].get<double>()), item.path);
  reading.means(item, "beta1");
}

void read_schedule(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return;
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kNames{
      {{"WarmupLR", "constant"}, {"WarmupDecayLR", "linear"}, {"WarmupCosineLR", "cosine"}}};
  for (const auto& [there, here] : kNames)
    if (*name == there) return reading.set("schedule", here, item.path), reading.means(item, "schedule");
  reading.ignore(item, "our step has no such schedule");
}

void read_checkpoint_place(Reading& reading, const Item& item) {
  const auto on = reading.flag(item);
  if (!on) return;
  if (!*on) return reading.ignore(item, "kept inputs stay on the device, as here");
  reading.set("checkpointing", "layer", item.path);
  reading.set("offload.checkpoints", "on", item.path);
  reading.means(item, "offload.checkpoints", "with checkpointing=layer");
}

constexpr std::string_view kScript = "the training script decides; the default is taken";
constexpr std::string_view kPrecisionOfScript =
    "Accelerate's mixed_precision or the Trainer's --bf16 or --fp16 "
    "decides; without either, bf16 is taken";

constexpr std::array kFp16Rules{
    Rule{.key = "enabled", .read = read_enabled<&Reading::fp16>, .automatic = kPrecisionOfScript},
    Rule{.key = "loss_scale", .read = read_loss_scale},
    Rule{.key = "initial_scale_power", .read = read_scale_power},
    Rule{.key = "loss_scale_window", .read = read_steps<kScaleWindow>},
    Rule{.key = "fp16_master_weights_and_grads", .read = read_half_masters},
    Rule{.key = "auto_cast", .because = "the inputs are token ids"},
    Rule{.key = "hysteresis", .because = "the scale falls at the first overflow here"},
    Rule{.key = "consecutive_hysteresis", .because = "the scale falls at the first overflow here"},
    Rule{.key = "min_loss_scale", .because = "the scale has no lower bound here"},
};
constexpr std::array kBf16Rules{
    Rule{.key = "enabled", .read = read_enabled<&Reading::bf16>, .automatic = kPrecisionOfScript},
    Rule{.key = "bf16_master_weights_and_grads", .read = read_half_masters},
    Rule{.key = "immediate_grad_update", .because = "gradients are added where they are made here"},
    Rule{.key = "check_grad_overflow", .because = kChecks},
};
constexpr std::array kDataTypeRules{Rule{.key = "grad_accum_dtype", .read = read_accumulated}};

constexpr std::array kStateRules{
    Rule{.key = "device", .read = read_state_place},
    Rule{.key = "nvme_path", .because = "offload_file names the file here"},
    Rule{.key = "pin_memory", .because = "buffers of the host are always page-locked here"},
    Rule{.key = "buffer_count", .because = kHostSide},
    Rule{.key = "fast_init", .because = kSpeedOnly},
    Rule{.key = "pipeline_read", .because = kSpeedOnly},
    Rule{.key = "pipeline_write", .because = kSpeedOnly},
    Rule{.key = "ratio", .because = "all of the state moves here"},
};
constexpr std::array kWeightsRules{
    Rule{.key = "device", .read = read_weights_place},
    Rule{.key = "nvme_path", .because = "weights are streamed from the host's memory here"},
    Rule{.key = "pin_memory", .because = "buffers of the host are always page-locked here"},
    Rule{.key = "buffer_count", .because = kHostSide},
    Rule{.key = "buffer_size", .because = kHostSide},
    Rule{.key = "max_in_cpu", .because = kHostSide},
};
constexpr std::string_view kWholeLayers = "weights are gathered and freed layer by layer here";
constexpr std::string_view kQuantized = "weights and gradients are sent in their own format here";
constexpr std::array kZeroRules{
    Rule{.key = "stage", .read = read_stage},
    Rule{.key = "offload_optimizer", .section = kStateRules},
    Rule{.key = "offload_param", .section = kWeightsRules},
    Rule{.key = "cpu_offload", .read = read_old_offload<&Config::state, kOffloadOptimizer>},
    Rule{.key = "cpu_offload_param", .read = read_old_offload<&Config::weights, kOffloadParameters>},
    Rule{.key = "cpu_offload_params", .read = read_old_offload<&Config::weights, kOffloadParameters>},
    Rule{.key = "reduce_bucket_size", .read = read_bucket, .automatic = "hidden size squared; one layer is taken"},
    Rule{.key = "stage3_prefetch_bucket_size", .read = read_prefetch, .automatic = "one layer ahead is taken"},
    Rule{.key = "mics_shard_size", .read = read_group},
    Rule{.key = "overlap_comm", .read = read_overlap, .automatic = "sums always run next to backward here"},
    Rule{.key = "allgather_bucket_size", .because = kWholeLayers},
    Rule{.key = "allgather_partitions", .because = kWholeLayers},
    Rule{.key = "reduce_scatter", .because = "gradients always go to their owner only here"},
    Rule{.key = "contiguous_gradients", .because = "gradients have blocks of their own here"},
    Rule{.key = "round_robin_gradients", .because = kSpeedOnly},
    Rule{.key = "use_multi_rank_bucket_allreduce", .because = kSpeedOnly},
    Rule{.key = "sub_group_size", .because = "the optimizer steps layer by layer here"},
    Rule{.key = "stage3_max_live_parameters", .because = kWholeLayers},
    Rule{.key = "stage3_max_reuse_distance", .because = kWholeLayers},
    Rule{.key = "stage3_param_persistence_threshold", .because = "matrices are always cut, norms never"},
    Rule{.key = "stage3_model_persistence_threshold", .because = "matrices are always cut, norms never"},
    Rule{.key = "stage3_module_granularity_threshold", .because = kWholeLayers},
    Rule{.key = "stage3_use_all_reduce_for_fetch_params", .because = kSpeedOnly},
    Rule{.key = "stage3_gather_16bit_weights_on_model_save", .because = kSaving},
    Rule{.key = "stage3_gather_fp16_weights_on_model_save", .because = kSaving},
    Rule{.key = "load_from_fp32_weights", .because = kSaving},
    Rule{.key = "elastic_checkpoint", .because = kSaving},
    Rule{.key = "pipeline_loading_checkpoint", .because = kSaving},
    Rule{.key = "ignore_unused_parameters", .because = kChecks},
    Rule{.key = "legacy_stage1", .because = "an older code of the same stage"},
    Rule{.key = "zero_hpz_partition_size", .because = "no second copy of the weights per host here"},
    Rule{.key = "zero_quantized_weights", .because = kQuantized},
    Rule{.key = "zero_quantized_nontrainable_weights", .because = kQuantized},
    Rule{.key = "zero_quantized_gradients", .because = kQuantized},
    Rule{.key = "zeropp_loco_param", .because = kQuantized},
    Rule{.key = "mics_hierarchical_params_gather", .because = kSpeedOnly},
    Rule{.key = "memory_efficient_linear", .because = "linear layers keep their input only here, too"},
    Rule{.key = "override_module_apply", .because = "it concerns how the model is made"},
    Rule{.key = "cpu_offload_use_pin_memory", .because = kHostSide},
};

constexpr std::array kOptimizerParamRules{
    Rule{.key = "lr", .read = read_real<kLearningRate>},
    Rule{.key = "weight_decay", .read = read_real<kWeightDecay>},
    Rule{.key = "eps", .read = read_real<kEpsilon>},
    Rule{.key = "betas", .read = read_betas},
    Rule{.key = "bias_correction", .because = "AdamW corrects its bias, as by default"},
    Rule{.key = "torch_adam", .because = "the state is the same"},
    Rule{.key = "adam_w_mode", .because = "the state is the same"},
};
constexpr std::array kOptimizerRules{
    Rule{.key = "type", .read = read_optimizer},
    Rule{.key = "params", .section = kOptimizerParamRules},
    Rule{.key = "legacy_fusion", .because = "the state is the same"},
};
constexpr std::array kSchedulerParamRules{
    Rule{.key = "warmup_num_steps", .read = read_steps<kWarmup>},
    Rule{.key = "total_num_steps", .read = read_steps<kScheduleSteps>},
    Rule{.key = "warmup_max_lr", .read = read_real<kLearningRate>},
    Rule{.key = "warmup_min_lr", .because = "the warm-up begins at 0 here"},
    Rule{.key = "warmup_type", .because = "the warm-up is a line here"},
    Rule{.key = "warmup_min_ratio", .because = "the warm-up begins at 0 here"},
    Rule{.key = "cos_min_ratio", .because = "the cosine ends at 0 here"},
};
constexpr std::array kSchedulerRules{
    Rule{.key = "type", .read = read_schedule},
    Rule{.key = "params", .section = kSchedulerParamRules},
};
constexpr std::string_view kScriptCheckpoints =
    "the model's code decides which layers are recomputed: set checkpointing";
constexpr std::array kCheckpointingRules{
    Rule{.key = "cpu_checkpointing", .read = read_checkpoint_place},
    Rule{.key = "partition_activations", .because = "it needs tensor parallelism, which our step does not have"},
    Rule{.key = "contiguous_memory_optimization", .because = "kept inputs have blocks of their own here"},
    Rule{.key = "number_checkpoints", .because = kScriptCheckpoints},
    Rule{.key = "synchronize_checkpoint_boundary", .because = kSpeedOnly},
    Rule{.key = "profile", .because = kReports},
};

constexpr std::string_view kOtherModel = "it changes the model or the data, which --model and --set describe here";
constexpr std::array kDeepSpeedRules{
    Rule{.key = "train_batch_size", .read = read_global_batch, .automatic = kScript},
    Rule{.key = "train_micro_batch_size_per_gpu", .read = read_count<&Reading::batch, kBatch>, .automatic = kScript},
    Rule{.key = "gradient_accumulation_steps",
         .read = read_count<&Reading::accumulate, kAccumulate>,
         .automatic = kScript},
    Rule{.key = "gradient_clipping", .read = read_real<kClip>},
    Rule{.key = "fp16", .section = kFp16Rules},
    Rule{.key = "bf16", .section = kBf16Rules},
    Rule{.key = "bfloat16", .section = kBf16Rules},
    Rule{.key = "data_types", .section = kDataTypeRules},
    Rule{.key = "communication_data_type", .read = read_sums},
    Rule{.key = "fp32_allreduce", .read = read_fp32_sums},
    Rule{.key = "zero_optimization", .section = kZeroRules},
    Rule{.key = "optimizer", .section = kOptimizerRules},
    Rule{.key = "scheduler", .section = kSchedulerRules},
    Rule{.key = "activation_checkpointing", .section = kCheckpointingRules},
    Rule{.key = "zero_allow_untested_optimizer", .because = kChecks},
    Rule{.key = "zero_force_ds_cpu_optimizer", .because = "the state is the same"},
    Rule{.key = "prescale_gradients", .because = "gradients are divided by the number of GPUs here, too"},
    Rule{.key = "gradient_predivide_factor", .because = "gradients are divided by the number of GPUs here, too"},
    Rule{.key = "sparse_gradients", .because = "gradients of the embedding are dense here"},
    Rule{.key = "disable_allgather", .because = kSpeedOnly},
    Rule{.key = "steps_per_print", .because = kReports},
    Rule{.key = "wall_clock_breakdown", .because = kReports},
    Rule{.key = "memory_breakdown", .because = kReports},
    Rule{.key = "dump_state", .because = kReports},
    Rule{.key = "tensorboard", .because = kReports},
    Rule{.key = "wandb", .because = kReports},
    Rule{.key = "csv_monitor", .because = kReports},
    Rule{.key = "comet", .because = kReports},
    Rule{.key = "flops_profiler", .because = kReports},
    Rule{.key = "comms_logger", .because = kReports},
    Rule{.key = "autotuning", .because = "it searches for settings; this plan is of one"},
    Rule{.key = "aio", .because = "it concerns the speed of the disk"},
    Rule{.key = "checkpoint", .because = kSaving},
    Rule{.key = "elasticity", .because = "the number of GPUs is fixed here"},
    Rule{.key = "amp", .because = "Apex's casts are not imitated; use fp16 or bf16"},
    Rule{.key = "dataloader_drop_last", .because = kOtherModel},
    Rule{.key = "vocabulary_size", .because = kOtherModel},
    Rule{.key = "sparse_attention", .because = kOtherModel},
    Rule{.key = "curriculum_learning", .because = kOtherModel},
    Rule{.key = "data_efficiency", .because = kOtherModel},
    Rule{.key = "progressive_layer_drop", .because = kOtherModel},
    Rule{.key = "compression_training", .because = kOtherModel},
    Rule{.key = "pipeline", .because = "our step has no pipeline, so a GPU holds all layers"},
    Rule{.key = "tensor_parallel", .because = "our step does not split layers, so the plan has more"},
    Rule{.key = "sequence_parallel_size", .because = "our step does not split sequences, so the plan has more"},
    Rule{.key = "seq_parallel_communication_data_type", .because = "our step does not split sequences"},
    Rule{.key = "hybrid_engine", .because = "our step does not generate text"},
    Rule{.key = "compile", .because = "our step is not compiled"},
};

}  // namespace

std::span<const Rule> deepspeed_rules() { return kDeepSpeedRules; }

}  // namespace headroom::configs
