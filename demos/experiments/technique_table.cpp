// The rows, and how they are turned on and off.
#include "demos/experiments/technique_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "demos/record/find.h"
#include "demos/record/text.h"

namespace headroom::experiments {

using record::Params;

namespace {

constexpr const char *kPlaceAlwaysLiger = "always, 1: Liger kernels", *kPlaceAlwaysCheckpoints = "always, 3",
                     *kPlaceMixed = "out of memory, 4", *kPlaceOffload = "out of memory, 6: CPU offload",
                     *kPlaceGaLore = "out of memory, 7", *kPlace8Bit = "out of memory, 8",
                     *kPlaceNvme = "out of memory, 9", *kPlaceBatch = "batch, 2",
                     *kPlaceZero2 = "always, 2: ZeRO stage 2", *kPlaceZero3 = "out of memory, 5: ZeRO stage 3";

std::vector<Technique> in_kernels() {
  return {
      {.id = "flash_attention",
       .label = "flash attention",
       .settings = {"attention=flash"},
       .reason = "It never writes the scores of all pairs of tokens.",
       .rung = {.number = 1}},
      {.id = "fused_kernels",
       .label = "fused kernels",
       .settings = {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.embedding=on"},
       .reason = "One kernel keeps only its inputs and recomputes in backward what operators would keep.",
       .report_place = kPlaceAlwaysLiger,
       .rung = {.number = 2}},
      {.id = "flce",
       .label = "fused linear cross entropy",
       .short_label = "fused loss",
       .settings = {"loss=flce"},
       .reason = "Logits and their gradient exist for one chunk of tokens at a time.",
       .cost = {.rounding = "a little rounding in dW", .times = 0.95},
       .recording = "technique_loss_flce",
       .report_place = kPlaceAlwaysLiger,
       .rung = {.number = 3}},
  };
}

std::vector<Technique> in_the_schedule() {
  return {
      {.id = "optimizer_in_backward",
       .label = "step in backward",
       .settings = {"optimizer_in_backward=on"},
       .reason = "Each layer's gradients are used as soon as they are complete, then freed.",
       .cost = {.times = 1.01},
       .recording = "technique_optimizer_in_backward",
       .rung = {.number = 8}},
      {.id = "selective",
       .label = "selective checkpointing",
       .settings = {"checkpointing=selective"},
       .reason = "Norms and SwiGLU are recomputed in backward instead of kept.",
       .cost = {.speed = true, .times = 1.06},
       .recording = "technique_checkpointing_selective",
       .report_place = kPlaceAlwaysCheckpoints},
      {.id = "checkpointing",
       .label = "checkpointing",
       .settings = {"checkpointing=layer"},
       .reason = "Only the input of each layer is kept, and the layer is recomputed in backward.",
       .cost = {.speed = true, .times = 1.22},
       .recording = "technique_checkpointing_layer",
       .report_place = kPlaceAlwaysCheckpoints,
       .rung = {.number = 7}},
      {.id = "accumulate_2",
       .label = "two micro-batches",
       .short_label = "2 micro-batches",
       .micro_batches = 2,
       .reason = "Half of the sequences are processed at a time, and their gradients add up.",
       .cost = {.speed = true, .times = 1.53},
       .recording = "technique_accumulate",
       .report_place = kPlaceBatch},
      {.id = "accumulate_4",
       .label = "four micro-batches",
       .short_label = "4 micro-batches",
       .micro_batches = 4,
       .reason = "A quarter of the sequences are processed at a time, and their gradients add up.",
       .cost = {.speed = true, .times = 1.53},
       .recording = "technique_accumulate",
       .report_place = kPlaceBatch},
  };
}

std::vector<Technique> on_the_host() {
  return {
      {.id = "offload_checkpoints",
       .label = "checkpoints on the host",
       .short_label = "checkpoints on host",
       .settings = {"offload.checkpoints=on"},
       .reason = "The kept inputs of layers move to the host until backward needs them.",
       .cost = {.speed = true, .times = 1.01},
       .recording = "technique_offload_checkpoints",
       .report_place = kPlaceOffload,
       .rung = {.number = 10}},
      {.id = "offload_optimizer",
       .label = "optimizer on the host",
       .short_label = "optimizer on host",
       .settings = {"offload.optimizer=host"},
       .reason = "Masters and moments are on the host; its CPU takes the same time at any batch size.",
       .cost = {.speed = true, .times = 5.17, .seconds = 0.33},
       .recording = "technique_offload_optimizer",
       .report_place = kPlaceOffload,
       // The CPU's AdamW does not support the GPU optimizer's other switches.
       .rung = {.number = 11,
                .drops = {{"optimizer", "adamw_8bit", "adamw", "8-bit moments"},
                          {"optimizer_in_backward", "on", "off", "step in backward"},
                          {"rounding", "stochastic", "nearest", "stochastic rounding"}}}},
      {.id = "offload_file",
       .label = "optimizer in a file",
       .settings = {"offload.optimizer=file"},
       .reason = "Masters and moments are in a file, and pass through the host each step.",
       .cost = {.speed = true},
       .report_place = kPlaceNvme},
      {.id = "offload_parameters",
       .label = "weights on the host",
       .short_label = "weights on host",
       .settings = {"offload.parameters=on"},
       .reason = "Only the weights of two layers are on the card at a time.",
       .cost = {.speed = true},
       .report_place = kPlaceOffload,
       .rung = {.number = 12}},
  };
}

std::vector<Technique> among_ranks() {
  return {
      {.id = "zero_1",
       .label = "ZeRO-1",
       .settings = {"zero=1"},
       .several_ranks = true,
       .reason = "Each rank updates its share of the weights, and has the optimizer state of that share only."},
      {.id = "zero_2",
       .label = "ZeRO-2",
       .settings = {"zero=2"},
       .several_ranks = true,
       .reason = "Each rank also keeps the gradients of its share only; they are summed in every micro-batch.",
       .report_place = kPlaceZero2},
      {.id = "zero_3",
       .label = "ZeRO-3",
       .settings = {"zero=3"},
       .several_ranks = true,
       .reason = "Each rank also stores its share of the weights only, and gathers a layer while it is used.",
       .cost = {.speed = true},
       .report_place = kPlaceZero3},
  };
}

std::vector<Technique> in_other_numbers() {
  return {
      {.id = "mixed",
       .label = "bf16 with fp32 masters",
       .short_label = "bf16 mixed",
       .settings = {"precision=bf16_mixed"},
       .reason = "Activations and gradients take two bytes instead of four.",
       .cost = {.exactness = true, .times = 1.06},
       .recording = "technique_bf16_mixed",
       .report_place = kPlaceMixed},
      {.id = "bf16",
       .label = "bf16, stochastic rounding",
       .short_label = "bf16 alone",
       .settings = {"precision=bf16", "rounding=stochastic"},
       .reason = "Weights, gradients, moments and activations take two bytes each, without masters.",
       .cost = {.exactness = true, .times = 1.01},
       .recording = "technique_bf16_stochastic",
       .rung = {.number = 5, .drops = {{"gemm", "tf32", "as_stored", "tf32 products"}}}},
      {.id = "fp8",
       .label = "fp8 products",
       .settings = {"gemm=fp8"},
       .reason = "A linear layer keeps one byte per element of its input.",
       .cost = {.exactness = true, .times = 0.97},
       .recording = "technique_fp8",
       .rung = {.number = 6, .by_default = false}},
      {.id = "adamw_8bit",
       .label = "8-bit AdamW",
       .settings = {"optimizer=adamw_8bit"},
       .reason = "Each moment takes one byte, with one scale per block.",
       .cost = {.exactness = true, .times = 0.98},
       .recording = "technique_adamw_8bit",
       .report_place = kPlace8Bit,
       .rung = {.number = 9}},
      {.id = "paged_adamw_8bit",
       .label = "paged 8-bit AdamW",
       .settings = {"optimizer=paged_adamw_8bit"},
       .reason = "The driver moves the moments of 8-bit AdamW to the host while the GPU is full.",
       .cost = {.speed = true, .exactness = true}},
      {.id = "galore",
       .label = "GaLore",
       .settings = {"optimizer=galore"},
       .reason = "Moments are kept for gradients projected to fewer rows.",
       .cost = {.speed = true, .exactness = true, .times = 3.23},
       .recording = "technique_galore",
       .report_place = kPlaceGaLore},
      {.id = "lora",
       .label = "LoRA",
       .settings = {"adapters=lora"},
       .reason = "Two thin matrices next to each weight are trained; the weight has no gradient and no moments.",
       .cost = {.exactness = true, .times = 0.86},
       .recording = "technique_lora"},
      {.id = "qlora",
       .label = "QLoRA",
       .settings = {"adapters=qlora"},
       .reason = "Like LoRA, with the frozen weights in four bits.",
       .cost = {.speed = true, .exactness = true, .times = 0.90},
       .recording = "technique_qlora"},
      {.id = "tf32",
       .label = "tf32 products",
       .settings = {"gemm=tf32"},
       .needs = "precision=fp32",
       .saves_memory = false,
       .reason = "GEMMs use only 10 fraction bits: faster, with the same memory.",
       .cost = {.exactness = true},
       .rung = {.number = 4, .by_default = false}},
  };
}

std::string_view key_of(std::string_view setting) { return setting.substr(0, setting.find('=')); }

void add_switches_of_schema(std::vector<Technique>& all) {
  for (const record::ParamSpec& spec : training_step().schema) {
    const std::string setting = std::string(spec.key) + "=on";
    const bool technique = spec.kind == record::ParamKind::kSwitch && spec.role == record::ParamRole::kTechnique;
    const bool known =
        std::ranges::any_of(all, [&](const Technique& each) { return each.settings == std::vector{setting}; });
    if (!technique || spec.default_number != 0 || known) continue;
    all.push_back({.id = std::string(spec.key),
                   .label = std::string(spec.label),
                   .short_label = record::in_lower_case(std::string(spec.label)),
                   .settings = {setting},
                   .saves_memory = false,
                   .kernel = spec.own_kernels.composed,
                   .reason = std::string(spec.help) + "."});
  }
}

std::vector<Technique> make_table() {
  std::vector<Technique> all;
  for (const auto part : {in_kernels, in_the_schedule, among_ranks, on_the_host, in_other_numbers})
    for (Technique& each : part()) all.push_back(std::move(each));
  add_switches_of_schema(all);
  return all;
}

// nullopt if the sequences cannot be split.
std::optional<Params> split(Params params, int parts) {
  const std::int64_t sequences = params.integer("batch") * params.integer("accumulate");
  const bool possible = sequences % parts == 0 && params.set_assignment(fmt::format("batch={}", sequences / parts)) &&
                        params.set_assignment(fmt::format("accumulate={}", parts));
  return possible ? std::optional(std::move(params)) : std::nullopt;
}

}  // namespace

std::string_view Cost::given_up() const {
  if (speed && exactness) return "speed, exactness";
  if (speed || exactness) return speed ? "speed" : "exactness";
  return rounding.empty() ? "nothing" : std::string_view(rounding);
}

std::string Cost::time() const {
  if (seconds > 0) return fmt::format("{:.2f} s more", seconds);
  return times > 0 ? fmt::format("{:.2f} times", times) : std::string();
}

std::vector<std::string_view> Technique::keys() const {
  if (micro_batches > 1) return {"batch", "accumulate"};
  std::vector<std::string_view> all;
  if (!needs.empty()) all.push_back(key_of(needs));
  for (const std::string& setting : settings) all.push_back(key_of(setting));
  return all;
}

std::span<const Technique> techniques() {
  static const std::vector<Technique> all = make_table();
  return all;
}

std::span<const Technique> memory_techniques() {
  const auto all = techniques();
  return all.first(static_cast<std::size_t>(std::ranges::find(all, false, &Technique::saves_memory) - all.begin()));
}

const Technique* find_technique(std::string_view id) { return record::find_in(techniques(), id, &Technique::id); }

std::vector<const Technique*> ladder_techniques() {
  std::vector<const Technique*> rungs;
  for (const Technique& each : techniques())
    if (each.rung.number > 0) rungs.push_back(&each);
  std::ranges::sort(rungs, {}, [](const Technique* each) { return each->rung.number; });
  return rungs;
}

std::string ladder_label(std::string_view id) {
  const Technique* const found = find_technique(id);
  return found == nullptr ? std::string(id) : found->label;
}

std::vector<std::string_view> report_steps_left_out(const Params& params) {
  std::vector<std::string_view> left_out;
  if (params.integer("ranks") > 1) return left_out;
  for (const Technique& each : techniques())
    if (each.several_ranks && !each.report_place.empty()) left_out.push_back(each.report_place);
  return left_out;
}

bool is_on(const Technique& what, const Params& params) {
  if (what.micro_batches > 1) return params.integer("accumulate") == what.micro_batches;
  return std::ranges::all_of(what.settings, [&](std::string_view setting) {
    const std::string_view key = key_of(setting);
    return params.as_text(key) == setting.substr(key.size() + 1);
  });
}

std::optional<Params> turned_on(const Technique& what, const Params& params) {
  if (what.several_ranks && params.integer("ranks") == 1) return std::nullopt;
  Params now = params;
  if (what.micro_batches > 1) {
    auto parts = split(params, what.micro_batches);
    return parts == params ? std::nullopt : parts;
  }
  if (!what.needs.empty() && !now.set_assignment(what.needs)) return std::nullopt;
  for (const std::string& setting : what.settings)
    if (!now.set_assignment(setting) || !now.in_use(key_of(setting))) return std::nullopt;  // would not change the step
  return now == params ? std::nullopt : std::optional(now);
}

std::optional<Params> turned_off(const Technique& what, const Params& params) {
  Params now = params;
  if (what.micro_batches > 1) {
    auto whole = split(params, 1);
    if (!whole) return std::nullopt;
    now = *std::move(whole);
  } else {
    const Params first(params.schema());
    for (const std::string_view key : what.keys()) {
      if (!params.in_use(key) || !now.set_assignment(fmt::format("{}={}", key, first.as_text(key))))
        return std::nullopt;
    }
  }
  return now == params ? std::nullopt : std::optional(now);
}

Params on_rung(const Technique& what, Params params) {
  for (const Dropped& each : what.rung.drops) apply_one(params, fmt::format("{}={}", each.key, each.instead));
  for (const std::string& setting : what.settings) apply_one(params, setting);
  return params;
}

}  // namespace headroom::experiments
