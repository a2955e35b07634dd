// A value that backward recomputes when its first reader needs it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::llama {

using Inputs = std::vector<at::Tensor>;

// The value f(inputs), for readers that are ordinary graph nodes. It is freed after all readers' forward; only the
// inputs are kept. Before the first reader's backward, f is evaluated again and its result replaces the value. `f` must
// be pure; its weights get gradients in a nested backward pass of f. If `again` is false, the value is kept as usual.
// Chen et al. 2016, arXiv:1604.06174.
class Rebuilt {
 public:
  Rebuilt(const Inputs& inputs, std::function<at::Tensor(const Inputs&)> f, bool again);

  const at::Tensor& value() const { return value_; }
  // A reader's output, whose node rebuilds the value in backward.
  at::Tensor read_by(const at::Tensor& output) const;
  // Call when all readers have run.
  void discard() const;

 private:
  struct State;
  struct Holder;
  struct Function;
  std::shared_ptr<State> state_;  // null if kept as usual
  at::Tensor value_;
};

}  // namespace headroom::llama
