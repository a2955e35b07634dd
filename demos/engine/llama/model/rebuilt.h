// A value that is not kept for backward but made again there, when the first of its readers wants it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <ATen/ATen.h>

namespace headroom::llama {

using Inputs = std::vector<at::Tensor>;

// f(inputs) for readers that are ordinary nodes of the graph and keep what they read. The value's memory is given back
// when all of them have run forward; in backward f runs again and its result takes that place, just before the first
// reader's backward. What is kept are the inputs. `f` must be pure; weights that it reads get their gradients in its own
// backward, nested. With `again` false it is f(inputs) and nothing else. Chen et al. 2016, arXiv:1604.06174, for one value at a time.
class Rebuilt {
 public:
  Rebuilt(const Inputs& inputs, std::function<at::Tensor(const Inputs&)> f, bool again);

  const at::Tensor& value() const { return value_; }
  // The output of a reader, with a call in backward.
  at::Tensor read_by(const at::Tensor& output) const;
  // All readers have run.
  void discard() const;

 private:
  struct State;
  struct Holder;
  struct Function;
  std::shared_ptr<State> state_;  // null: kept like any other
  at::Tensor value_;
};

}  // namespace headroom::llama
