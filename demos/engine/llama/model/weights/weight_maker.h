// Makes labeled weights on a device, and RoPE's tables.
#pragma once

#include <cstdint>

#include <ATen/ATen.h>

#include "demos/engine/llama/model/model.h"

namespace headroom::llama {

class WeightMaker {
 public:
  // Without `draw` matrices stay uninitialized, to be loaded.
  WeightMaker(const ModelPlace& placement, std::uint64_t seed, bool draw);

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

// cos and sin of position · frequency, computed in fp32: [T, 1, D] in the model's type, or if fused [T, D/2] in fp32.
struct RopeTables {
  at::Tensor cos, sin;
};
RopeTables make_rope_tables(const Config& config, const ModelPlace& placement, std::int64_t seq, bool fused);

}  // namespace headroom::llama
