// Lower bound of a training step: GEMMs, and the bytes of everything else. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "demos/llama/config.h"
#include "demos/llama/operators.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

enum class ProductKind : std::uint8_t {
  kOutput,          // y [N, O] = x [N, I] Wᵀ
  kInputGradient,   // dx [N, I] = dy [N, O] W
  kWeightGradient,  // dW [O, I] = dyᵀ x
};
const char* name_of(ProductKind kind);  // as in Measurement::pass

// A GEMM with a weight [O, I] on N rows.
struct StepProduct {
  std::string layer;  // "attention.q_proj, o_proj"
  ProductKind kind = ProductKind::kOutput;
  std::int64_t tokens = 0, outputs = 0, inputs = 0;  // N, O, I
  std::int64_t times = 0, again = 0;                 // `again`: those of `times` in recomputes

  double flops() const {
    return 2.0 * static_cast<double>(tokens) * static_cast<double>(outputs) * static_cast<double>(inputs);
  }
};

inline constexpr std::string_view kHeadProduct = llama::name_of(llama::Op::kLmHead);

struct StepBound {
  std::vector<StepProduct> products;
  std::array<record::Bytes, record::kNumPhases> bytes{};  // read and written outside GEMMs

  record::Bytes other_bytes() const { return std::accumulate(bytes.begin(), bytes.end(), record::Bytes{}); }
};

struct StepBoundOptions {
  std::int64_t tokens = 0;    // N, per step
  record::Bytes element = 4;  // bytes of weights, activations and gradients
  record::Bytes moment = 4;   // bytes per AdamW moment
  bool masters = false;       // AdamW updates fp32 masters
  // Layers per recompute, which skips the last GEMM and sum of its last layer. 0: no recompute.
  std::int64_t checkpoint_every = 0;
  bool fp8 = false;           // adds a pass over each operand of the layers' GEMMs
  bool fp8_measured = false;  // adds another pass, for the largest magnitudes
};

// Counts every tensor once per read or write, with all our fusions. Letters as in demos/engine/llama/model/model.h.
// Attention counts only as bytes, so the bound is slightly low for long sequences.
StepBound step_bound(const llama::Config& config, const StepBoundOptions& options);
// One micro-batch, all weights trained by AdamW.
StepBound step_bound(const StepSettings& step);

}  // namespace headroom::predict
