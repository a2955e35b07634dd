// Decides which framework a file is for, reads it, and derives the settings that need several keys.
#include "demos/configs/config.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/configs/reading.h"
#include "demos/predict/step_settings.h"
#include "demos/record/file/foreign_json.h"
#include "demos/record/file/split.h"
#include "demos/record/find.h"

namespace headroom::configs {

namespace fs = std::filesystem;
using predict::StateOffload;
using predict::Zero;
using record::Error;

namespace {

// Limits the time that a damaged file can take; published configurations have up to 4 KB.
constexpr record::ForeignFile kConfigFile{
    .wanted = "use a configuration of DeepSpeed or Accelerate", .again = "write it again", .longest = 65'536};

constexpr std::int64_t kDefaultBucket = 500'000'000;  // elements, deepspeed/runtime/zero/config.py

// Settings from those that move the most bytes to those that move none.
constexpr std::array<std::string_view, 26> kByWeight{"ranks",
                                                     "zero",
                                                     "zero_group",
                                                     "precision",
                                                     "gemm",
                                                     "optimizer",
                                                     "checkpointing",
                                                     kOffloadOptimizer,
                                                     kOffloadParameters,
                                                     "offload.checkpoints",
                                                     "batch",
                                                     "accumulate",
                                                     "bucket",
                                                     "prefetch",
                                                     "reduce",
                                                     "loss_scale",
                                                     "loss_scale_window",
                                                     "clip",
                                                     "learning_rate",
                                                     "schedule",
                                                     "warmup_steps",
                                                     "schedule_steps",
                                                     "beta1",
                                                     "beta2",
                                                     "epsilon",
                                                     "weight_decay"};

std::ptrdiff_t weight_of(const Setting& setting) {
  return std::ranges::find(kByWeight, setting.key) - kByWeight.begin();
}

bool has_any(const Json& document, std::span<const std::string_view> keys) {
  return std::ranges::any_of(keys, [&](std::string_view key) { return document.contains(std::string(key)); });
}

constexpr std::array<std::string_view, 6> kOfAccelerate{"distributed_type", "compute_environment", "fsdp_config",
                                                        "deepspeed_config", "num_processes",       "mixed_precision"};
constexpr std::array<std::string_view, 10> kOfDeepSpeed{"zero_optimization",
                                                        "train_batch_size",
                                                        "train_micro_batch_size_per_gpu",
                                                        "gradient_accumulation_steps",
                                                        "fp16",
                                                        "bf16",
                                                        "gradient_clipping",
                                                        "optimizer",
                                                        "scheduler",
                                                        "data_types"};

bool is_fsdp_section(const Json& document) {
  for (const auto& [key, value] : document.items()) {
    if (key.starts_with("fsdp_")) return true;
    if (key == "transformer_layer_cls_to_wrap" || key == "backward_prefetch" || key == "min_num_params") return true;
  }
  return false;
}

// Turns a setting that the framework itself would refuse into a key without effect.
void demote(Config& config, std::string_view setting, std::string_view because) {
  for (Key& key : config.keys)
    if (key.fate == Fate::kRead && key.setting == setting) key.fate = Fate::kIgnored, key.words = because;
}

void check_offload(Config& config) {
  if (config.framework != Framework::kDeepSpeed) return;
  if (config.weights != StateOffload::kOff && config.zero != Zero::kWeights) {
    demote(config, kOffloadParameters, "DeepSpeed offloads parameters at stage 3 only");
    config.weights = StateOffload::kOff;
  }
  if (config.state != StateOffload::kOff && config.zero == Zero::kOff) {
    demote(config, kOffloadOptimizer, "DeepSpeed offloads the optimizer from stage 1 on");
    config.state = StateOffload::kOff;
  }
}

void find_precision(Reading& reading) {
  Config& config = reading.config;
  if (reading.fp16.value_or(false) && reading.bf16.value_or(false))
    return reading.fail(fmt::format("{}: fp16.enabled and bf16.enabled are both true; keep one.", config.file));
  if (reading.fp16.value_or(false)) config.mixed = Format::kFp16;
  if (reading.bf16.value_or(false)) config.mixed = Format::kBf16;
  if (!config.mixed && reading.auto_precision) config.mixed = Format::kBf16;
}

// batch · accumulate · GPUs are the sequences of a step.
void find_counts(Reading& reading) {
  Config& config = reading.config;
  if (reading.global_batch) {
    const std::int64_t all = *reading.global_batch;
    const std::int64_t known = reading.batch.value_or(1) * reading.accumulate.value_or(1) * config.ranks.value_or(1);
    if (all % known != 0)
      return reading.fail(fmt::format(
          "{}: train_batch_size is {}, which is no multiple of the {} that its batch, accumulation and GPUs give; "
          "correct one of them.",
          config.file, all, known));
    if (!reading.batch && config.ranks)
      reading.batch = all / known;
    else if (reading.batch && !reading.accumulate && config.ranks)
      reading.accumulate = all / known;
    else if (reading.batch && reading.accumulate && !config.ranks)
      config.ranks = all / known;
    else if (reading.batch && reading.accumulate && all != known)
      return reading.fail(
          fmt::format("{}: train_batch_size is {}, but its batch, accumulation and GPUs give {}; "
                      "correct one of them.",
                      config.file, all, known));
    else if (!config.ranks)
      demote(config, "ranks", "the number of GPUs decides: --gpus with --batch, or --set accumulate");
  }
  config.micro_batches = reading.accumulate.value_or(1);
  if (reading.machines && config.zero_group == 0)
    demote(config, "zero_group", "only hybrid sharding makes a group of each host");
  if (config.zero_group < 0) config.zero_group = config.ranks ? *config.ranks / reading.machines.value_or(1) : 0;
}

std::string precision_of(const Config& config) {
  if (!config.mixed) return config.framework == Framework::kDeepSpeed ? "fp32" : "bf16";
  return *config.mixed == Format::kFp16 ? "fp16_mixed" : "bf16_mixed";
}

// Bytes of the bucket; 0: unknown.
std::int64_t bucket_of(const Config& config) {
  if (config.framework != Framework::kDeepSpeed || config.zero == Zero::kOff) return 0;
  const bool automatic = std::ranges::any_of(config.keys, [](const Key& key) {
    return key.fate == Fate::kAutomatic && key.path.ends_with("reduce_bucket_size");
  });
  if (automatic) return 0;
  const Format sum = config.fp32_sums ? Format::kFp32 : config.mixed.value_or(Format::kFp32);
  return config.bucket_elements.value_or(kDefaultBucket) * bytes_of(sum);
}

std::string path_of(const Config& config, std::string_view setting) {
  const auto key = std::ranges::find_if(
      config.keys, [&](const Key& each) { return each.fate == Fate::kRead && each.setting == setting; });
  return key == config.keys.end() ? std::string() : key->path;
}

// Adds the settings that several keys decide, and sorts.
void add_settings(Reading& reading) {
  Config& config = reading.config;
  const auto add = [&](std::string_view key, std::string value) {
    reading.set(key, std::move(value), path_of(config, key));
  };
  if (config.ranks) add("ranks", fmt::format("{}", *config.ranks));
  add("zero", std::string(predict::kZeros.at(static_cast<std::size_t>(config.zero)).choice.key));
  if (config.zero_group > 0 && config.zero != Zero::kOff) add("zero_group", fmt::format("{}", config.zero_group));
  add("precision", precision_of(config));
  if (config.state != StateOffload::kOff) add(kOffloadOptimizer, config.state == StateOffload::kFile ? "file" : "host");
  if (config.weights != StateOffload::kOff) add(kOffloadParameters, "on");
  if (reading.batch) add("batch", fmt::format("{}", *reading.batch));
  if (reading.accumulate) add("accumulate", fmt::format("{}", *reading.accumulate));
  constexpr std::int64_t kLeastBucket = 1024;
  if (const std::int64_t bucket = bucket_of(config); bucket >= kLeastBucket) add("bucket", fmt::format("{}", bucket));
  if (config.fp32_sums) add("reduce", "fp32");
  if (reading.loss_scale && config.mixed == Format::kFp16)
    add("loss_scale", fmt::format("{}", static_cast<std::int64_t>(std::clamp(*reading.loss_scale, 1.0, 16'777'216.0))));
  if (config.zero != Zero::kWeights)
    std::erase_if(config.settings, [](const Setting& s) { return s.key == "prefetch"; });
  if (config.mixed != Format::kFp16)
    std::erase_if(config.settings, [](const Setting& s) { return s.key == "loss_scale_window"; });
  std::ranges::stable_sort(config.settings, {}, weight_of);
  for (std::size_t i = 0; i + 1 < config.settings.size();) {  // of two keys for one setting the last one counts
    if (config.settings[i].key == config.settings[i + 1].key)
      config.settings.erase(config.settings.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

Framework framework_of(const Json& document) {
  const Json& kind = document["distributed_type"];
  if (kind == "DEEPSPEED") return Framework::kDeepSpeed;
  if (kind == "FSDP") return Framework::kFsdp;
  return Framework::kDataParallel;
}

// Accelerate's default, if its file names neither a stage nor a file of DeepSpeed's.
Zero first_stage(const Json& document, Framework framework) {
  if (framework == Framework::kFsdp) return Zero::kWeights;
  if (framework == Framework::kDataParallel) return Zero::kOff;
  const auto section = document.find("deepspeed_config");
  const bool names_file =
      section != document.end() && section->is_object() && section->contains("deepspeed_config_file");
  return names_file ? Zero::kOff : Zero::kGradients;
}

record::Status read_into(Reading& reading, const Json& document) {
  Config& config = reading.config;
  if (has_any(document, kOfAccelerate)) {
    if (!document.contains("distributed_type"))
      return Error{fmt::format("{} has no distributed_type; add FSDP, DEEPSPEED, MULTI_GPU or NO.", config.file)};
    config.framework = framework_of(document);
    config.zero = first_stage(document, config.framework);
    reading.section(document, "", accelerate_rules());
  } else if (has_any(document, kOfDeepSpeed)) {
    reading.section(document, "", deepspeed_rules());
  } else if (is_fsdp_section(document)) {
    config.framework = Framework::kFsdp;
    config.zero = Zero::kWeights;
    reading.section(document, "", fsdp_rules(), "fsdp_");
  } else {
    return Error{fmt::format(
        "{} is no configuration of DeepSpeed or Accelerate: it has neither zero_optimization nor distributed_type nor "
        "any other key of theirs; a model's config.json goes with --model.",
        config.file)};
  }
  return record::Ok{};
}

}  // namespace

std::string_view label_of(Framework framework) {
  constexpr std::array<std::string_view, 3> kLabels{"DeepSpeed", "FSDP", "data parallelism"};
  return kLabels.at(static_cast<std::size_t>(framework));
}

std::string_view label_of(Format format) {
  constexpr std::array<std::string_view, 3> kLabels{"fp32", "bf16", "fp16"};
  return kLabels.at(static_cast<std::size_t>(format));
}

std::vector<const Key*> Config::with(Fate fate) const {
  std::vector<const Key*> found;
  for (const Key& key : keys)
    if (key.fate == fate) found.push_back(&key);
  return found;
}

const Setting* Config::find(std::string_view key) const { return record::find_in(settings, key, &Setting::key); }

record::Result<Json> parse_document(std::string_view text, const std::string& file) {
  if (file.ends_with(".json")) return record::parse_foreign_json<Json>(text, file, kConfigFile);
  if (const auto usable = record::check_foreign_text(text, file, kConfigFile); !usable) return usable.error();
  if (text.substr(text.find_first_not_of(" \t\r\n")).starts_with('{'))
    return record::parse_foreign_json<Json>(text, file, kConfigFile);
  return parse_yaml(text, file);
}

record::Result<Json> read_document(const fs::path& file) {
  const auto text =
      record::read_foreign_text(file, kConfigFile, "pass a configuration of DeepSpeed (.json) or Accelerate (.yaml)");
  if (!text) return text.error();
  return parse_document(text.value(), file.string());
}

record::Result<Config> meaning_of(const Json& document, const fs::path& file) {
  Reading reading(file);
  if (const auto known = read_into(reading, document); !known) return known.error();
  find_precision(reading);
  find_counts(reading);
  check_offload(reading.config);
  if (reading.error()) return *reading.error();
  add_settings(reading);
  return std::move(reading.config);
}

record::Result<Config> read_config(const fs::path& file) {
  const auto document = read_document(file);
  if (!document) return document.error();
  return meaning_of(document.value(), file);
}

Json without(Json document, std::string_view path) {
  Json* object = &document;
  const std::vector<std::string> keys = record::split(path, '.');
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = object->is_object() ? object->find(keys[i]) : object->end();
    if (found == object->end()) return document;
    if (i + 1 == keys.size())
      object->erase(found);
    else
      object = &*found;
  }
  return document;
}

}  // namespace headroom::configs
