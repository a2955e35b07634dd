// What a training step leaves for the next one.
#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::llama {

// Its values are the state itself: they may be read, and written to go on from others. Counters of the host are int64 on
// the CPU. Valid as long as whoever gave it.
struct StateTensor {
  std::string name;
  at::Tensor tensor;
};

inline void append(std::vector<StateTensor>& all, const std::string& name, const at::Tensor& tensor) {
  if (tensor.defined()) all.push_back({name, tensor.detach()});
}

}  // namespace headroom::llama
