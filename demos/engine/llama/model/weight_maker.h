// Makes weights one by one on a device, each under its name, and the tables of RoPE.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/model.h"

namespace headroom::llama {

class WeightMaker {
 public:
  // draw: false leaves matrices as they are, to be loaded. The numbers drawn depend on seed and device.
  WeightMaker(const Placement& placement, std::uint64_t seed, bool draw);

  // Weights of this layer come next.
  void enter(std::uint16_t layer) { layer_ = layer; }

  at::Tensor matrix(std::int64_t rows, std::int64_t columns, std::uint16_t op) const;
  at::Tensor ones(std::int64_t size, std::uint16_t op) const { return filled(size, 1, op); }
  at::Tensor zeros(std::int64_t size, std::uint16_t op) const { return filled(size, 0, op); }

 private:
  at::Tensor filled(std::int64_t size, double value, std::uint16_t op) const;
  record::Tag tag(std::uint16_t op) const;

  at::TensorOptions options_;
  bool draw_;
  std::uint16_t layer_ = record::kNoLayer;
};

// cos and sin of position · frequency, worked out in fp32. PyTorch's operators take them as wide as a head and in the
// model's type, [T, 1, D]; the fused kernel takes fp32, [T, D/2].
struct RopeTables {
  at::Tensor cos, sin;
};
RopeTables make_rope_tables(const Config& config, const Placement& placement, std::int64_t seq, bool fused);

}  // namespace headroom::llama
