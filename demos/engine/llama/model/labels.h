// Labels of the model's allocations in forward and backward.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/ATen.h>

#include "demos/llama/operators.h"
#include "demos/record/scope.h"

namespace headroom::llama {

// An operator's number in recordings.
std::uint16_t number_of(Op op);

// Sets the category of the tensor's whole storage, from its allocation on. The allocator's context identifies the
// storage: the address on CPU and CUDA, the allocator's record on meta.
void relabel(const at::Tensor& tensor, record::Category category);

// Returns x from a new graph node, which calls `call` when backward reaches x's gradient. Backward runs newer nodes
// first, so it has then processed everything computed from x, and nothing before x.
at::Tensor on_backward(const at::Tensor& x, std::function<void()> call);

// Returns y, and labels backward's allocations from y's gradient to the next label or layer border. For PyTorch's own
// operators, whose backward cannot hold a Scope.
at::Tensor label_backward(const at::Tensor& y, record::Category category, std::uint16_t op);

// Labels backward's allocations until the next label or mark, or the end of BackwardLabels.
void set_backward_label(record::Category category, std::uint16_t op);

// Like record::mark, but in backward: first ends the current label, which restores the previous tag.
void mark_backward(record::Phase phase, std::uint16_t layer = record::kNoLayer, std::uint16_t micro_batch = 0);

// Surrounds a call of backward, and ends its label even after an exception.
class BackwardLabels {
 public:
  BackwardLabels() = default;
  ~BackwardLabels();
  BackwardLabels(const BackwardLabels&) = delete;
  BackwardLabels& operator=(const BackwardLabels&) = delete;
};

}  // namespace headroom::llama
