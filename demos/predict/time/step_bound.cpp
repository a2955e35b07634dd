// Counts a step's GEMMs and bytes.
#include "demos/predict/time/step_bound.h"

#include <initializer_list>

#include "demos/llama/layer_weights.h"

namespace headroom::predict {

namespace {

using llama::LayerWeight;
using llama::Op;

constexpr record::Bytes kMaster = 4;

// Elements that a layer reads and writes outside GEMMs.
struct Elements {
  std::int64_t forward = 0, backward = 0;
  std::int64_t result = 0;  // what a segment's recompute skips
};

Elements layer_elements(const llama::Config& c, std::int64_t tokens) {
  const std::int64_t h = c.hidden_size, f = c.intermediate_size;
  const std::int64_t q = c.num_heads * c.head_dim, kv = c.num_kv_heads * c.head_dim;
  // Each list: tensors read; tensors written. First norm: x; y. Second norm, fused with the addition: x, residual; sum,
  // y. Last addition: two tensors; one.
  std::int64_t forward = 2 * h + 4 * h + 3 * h;
  forward += 2 * (q + kv);    // RoPE in place
  forward += 2 * q + 2 * kv;  // attention: q, k, v; result
  forward += 3 * f;           // SwiGLU: gate, up; product
  // Each norm recomputes y: x; y. Then its gradient: dy, x, the stream's gradient; dx.
  std::int64_t backward = 2 * (2 * h + 4 * h);
  backward += 2 * (q + kv);    // RoPE
  backward += 4 * q + 4 * kv;  // attention: q, k, v, result, its gradient; dq, dk, dv
  backward += 6 * f;           // SwiGLU: gradient, gate, up; two gradients, recomputed product
  for (const LayerWeight& weight : llama::layer_weights(c)) {
    if (weight.in_every_family()) continue;
    const std::int64_t numbers = weight.per_token * weight.rows;
    forward += 2 * numbers;                                // in place
    backward += (is_norm(weight.kind) ? 3 : 1) * numbers;  // norm: dy, x; dx. Bias: dy, for a row sum
  }
  // A recompute skips SwiGLU's product, which SwiGLU's backward pass recomputes, and the last addition.
  return {.forward = tokens * forward, .backward = tokens * backward, .result = tokens * (3 * f + 3 * h)};
}

// Bytes of a layer's fp8 casts. Inputs are cast once, to both layouts, for all readers. Gradients and weights are
// read once per layout.
struct CastBytes {
  record::Bytes forward = 0, backward = 0;
};
CastBytes cast_bytes(const llama::Config& c, const StepBoundOptions& options) {
  constexpr record::Bytes kCode = 1;
  if (!options.fp8) return {};
  const std::int64_t n = options.tokens, h = c.hidden_size, f = c.intermediate_size;
  const std::int64_t q = c.num_heads * c.head_dim, kv = c.num_kv_heads * c.head_dim;
  const std::int64_t inputs = n * (2 * h + q + f), results = n * (q + 2 * kv + 2 * h + 2 * f);
  const std::int64_t weights = 2 * h * (q + kv) + 3 * h * f;
  const record::Bytes cast = options.element + kCode, measured = options.fp8_measured ? options.element : 0;
  return {.forward = (cast + kCode + measured) * inputs + (cast + measured) * weights,
          .backward = (2 * cast + measured) * results + cast * weights};
}

// `layer`: operators whose weights have equal sides, such as {Op::kGateProj, Op::kUpProj}.
void add_weight(std::vector<StepProduct>& products, std::initializer_list<Op> layer, std::int64_t tokens,
                std::int64_t outputs, std::int64_t inputs, std::int64_t times, std::int64_t again) {
  StepProduct product{.tokens = tokens, .outputs = outputs, .inputs = inputs};
  for (const Op op : layer)
    product.layer +=
        product.layer.empty() ? std::string(name_of(op)) : ", " + std::string(llama::last_part(name_of(op)));
  product.times = times + again;
  product.again = again;
  products.push_back(product);
  product.times = times;
  product.again = 0;
  for (const ProductKind kind : {ProductKind::kInputGradient, ProductKind::kWeightGradient}) {
    product.kind = kind;
    products.push_back(product);
  }
}

}  // namespace

const char* name_of(ProductKind kind) {
  constexpr std::array kNames{"forward", "input gradient", "weight gradient"};
  return kNames[static_cast<std::size_t>(kind)];
}

StepBound step_bound(const llama::Config& c, const StepBoundOptions& options) {
  const std::int64_t n = options.tokens, h = c.hidden_size, f = c.intermediate_size, layers = c.num_layers;
  const std::int64_t q = c.num_heads * c.head_dim, kv = c.num_kv_heads * c.head_dim;
  const std::int64_t every = options.checkpoint_every, again = every > 0 ? layers : 0;
  const std::int64_t segments = every > 0 ? (layers + every - 1) / every : 0;
  StepBound bound;
  add_weight(bound.products, {Op::kQProj}, n, q, h, layers, again);
  add_weight(bound.products, {Op::kKProj, Op::kVProj}, n, kv, h, 2 * layers, 2 * again);
  add_weight(bound.products, {Op::kOProj}, n, h, q, layers, again);
  add_weight(bound.products, {Op::kGateProj, Op::kUpProj}, n, f, h, 2 * layers, 2 * again);
  add_weight(bound.products, {Op::kDownProj}, n, h, f, layers, again - segments);
  add_weight(bound.products, {Op::kLmHead}, n, c.vocab_size, h, 1, 0);

  const Elements layer = layer_elements(c, n);
  const CastBytes casts = cast_bytes(c, options);
  // Embedding: rows; result. Final norm: x; y.
  const std::int64_t forward = layers * layer.forward + 2 * n * h + 2 * n * h;
  // Embedding's gradient: dy, rows; rows. Final norm's gradient: as in a layer.
  const std::int64_t backward = layers * layer.backward + 3 * n * h + 6 * n * h;
  const auto in = [&](record::Phase phase) -> record::Bytes& { return bound.bytes[static_cast<std::size_t>(phase)]; };
  in(record::Phase::kForward) = options.element * forward + layers * casts.forward;
  in(record::Phase::kRecompute) =
      options.element * (again * layer.forward - segments * layer.result) + again * casts.forward;
  in(record::Phase::kLoss) = options.element * 2 * n * c.vocab_size;  // cross entropy: logits; gradient in place
  in(record::Phase::kBackward) = options.element * backward + layers * casts.backward;
  const std::int64_t weights = llama::num_parameters(c);
  // AdamW: weight, gradient; weight. With masters: master, gradient; master, weight. Moments: read; written.
  const record::Bytes stepped = options.masters ? 2 * options.element + 2 * kMaster : 3 * options.element;
  in(record::Phase::kOptimizer) = (stepped + 4 * options.moment) * weights;
  return bound;
}

StepBound step_bound(const StepSettings& step) {
  return step_bound(step.model, {.tokens = step.tokens(),
                                 .element = step.element_bytes(),
                                 .moment = step.moment_bytes(),
                                 .masters = step.masters(),
                                 .checkpoint_every = step.recompute_every(),
                                 .fp8 = step.fp8(),
                                 .fp8_measured = step.fp8_scaling == Fp8Scaling::kCurrent});
}

}  // namespace headroom::predict
