// Computes bytes from settings.
#include "demos/predict/forms/step_bytes.h"

#include <algorithm>
#include <vector>

#include "demos/predict/cards/gpu_extras.h"
#include "demos/predict/forms/kept_tensors.h"
#include "demos/predict/optimizers.h"
#include "kernels/embedding_backward/embedding_backward.h"
#include "kernels/fp8_cast/fp8_cast.h"
#include "kernels/nf4/nf4.h"

namespace headroom::predict {

namespace {

using llama::LayerWeight;
using llama::WeightKind;
using record::Bytes;

std::int64_t parts(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }

kernels::FlceProblem flce_problem(const StepSettings& step) {
  return {.mode = step.loss.mode,
          .storage = step.element_bytes() == kFp32 ? kernels::Storage::kFp32 : kernels::Storage::kBf16,
          .fp32_weight_gradient = step.loss.fp32_weight_gradient,
          .tokens = step.tokens(),
          .hidden = step.model.hidden_size,
          .vocab = step.model.vocab_size,
          .chunk = step.loss.chunk};
}

int moments_of(KeptState state) { return state == KeptState::kSgd ? 0 : state == KeptState::kMomentum ? 1 : 2; }

}  // namespace

std::vector<LayerWeight> projections(const llama::Config& config, const llama::Extension& extension) {
  std::vector<LayerWeight> all = llama::layer_weights(config, extension);
  std::erase_if(all, [](const LayerWeight& weight) { return weight.kind != WeightKind::kMatrix; });
  return all;
}

bool has_adapter(const LayerWeight& matrix, AdapterTargets targets) {
  return targets == AdapterTargets::kAll || (targets == AdapterTargets::kAttention) == matrix.in_attention();
}

std::int64_t outer_parameters(const llama::Config& c) {
  return (c.tie_word_embeddings ? 1 : 2) * c.vocab_size * c.hidden_size + c.hidden_size;
}

std::int64_t layer_parameters(const llama::Config& c, const llama::Extension& extension) {
  return (llama::num_parameters(c, extension) - outer_parameters(c)) / c.num_layers;
}

std::int64_t projection_parameters(const llama::Config& config, const llama::Extension& extension) {
  std::int64_t sum = 0;
  for (const LayerWeight& each : projections(config, extension)) sum += each.count * each.elements();
  return sum;
}

std::int64_t lora_parameters(const llama::Config& config, std::int64_t rank, AdapterTargets targets,
                             const llama::Extension& extension) {
  std::int64_t sum = 0;
  for (const LayerWeight& each : projections(config, extension)) {
    if (has_adapter(each, targets)) sum += each.count * rank * (each.rows + each.columns);
  }
  return sum;
}

std::int64_t adapter_parameters(const StepSettings& step) {
  if (step.adapters.kind == AdapterKind::kOff) return 0;
  return lora_parameters(step.model, step.adapters.rank, step.adapters.targets, step.extension);
}

std::int64_t trained_parameters(const StepSettings& step) {
  return step.adapters.kind == AdapterKind::kOff ? llama::num_parameters(step.model, step.extension)
                                                 : adapter_parameters(step);
}

Bytes nf4_bytes(const llama::Config& config, const llama::Extension& extension) {
  Bytes sum = 0;
  for (const LayerWeight& each : projections(config, extension))
    sum += each.count * kernels::nf4_bytes(each.elements());
  return sum;
}

Bytes layer_input_bytes(const StepSettings& step) {
  return step.tokens() * step.model.hidden_size * step.element_bytes();
}

Bytes checkpoint_bytes(const StepSettings& step) {
  return layer_input_bytes(step) * parts(step.model.num_layers, step.checkpoint_every);
}

Bytes final_norm_bytes(const StepSettings& step) {
  const std::int64_t s = step.element_bytes(), trained = step.adapters.kind == AdapterKind::kOff ? s : 0;
  return step.tokens() * step.model.hidden_size * (step.fused.rms_norm ? 2 * s : kFp32 + trained + s);
}

Bytes score_bytes(const StepSettings& step) {
  const std::int64_t s = step.element_bytes();
  return step.tokens() * step.sequence * step.model.num_heads * (s == kFp32 ? kFp32 : kFp32 + s);
}

Bytes router_bytes(const StepSettings& step) {
  constexpr std::int64_t kIndex = 8;
  const std::int64_t s = step.element_bytes();
  const llama::Experts experts = step.extension.experts.value_or(llama::Experts{});
  return experts.count * (s + kFp32) + experts.per_token * (kIndex + kFp32 + s);
}

bool mlp_is_read(const StepSettings& step) {
  return step.adapters.kind == AdapterKind::kOff || step.adapters.targets != AdapterTargets::kAttention;
}

LayerBytes layer_bytes(const StepSettings& step) {
  LayerBytes layer;
  for (const KeptTensor& tensor : kept_tensors(step))
    if (tensor.term != nullptr) layer.*tensor.term += tensor.all_layers;
  for (Bytes* const term : {&layer.attention_norm, &layer.attention, &layer.mlp_norm, &layer.mlp, &layer.routing})
    *term /= step.model.num_layers;
  return layer;
}

Bytes fp32_attention_tiles(std::int64_t heads, std::int64_t sequence, std::int64_t head_dim) {
  constexpr std::int64_t kColumns = 64;
  constexpr Bytes kFloat = 4, kLock = 16;
  const std::int64_t queries = head_dim <= 64 ? 64 : 128;
  const std::int64_t tiles = (sequence + queries - 1) / queries * ((head_dim + kColumns - 1) / kColumns);
  return heads * tiles * (queries * kColumns * kFloat + kLock);
}

Bytes between_layers_bytes(const StepSettings& step) {
  const bool read = step.fused.rms_norm || step.element_bytes() == kFp32 || step.rebuilds_cheap();
  return read ? layer_input_bytes(step) : 0;
}

Bytes activation_bytes(const StepSettings& step) {
  const Bytes layer = layer_bytes(step).sum(), between = between_layers_bytes(step);
  if (!step.keeps_layer_inputs()) return step.model.num_layers * (layer + between) + final_norm_bytes(step);
  const std::int64_t layers = step.layers_at_once();
  const Bytes kept = step.offload.checkpoints ? 2 * layer_input_bytes(step) : checkpoint_bytes(step);
  return kept + layers * layer + (layers - 1) * between;
}

Bytes fp8_scale_bytes(const StepSettings& step) {
  if (!step.fp8()) return 0;
  constexpr std::int64_t kProjections = 7, kOperands = 3, kCount = 4;
  return step.model.num_layers * kProjections * kOperands * static_cast<Bytes>(sizeof(kernels::Fp8Scaling)) + kCount;
}

std::int64_t rows_at_once_in_fp8(std::int64_t rows) {
  constexpr std::int64_t kParts = 8, kLeast = 4096, kTile = 64;
  return std::min(rows, std::max(kLeast, (rows / kParts + kTile - 1) / kTile * kTile));
}

std::int64_t loss_chunk(const StepSettings& step) { return kernels::flce_step(flce_problem(step)); }

bool loss_in_chunks(const StepSettings& step) { return step.loss.path == LossPath::kFlce; }

LossCode loss_code(const StepSettings& step) {
  const bool older = step.loss.path == LossPath::kHf2024, output = older || step.loss.path == LossPath::kHf2025;
  return {.in_chunks = loss_in_chunks(step),
          .in_place = step.loss.path == LossPath::kPlain && step.fused.cross_entropy,
          .shifts_logits = older,
          .returns_fp32 = older,
          .returns_output = output};
}

bool sums_tied_apart(const StepSettings& step) {
  if (!step.model.tie_word_embeddings || step.loss.tied_sum_in_place) return false;
  return step.loss.path == LossPath::kHf2024 || step.loss.path == LossPath::kHf2025;
}

Bytes kept_output_bytes(const StepSettings& step) {
  if (!step.loss.keep_output) return 0;
  return (step.loss.path == LossPath::kHf2024 ? kFp32 : step.element_bytes()) * step.model.vocab_size * step.tokens();
}

Bytes loss_bytes(const StepSettings& step) {
  const std::int64_t v = step.model.vocab_size, tokens = step.tokens(), shifted = tokens - step.batch;
  switch (step.loss.path) {
    case LossPath::kHf2024:
      return (step.loss.keep_output ? 8 : 4) * v * tokens + 8 * v * shifted;
    case LossPath::kHf2025:
      return (12 + (step.loss.keep_output ? step.element_bytes() : 0)) * v * tokens;
    case LossPath::kFlce:
      return kernels::flce_logits_bytes(flce_problem(step));
    case LossPath::kPlain:
      break;
  }
  return (step.fused.cross_entropy ? step.element_bytes() : 12) * v * tokens;
}

Bytes attention_scratch_bytes(const StepSettings& step) {
  if (step.fused.attention == Attention::kEager) return 0;
  const llama::Config& c = step.model;
  const std::int64_t n = step.tokens(), q = c.num_heads * c.head_dim, s = step.element_bytes();
  const Bytes rows = kFp32 * n * c.num_heads;
  if (s == kFp32) return rows + fp32_attention_tiles(step.batch * c.num_heads, step.sequence, c.head_dim);
  return rows + n * q * (kFp32 + (c.num_heads != c.num_kv_heads ? 2 * s : 0));
}

Bytes embedding_scratch_bytes(const StepSettings& step, record::DeviceKind device) {
  if (!step.fused.embedding) return device == record::DeviceKind::kGpu ? id_sort_bytes(step) : 0;
  constexpr Bytes kInteger = 4;
  return kInteger * kernels::embedding_integers(step.tokens(), step.model.vocab_size) +
         kFp32 * kernels::embedding_segments(step.tokens()) * step.model.hidden_size;
}

StaticMemory static_memory(std::int64_t parameters, Precision precision, KeptState state) {
  const bool mixed = has_masters(precision);
  const record::Bytes element = precision == Precision::kFp32 ? 4 : 2;
  return {.weights = element * parameters,
          .gradients = element * parameters,
          .master = mixed ? 4 * parameters : 0,
          .moments = state == KeptState::kAdamW8bit ? moments_8bit_bytes(parameters)
                                                    : moments_of(state) * (mixed ? 4 : element) * parameters};
}

StaticMemory share_of(const StaticMemory& whole, const ParallelSettings& parallel) {
  const auto share = [&](Bytes bytes, Zero what) { return parallel.shares(what) ? bytes / parallel.shards() : bytes; };
  return {.weights = share(whole.weights, Zero::kWeights),
          .gradients = share(whole.gradients, Zero::kGradients),
          .master = share(whole.master, Zero::kOptimizer),
          .moments = share(whole.moments, Zero::kOptimizer)};
}

}  // namespace headroom::predict
