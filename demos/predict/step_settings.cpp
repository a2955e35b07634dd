// Decodes `train_step`'s parameters.
#include "demos/predict/step_settings.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "demos/predict/meaning.h"

namespace headroom::predict {

namespace {

using record::Params;

bool used_and_on(const Params& params, std::string_view key) { return params.in_use(key) && params.on(key); }

llama::Config model_of(const Params& params) {
  if (const llama::Config* published = llama::find_config(params.text("model"))) return *published;
  llama::Config custom{.id = "custom"};
  for (const llama::ConfigLength& length : llama::kConfigLengths) custom.*length.value = params.integer(length.key);
  return custom;
}

FusedKernels fused_of(const Params& params) {
  return {.rms_norm = params.on("fused.rms_norm"),
          .rope = params.on("fused.rope"),
          .swiglu = params.on("fused.swiglu"),
          .keep = used_and_on(params, "fused.keep"),
          .cross_entropy = used_and_on(params, "fused.cross_entropy"),
          .embedding = params.on("fused.embedding"),
          .attention = meaning(params, "attention", kAttentions)};
}

AdapterOptions adapters_of(const Params& params) {
  return {.kind = meaning(params, "adapters", kAdapters),
          .rank = params.integer("lora_rank"),
          .alpha = static_cast<double>(params.integer("lora_alpha")),
          .targets = meaning(params, "lora_targets", kAdapterTargets),
          .start = meaning(params, "lora_start", kAdapterStarts),
          .fp32 = params.in_use("lora_precision") && params.text("lora_precision") == "fp32"};
}

void set_loss(StepSettings& step, const Params& params) {
  step.loss.path = meaning(params, "loss", kLossPaths);
  step.loss.keep_output = used_and_on(params, "keep_output");
  step.loss_scale.first = params.integer("loss_scale");
  step.loss_scale.window = params.integer("loss_scale_window");
  if (!params.in_use("loss_mode")) return;
  step.loss.mode = meaning(params, "loss_mode", kLossModes);
  step.loss.chunk = params.integer("loss_chunk");
  step.loss.fp32_weight_gradient = params.text("weight_gradient") == "fp32";
}

void set_checkpointing(StepSettings& step, const Params& params) {
  step.checkpointing = meaning(params, "checkpointing", kCheckpointings);
  if (params.in_use("checkpoint_every")) step.checkpoint_every = params.integer("checkpoint_every");
}

void set_optimizer(StepSettings& step, const Params& params) {
  step.optimizer.kind = meaning(params, "optimizer", kOptimizers);
  step.optimizer.learning_rate = params.real("learning_rate");
  step.optimizer.schedule = meaning(params, "schedule", kSchedules);
  step.optimizer.warmup_steps = params.integer("warmup_steps");
  if (params.in_use("schedule_steps")) step.optimizer.schedule_steps = params.integer("schedule_steps");
  step.optimizer.clip = params.real("clip");
  step.optimizer.beta1 = params.real("beta1");
  step.optimizer.beta2 = params.real("beta2");
  step.optimizer.epsilon = params.real("epsilon");
  step.optimizer.weight_decay = params.real("weight_decay");
  if (params.in_use("moments")) step.optimizer.moments = meaning(params, "moments", kMoments);
  step.optimizer.stochastic_rounding = params.in_use("rounding") && params.text("rounding") == "stochastic";
  step.optimizer.in_backward = params.on("optimizer_in_backward");
  step.optimizer.galore.rank = params.integer("galore_rank");
  step.optimizer.galore.interval = params.integer("galore_interval");
  step.optimizer.galore.scale = params.real("galore_scale");
}

void set_offload(StepSettings& step, const Params& params) {
  step.offload.state = meaning(params, "offload.optimizer", kStateOffloads);
  step.offload.file = params.text("offload_file");
  step.offload.parameters = params.on("offload.parameters");
  step.offload.checkpoints = params.on("offload.checkpoints");
}

ParallelSettings parallel_of(const Params& params) {
  ParallelSettings parallel{.ranks = params.integer("ranks"),
                            .zero = meaning(params, "zero", kZeros),
                            .fp32_sums = params.text("reduce") == "fp32",
                            .bucket = params.integer("bucket")};
  parallel.blocks = {.gathers = static_cast<int>(params.integer("gather_blocks")),
                     .sums = static_cast<int>(params.integer("sum_blocks"))};
  if (params.in_use("zero_group")) parallel.zero_group = params.integer("zero_group");
  if (params.in_use("prefetch")) parallel.prefetch = params.integer("prefetch");
  return parallel;
}

}  // namespace

std::int64_t StepSettings::moment_bytes() const {
  switch (optimizer.moments) {
    case Moments::kFp32:
      return 4;
    case Moments::kBf16:
      return 2;
    case Moments::kModel:
      break;
  }
  return masters() ? 4 : trained_bytes();
}

std::int64_t StepSettings::layers_at_once() const {
  return keeps_layer_inputs() ? std::min(checkpoint_every, model.num_layers) : model.num_layers;
}

std::int64_t StepSettings::low_rank() const {
  return optimizer.galore.rank > 0 ? optimizer.galore.rank : std::max<std::int64_t>(1, model.hidden_size / 4);
}

const char* storage_key(Precision precision) {
  if (precision == Precision::kFp32) return "fp32";
  return has_loss_scale(precision) ? "fp16" : "bf16";
}

namespace {

// The first side that fp8 GEMMs do not support; empty: none.
std::string odd_side(const StepSettings& step) {
  constexpr std::int64_t kSide = 16;  // cuBLASLt's alignment
  const llama::Config& c = step.model;
  const std::pair<const char*, std::int64_t> sides[] = {{"batch · seq", step.tokens()},
                                                        {"hidden_size", c.hidden_size},
                                                        {"num_heads · head_dim", c.num_heads * c.head_dim},
                                                        {"num_kv_heads · head_dim", c.num_kv_heads * c.head_dim},
                                                        {"intermediate_size", c.intermediate_size}};
  for (const auto& [name, side] : sides)
    if (side % kSide != 0) return std::string(name) + " is " + std::to_string(side);
  return {};
}

}  // namespace

bool StepSettings::fp8() const { return gemm == Gemm::kFp8 && odd_side(*this).empty(); }

std::string gemm_fact(const StepSettings& step, record::DeviceKind device) {
  if (step.gemm == Gemm::kFp8 && !step.fp8())
    return "GEMMs run in bf16, not in fp8: fp8 needs sides that are multiples of 16, but " + odd_side(step) + ".";
  if (device == record::DeviceKind::kGpu || step.gemm == Gemm::kAsStored) return {};
  if (step.fp8()) return "fp8 GEMMs are emulated: the CPU computes the same codes and adds in fp32.";
  return "tf32 GEMMs are emulated: the CPU rounds operands to 10 fraction bits and adds in fp32.";
}

StepSettings step_settings(const Params& params) {
  StepSettings step;
  step.model = model_of(params);
  step.files.weights = params.text("weights");
  step.files.text = params.text("data");
  step.files.data_type = params.text("data_type");
  step.files.save = params.text("save");
  step.files.save_state = params.on("save_state");
  step.files.save_merged = params.in_use("save_merged") && params.on("save_merged");
  step.files.resume = params.text("resume");
  step.batch = params.integer("batch");
  step.sequence = params.integer("seq");
  step.micro_batches = params.integer("accumulate");
  step.steps = static_cast<int>(params.integer("steps"));
  step.eval_every = static_cast<int>(params.integer("eval_every"));
  step.seed = static_cast<std::uint64_t>(params.integer("seed"));
  step.precision = meaning(params, "precision", kPrecisions);
  step.gemm = meaning(params, "gemm", kGemms);
  if (params.in_use("fp8_scaling")) step.fp8_scaling = meaning(params, "fp8_scaling", kFp8Scalings);
  set_checkpointing(step, params);
  set_loss(step, params);
  step.fused = fused_of(params);
  step.fused_adamw = params.on("fused.adamw");
  step.cuda_graph = params.on("cuda_graph");
  set_optimizer(step, params);
  step.adapters = adapters_of(params);
  if (step.precision == Precision::kFp32) step.adapters.fp32 = false;  // same format as the weights
  set_offload(step, params);
  step.parallel = parallel_of(params);
  step.histogram = params.on("histogram");
  return step;
}

namespace {

constexpr std::string_view kTied = "model.tie_word_embeddings";
std::string fact_of(std::string_view key) { return "model." + std::string(key); }

}  // namespace

std::map<std::string, std::string> shape_facts(const llama::Config& taken) {
  std::map<std::string, std::string> facts{{std::string(kTied), taken.tie_word_embeddings ? "yes" : "no"}};
  for (const llama::ConfigLength& length : llama::kConfigLengths)
    facts.emplace(fact_of(length.key), std::to_string(taken.*length.value));
  for (const llama::ConfigPart& part : llama::kConfigParts)
    facts.emplace(fact_of(part.key), taken.*part.there ? "yes" : "no");
  return facts;
}

std::optional<llama::Config> taken_shape(const std::map<std::string, std::string>& provenance) {
  llama::Config shape{.id = "custom"};
  for (const llama::ConfigLength& length : llama::kConfigLengths) {
    const auto found = provenance.find(fact_of(length.key));
    if (found == provenance.end()) return std::nullopt;
    const char* const end = found->second.data() + found->second.size();
    const auto parsed = std::from_chars(found->second.data(), end, shape.*length.value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  }
  const auto tied = provenance.find(std::string(kTied));
  if (tied == provenance.end() || !llama::check(shape)) return std::nullopt;
  shape.tie_word_embeddings = tied->second == "yes";
  for (const llama::ConfigPart& part : llama::kConfigParts) {
    const auto found = provenance.find(fact_of(part.key));  // missing in older recordings
    shape.*part.there = found != provenance.end() && found->second == "yes";
  }
  return shape;
}

StepSettings settings_of(const record::RunInfo& run, record::Schema train_step) {
  StepSettings step = step_settings(Params::known_of(train_step, run.params));
  if (const auto taken = taken_shape(run.provenance)) step.model = *taken;
  step.loss.tied_sum_in_place = !run.params.contains("fused.keep");  // introduced right after revision 4056411
  return step;
}

}  // namespace headroom::predict
