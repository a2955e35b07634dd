// State that a training step leaves for the next one.
#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::llama {

// `tensor` is the state itself, valid while its owner lives. Host counters are int64 on the CPU.
struct StateTensor {
  std::string name;
  at::Tensor tensor;
};

inline void append(std::vector<StateTensor>& all, const std::string& name, const at::Tensor& tensor) {
  if (tensor.defined()) all.push_back({name, tensor.detach()});
}

}  // namespace headroom::llama
