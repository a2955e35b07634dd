// GaLore: AdamW on each matrix's gradient, projected to r rows. Moments of a short × long matrix have only r · long
// elements. Zhao et al. 2024, arXiv:2403.03507, Algorithm 2.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/engine/llama/optimizers/optimizer.h"

namespace headroom::llama {

struct GaLoreOptions {
  std::int64_t rank = 0;        // r; at most a matrix's shorter side
  std::int64_t interval = 200;  // steps between new projections
  double scale = 0.25;          // α
  // For tests: unit vectors instead of eigenvectors. With r = short and α = 1 this is AdamW.
  bool identity = false;
};

// Projects the layers' matrices; AdamW steps embedding, head and norms, as in the paper.
//
// G [m, n], short = min(m, n). P [short, r]: the top r eigenvectors of G Gᵀ if m < n, else of Gᵀ G; they are singular
// vectors of G. R = Pᵀ G [r, n] if m < n, else G P [m, r]. W := (1 − η λ) W − η α U, where U = P ρ(R) if m < n, else
// ρ(R) Pᵀ, and ρ is Adam. P, moments and arithmetic are always fp32. No loss scale: a gradient that overflowed has no
// eigenvectors.
class GaLore final : public AdamWFamily {
 public:
  // Allocates projections and moments.
  GaLore(std::vector<Parameter> parameters, const AdamWOptions& adamw, const GaLoreOptions& galore);

  // Processes one matrix at a time: allocates its fp32 gradient (and weight, if 16-bit without a master), projected
  // gradient and update. A refresh of P allocates square matrices of its shorter side, labeled "galore.projection", and
  // on CUDA waits to learn whether the eigenvectors converged. Throws c10::Error if not, as for a gradient with
  // infinities.
  void update(std::span<const std::size_t> which) override;
  std::vector<StateTensor> state() override;

 private:
  void projected_update(std::size_t i, const kernels::AdamWControl& control);
  void refresh(at::Tensor& projection, const at::Tensor& gradient, std::uint16_t layer) const;

  GaLoreOptions galore_;
  std::vector<at::Tensor> projections_;  // P; undefined if AdamW steps this weight
  std::vector<std::int64_t> updates_;    // per weight
};

}  // namespace headroom::llama
