// AdamW whose two moments take one byte per element and one fp32 absmax for 256: 2.031 bytes per weight.
// Dettmers et al. 2022, 8-bit Optimizers via Block-wise Quantization, arXiv:2110.02861 (blocks of 2048 there).
#pragma once

#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"

namespace headroom::llama {

class AdamW8bit final : public AdamWFamily {
 public:
  // Takes the states' memory at once. AdamWOptions::moments and ::fused say nothing here.
  AdamW8bit(std::vector<Parameter> parameters, const AdamWOptions& options);

  // Allocates nothing: moments are fp32 in the kernel's registers only.
  void update(std::span<const std::size_t> which) override;
  std::vector<StateTensor> state() override;

 private:
  struct State {
    at::Tensor m_codes, m_absmax, v_codes, v_absmax;
  };
  std::vector<State> states_;
};

}  // namespace headroom::llama
