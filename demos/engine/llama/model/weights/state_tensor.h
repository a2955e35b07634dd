// State that a training step leaves for the next one.
#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::llama {

// Refers to the state itself, for reading and writing. Host counters are int64 on the CPU. Valid while its owner lives.
struct StateTensor {
  std::string name;
  at::Tensor tensor;
};

inline void append(std::vector<StateTensor>& all, const std::string& name, const at::Tensor& tensor) {
  if (tensor.defined()) all.push_back({name, tensor.detach()});
}

}  // namespace headroom::llama
