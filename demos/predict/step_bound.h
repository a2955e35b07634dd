// What a training step cannot do without: its matrix products, and the bytes of everything else. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "demos/llama/config.h"
#include "demos/predict/step_settings.h"
#include "demos/record/units.h"

namespace headroom::predict {

enum class ProductKind : std::uint8_t {
  kOutput,          // y [N, O] = x [N, I] Wᵀ
  kInputGradient,   // dx [N, I] = dy [N, O] W
  kWeightGradient,  // dW [O, I] = dyᵀ x
};
const char* name_of(ProductKind kind);  // as Measurement::pass

// A product by a weight [O, I] on N rows, as the step makes it `times` times.
struct StepProduct {
  std::string layer;  // "attention.q_proj, o_proj"
  ProductKind kind = ProductKind::kOutput;
  std::int64_t tokens = 0, outputs = 0, inputs = 0;  // N, O, I
  std::int64_t times = 0, again = 0;                 // `again` of these because layers run again

  double flops() const {
    return 2.0 * static_cast<double>(tokens) * static_cast<double>(outputs) * static_cast<double>(inputs);
  }
};

inline constexpr const char* kHeadProduct = "lm_head";

struct StepBound {
  std::vector<StepProduct> products;
  std::array<record::Bytes, record::kNumPhases> bytes{};  // read and written outside the products, by phase

  record::Bytes other_bytes() const { return std::accumulate(bytes.begin(), bytes.end(), record::Bytes{}); }
};

struct StepBoundOptions {
  std::int64_t tokens = 0;    // N, of one step
  record::Bytes element = 4;  // bytes of weights, activations and gradients
  record::Bytes moment = 4;   // bytes of an AdamW moment
  bool masters = false;       // AdamW steps an fp32 copy of each weight, and writes the weight
  // So many layers run again together, the last of them without its last product and sum. 0: none does.
  std::int64_t checkpoint_every = 0;
  bool fp8 = false;           // the layers' operands are cast, which is a pass over each
  bool fp8_measured = false;  // and their largest magnitudes are looked for, which is one more
};

// Each tensor is read or written once by whoever needs it, with everything fused that this program fuses. Letters as in
// demos/engine/llama/model/model.h; attention counts as bytes, so the bound is a little too low at long sequences.
StepBound step_bound(const llama::Config& config, const StepBoundOptions& options);
// Of a step with these settings, of one micro-batch, that trains all weights by AdamW.
StepBound step_bound(const StepSettings& step);

}  // namespace headroom::predict
