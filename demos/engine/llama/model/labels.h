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

// Sets the category of the whole storage, from its birth. The allocator's context identifies it: the address on CPU and
// CUDA, the allocator's record on meta.
void relabel(const at::Tensor& tensor, record::Category category);

// x, with a call when backward reaches its gradient. The node is created last, so that everything computed from x has
// been through backward then, and nothing before x.
at::Tensor on_backward(const at::Tensor& x, std::function<void()> call);

// y, with a label for backward's allocations from y's gradient to the next label or layer border. For PyTorch's own
// operators, whose backward cannot hold a Scope.
at::Tensor label_backward(const at::Tensor& y, record::Category category, std::uint16_t op);

// Labels backward until the next label, mark or end of BackwardLabels.
void set_backward_label(record::Category category, std::uint16_t op);

// record::mark for backward; ends the label first, which restores the previous tag.
void mark_backward(record::Phase phase, std::uint16_t layer = record::kNoLayer, std::uint16_t micro_batch = 0);

// Around a call of backward: ends its label, even after an exception.
class BackwardLabels {
 public:
  BackwardLabels() = default;
  ~BackwardLabels();
  BackwardLabels(const BackwardLabels&) = delete;
  BackwardLabels& operator=(const BackwardLabels&) = delete;
};

}  // namespace headroom::llama
