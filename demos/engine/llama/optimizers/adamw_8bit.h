// AdamW whose two moments take one byte per element each, plus one fp32 absmax per 256 elements: 2.031 bytes per
// weight. Dettmers et al. 2022, arXiv:2110.02861 (with blocks of 2048).
#pragma once

#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"

namespace headroom::llama {

class AdamW8bit final : public AdamWFamily {
 public:
  // Allocates the states. Ignores AdamWOptions::moments and ::fused.
  AdamW8bit(std::vector<Parameter> parameters, const AdamWOptions& options);

  // Allocates nothing: fp32 moments exist only in the kernel's registers.
  void update(std::span<const std::size_t> which) override;
  std::vector<StateTensor> state() override;

 private:
  struct State {
    at::Tensor m_codes, m_absmax, v_codes, v_absmax;
  };
  std::vector<State> states_;
};

}  // namespace headroom::llama
