// The keys of the file that `accelerate config` writes, and of its section for FSDP: accelerate/commands/config/
// cluster.py and config_args.py.
#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>

#include "demos/configs/reading.h"

namespace headroom::configs {

namespace {

using predict::StateOffload;
using predict::Zero;

constexpr std::int64_t kMostRanks = 1024;

constexpr std::string_view kLauncher = "it concerns how processes start";
constexpr std::string_view kLoading = "it concerns loading and saving";

void read_kind(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return;
  if (*name == "NO") {
    reading.config.ranks = 1;
    return reading.means(item, "ranks");
  }
  for (const std::string_view known : {"FSDP", "DEEPSPEED", "MULTI_GPU", "MULTI_CPU"})
    if (*name == known) return reading.means(item, "");
  reading.wrong(item, "FSDP, DEEPSPEED, MULTI_GPU, MULTI_CPU or NO, which our step can imitate");
}

void read_mixed(Reading& reading, const Item& item) {
  const bool off = item.value.is_boolean() && !item.value.get<bool>();  // an unquoted no
  const std::string name = off ? "no" : reading.word(item).value_or("");
  if (name == "fp8") reading.set("gemm", name, item.path);
  if (name == "bf16" || name == "fp8") reading.config.mixed = Format::kBf16;
  if (name == "fp16") reading.config.mixed = Format::kFp16;
  if (name == "no" && reading.config.framework != Framework::kDeepSpeed)
    return reading.automatic(item,
                             "the format in which the script loads the weights; bf16 is taken: --set precision=fp32");
  if (name != "no" && !reading.config.mixed) return reading.wrong(item, "'no', bf16, fp16 or fp8");
  const bool shards = reading.config.framework == Framework::kFsdp;
  reading.means(item, "precision", shards ? "fp32 shards, gathered in 16 bits: as many bytes as masters here" : "");
}

void read_processes(Reading& reading, const Item& item) {
  const auto count = reading.whole(item, 1, kMostRanks);
  if (!count) return;
  reading.config.ranks = *count;
  reading.means(item, "ranks");
}

void read_machines(Reading& reading, const Item& item) {
  const auto count = reading.whole(item, 1, kMostRanks);
  if (!count) return;
  reading.machines = *count;
  reading.means(item, "zero_group", "hosts, which hybrid sharding makes groups of");
}

// A name, or its number from 1.
template <std::size_t kCount>
std::optional<std::size_t> numbered(Reading& reading, const Item& item,
                                    const std::array<std::string_view, kCount>& names) {
  std::string suits;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::string lower(names[i]);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (item.value == names[i] || item.value == lower || item.value == i + 1 || item.value == std::to_string(i + 1))
      return i;
    suits += (i == 0 ? "" : i + 1 == kCount ? " or " : ", ") + std::string(names[i]);
  }
  reading.wrong(item, suits);
  return std::nullopt;
}

void read_strategy(Reading& reading, const Item& item) {
  constexpr std::array<std::string_view, 5> kNames{"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                                   "HYBRID_SHARD_ZERO2"};
  constexpr std::array kZero{Zero::kWeights, Zero::kGradients, Zero::kOff, Zero::kWeights, Zero::kGradients};
  const auto index = numbered(reading, item, kNames);
  if (!index) return;
  reading.config.zero = kZero.at(*index);
  constexpr std::size_t kFirstHybrid = 3;
  if (*index < kFirstHybrid) return reading.means(item, "zero");
  reading.config.zero_group = -1;  // those of one host, once their number is known
  reading.means(item, "zero", "within each host");
}

void read_reshard(Reading& reading, const Item& item) {
  const bool named =
      item.value.is_string() && item.value.get_ref<const std::string&>().find("SHARD") != std::string::npos;
  if (named) return read_strategy(reading, item);
  const auto on = reading.flag(item);
  if (!on) return;
  reading.config.zero = *on ? Zero::kWeights : Zero::kGradients;
  reading.means(item, "zero", *on ? "" : "weights stay gathered from forward to backward");
}

void read_offload(Reading& reading, const Item& item) {
  const auto on = reading.flag(item);
  if (!on) return;
  if (*on) reading.config.state = reading.config.weights = StateOffload::kHost;
  reading.means(item, kOffloadOptimizer, *on ? "weights, too: all or nothing" : "");
}

void read_backward_prefetch(Reading& reading, const Item& item) {
  constexpr std::array<std::string_view, 3> kNames{"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"};
  const auto index = numbered(reading, item, kNames);
  if (!index) return;
  reading.set("prefetch", *index == 0 ? "1" : "0", item.path);
  reading.means(item, "prefetch", *index == 1 ? "one layer is held at a time, as with 0 here" : "");
}

void read_checkpointing(Reading& reading, const Item& item) {
  const auto on = reading.flag(item);
  if (!on) return;
  reading.set("checkpointing", *on ? "layer" : "off", item.path);
  reading.means(item, "checkpointing");
}

constexpr std::string_view kByLayer = "weights are gathered layer by layer here";

constexpr std::array kFsdpRules{
    Rule{.key = "sharding_strategy", .read = read_strategy},
    Rule{.key = "reshard_after_forward", .read = read_reshard},
    Rule{.key = "offload_params", .read = read_offload},
    Rule{.key = "backward_prefetch", .read = read_backward_prefetch},
    Rule{.key = "backward_prefetch_policy", .read = read_backward_prefetch},
    Rule{.key = "activation_checkpointing", .read = read_checkpointing},
    Rule{.key = "version", .because = "both versions hold the same shards"},
    Rule{.key = "forward_prefetch", .because = "prefetch counts for both passes here"},
    Rule{.key = "auto_wrap_policy", .because = kByLayer},
    Rule{.key = "transformer_layer_cls_to_wrap", .because = kByLayer},
    Rule{.key = "min_num_params", .because = kByLayer},
    Rule{.key = "limit_all_gathers", .because = "prefetch limits what is gathered here"},
    Rule{.key = "use_orig_params", .because = "it concerns the names of parameters"},
    Rule{.key = "sync_module_states", .because = kLoading},
    Rule{.key = "cpu_ram_efficient_loading", .because = kLoading},
    Rule{.key = "state_dict_type", .because = kLoading},
};

void read_named_file(Reading& reading, const Item& item) {
  const auto name = reading.word(item);
  if (!name) return;
  const std::filesystem::path path = reading.file().parent_path() / *name;
  const auto document = read_document(path);
  if (!document)
    return reading.fail(fmt::format("{}: {}: {}", reading.config.file, item.path, document.error().message));
  reading.means(item, "", "read, too");
  reading.section(document.value(), path.filename().string(), deepspeed_rules());
}

constexpr std::string_view kDeepSpeedOnly = "it concerns DeepSpeed's launcher";

// Reads one of Accelerate's names as DeepSpeed's key at this path.
void read_as(Reading& reading, const Item& item, std::initializer_list<std::string_view> path) {
  std::span<const Rule> rules = deepspeed_rules();
  for (const std::string_view key : path) {
    const auto rule = std::ranges::find(rules, key, &Rule::key);
    if (rule->section.empty()) return rule->read(reading, item);
    rules = rule->section;
  }
}

constexpr std::array kPluginRules{
    Rule{.key = "deepspeed_config_file", .read = read_named_file},
    Rule{.key = "zero_stage",
         .read =
             [](Reading& r, const Item& i) {
               read_as(r, i, {"zero_optimization", "stage"});
             }},
    Rule{.key = "offload_optimizer_device",
         .read =
             [](Reading& r, const Item& i) {
               read_as(r, i, {"zero_optimization", "offload_optimizer", "device"});
             }},
    Rule{.key = "offload_param_device",
         .read =
             [](Reading& r, const Item& i) {
               read_as(r, i, {"zero_optimization", "offload_param", "device"});
             }},
    Rule{.key = "gradient_accumulation_steps",
         .read = [](Reading& r, const Item& i) { read_as(r, i, {"gradient_accumulation_steps"}); }},
    Rule{.key = "gradient_clipping", .read = [](Reading& r, const Item& i) { read_as(r, i, {"gradient_clipping"}); }},
    Rule{.key = "offload_optimizer_nvme_path", .because = "offload_file names the file here"},
    Rule{.key = "offload_param_nvme_path", .because = "weights are streamed from the host's memory here"},
    Rule{.key = "zero3_init_flag", .because = kLoading},
    Rule{.key = "zero3_save_16bit_model", .because = kLoading},
    Rule{.key = "deepspeed_multinode_launcher", .because = kDeepSpeedOnly},
    Rule{.key = "deepspeed_hostfile", .because = kDeepSpeedOnly},
    Rule{.key = "deepspeed_exclusion_filter", .because = kDeepSpeedOnly},
    Rule{.key = "deepspeed_inclusion_filter", .because = kDeepSpeedOnly},
    Rule{.key = "deepspeed_moe_layer_cls_names", .because = "our step has no experts"},
};

void read_fsdp(Reading& reading, const Item& item) {
  if (reading.config.framework != Framework::kFsdp) return reading.ignore(item, "distributed_type is not FSDP");
  if (!item.value.is_object()) return reading.wrong(item, "lines of its own, further indented");
  reading.section(item.value, item.path, kFsdpRules, "fsdp_");
}

void read_plugin(Reading& reading, const Item& item) {
  if (reading.config.framework != Framework::kDeepSpeed)
    return reading.ignore(item, "distributed_type is not DEEPSPEED");
  if (!item.value.is_object()) return reading.wrong(item, "lines of its own, further indented");
  reading.section(item.value, item.path, kPluginRules);
}

constexpr std::string_view kOtherSplit = "our step does not split layers or sequences, so the plan has more";
constexpr std::array kAccelerateRules{
    Rule{.key = "distributed_type", .read = read_kind},
    Rule{.key = "mixed_precision", .read = read_mixed},
    Rule{.key = "num_processes", .read = read_processes},
    Rule{.key = "num_machines", .read = read_machines},
    Rule{.key = "fsdp_config", .read = read_fsdp},
    Rule{.key = "deepspeed_config", .read = read_plugin},
    Rule{.key = "compute_environment", .because = kLauncher},
    Rule{.key = "debug", .because = kLauncher},
    Rule{.key = "machine_rank", .because = kLauncher},
    Rule{.key = "main_process_ip", .because = kLauncher},
    Rule{.key = "main_process_port", .because = kLauncher},
    Rule{.key = "main_training_function", .because = kLauncher},
    Rule{.key = "rdzv_backend", .because = kLauncher},
    Rule{.key = "same_network", .because = kLauncher},
    Rule{.key = "gpu_ids", .because = kLauncher},
    Rule{.key = "enable_cpu_affinity", .because = kLauncher},
    Rule{.key = "mpirun_config", .because = kLauncher},
    Rule{.key = "commands", .because = kLauncher},
    Rule{.key = "command_file", .because = kLauncher},
    Rule{.key = "use_cpu", .because = "plans are for GPUs; a run has --device"},
    Rule{.key = "ipex_config", .because = "plans are for GPUs; a run has --device"},
    Rule{.key = "downcast_bf16", .because = "it concerns TPUs"},
    Rule{.key = "tpu_env", .because = "it concerns TPUs"},
    Rule{.key = "tpu_name", .because = "it concerns TPUs"},
    Rule{.key = "tpu_use_cluster", .because = "it concerns TPUs"},
    Rule{.key = "tpu_use_sudo", .because = "it concerns TPUs"},
    Rule{.key = "tpu_vm", .because = "it concerns TPUs"},
    Rule{.key = "tpu_zone", .because = "it concerns TPUs"},
    Rule{.key = "dynamo_backend", .because = "our step is not compiled"},
    Rule{.key = "dynamo_config", .because = "our step is not compiled"},
    Rule{.key = "fp8_config", .because = "fp8_scaling sets the scales here"},
    Rule{.key = "megatron_lm_config", .because = kOtherSplit},
    Rule{.key = "tp_config", .because = kOtherSplit},
    Rule{.key = "parallelism_config", .because = kOtherSplit},
};

}  // namespace

std::span<const Rule> accelerate_rules() { return kAccelerateRules; }
std::span<const Rule> fsdp_rules() { return kFsdpRules; }

}  // namespace headroom::configs
