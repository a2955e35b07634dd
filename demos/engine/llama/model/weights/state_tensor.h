// State that a training step leaves for the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::llama {

// A rank's part of a tensor that several ranks share.
struct Part {
  std::int64_t first = 0;           // its first element in the whole
  std::vector<std::int64_t> shape;  // of the whole
  bool elsewhere = false;           // another rank holds it, too, and counts and saves it
};

// The part of a 1-D state with one element per `block` elements of the weight; parts begin at whole blocks.
inline std::optional<Part> in_blocks(const std::optional<Part>& part, std::int64_t block) {
  if (!part) return {};
  std::int64_t elements = 1;
  for (const std::int64_t size : part->shape) elements *= size;
  return Part{.first = part->first / block, .shape = {(elements + block - 1) / block}, .elsewhere = part->elsewhere};
}

// `tensor` is the state itself, valid while its owner lives. Host counters are int64 on the CPU.
struct StateTensor {
  std::string name;
  at::Tensor tensor;
  std::optional<Part> part = {};  // none: the tensor is whole

  std::vector<std::int64_t> whole_shape() const { return part ? part->shape : tensor.sizes().vec(); }
};

inline void append(std::vector<StateTensor>& all, const std::string& name, const at::Tensor& tensor,
                   const std::optional<Part>& part = {}) {
  if (tensor.defined()) all.push_back({name, tensor.detach(), part});
}

}  // namespace headroom::llama
