// GaLore: AdamW on a projection of each matrix's gradient to r rows. Its moments are r · long instead of short · long.
// Zhao et al. 2024, GaLore: Memory-Efficient LLM Training by Gradient Low-Rank Projection, arXiv:2403.03507, Algorithm 2.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"

namespace headroom::llama {

struct GaLoreOptions {
  std::int64_t rank = 0;        // r; no more than a matrix's shorter side
  std::int64_t interval = 200;  // steps after which the projections are worked out anew
  double scale = 0.25;          // α
  // Instead of eigenvectors the first r unit vectors, for tests: with r = short and α = 1 this is AdamW.
  bool identity = false;
};

// Of the layers' matrices; embedding, head and norms are stepped by AdamW, as in the paper.
//
// G [m, n], short = min(m, n). P [short, r]: the top r eigenvectors of G Gᵀ (m < n) or Gᵀ G, which are the singular
// vectors of G on its shorter side. R = Pᵀ G [r, n] or G P [m, r]; W := (1 − η λ) W − η α P ρ(R), or ρ(R) Pᵀ, where ρ is
// Adam. P, moments and arithmetic are fp32 whatever the weights are. Without loss scale: a gradient that overflowed has
// no eigenvectors.
class GaLore final : public AdamWFamily {
 public:
  // Takes the memory of projections and moments at once.
  GaLore(std::vector<Parameter> parameters, const AdamWOptions& adamw, const GaLoreOptions& galore);

  // One matrix at a time: beside its gradient in fp32 (and its weight, where that is 16-bit without a master), the
  // projected gradient and update. In a refresh the square matrix of its shorter side several times over, under
  // "galore.projection"; there CUDA waits for the device to report whether the eigenvectors converged. Throws
  // c10::Error where they did not, as for a gradient with infinities.
  void update(std::span<const std::size_t> which) override;
  std::vector<StateTensor> state() override;

 private:
  struct State {
    at::Tensor first_moment, second_moment;
    at::Tensor projection;  // P; undefined: this weight is stepped by AdamW
  };
  void adamw_update(std::span<const std::size_t> which, const kernels::AdamWControl& control);
  void projected_update(std::size_t i, const kernels::AdamWControl& control);
  void refresh(at::Tensor& projection, const at::Tensor& gradient, std::uint16_t layer) const;

  GaLoreOptions galore_;
  std::vector<State> states_;
  std::vector<std::int64_t> updates_;  // so far, of each weight
};

}  // namespace headroom::llama
