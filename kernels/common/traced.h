// Tells LibTorch's observers, a profiler or the tracer of demos/live, of an operator of our own: PyTorch's tell of
// themselves, since they are called through its dispatcher.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

namespace headroom::kernels {

// Around the launch: from here to the end of the block. Costs a few nanoseconds where nobody listens.
class Traced {
 public:
  // `touched`: each tensor as often as it must be read or written; undefined ones do not count.
  Traced(const char* name, std::initializer_list<at::Tensor> touched) : function_(at::RecordScope::USER_SCOPE) {
    if (!function_.isActive()) return;
    values_.assign(touched.begin(), touched.end());
    begin(name);
  }
  // The same, where naming them takes time: `each` is called with what takes a tensor, and only if somebody listens.
  template <class Each>
  requires(!std::convertible_to<Each, std::initializer_list<at::Tensor>>) Traced(const char* name, Each each)
      : function_(at::RecordScope::USER_SCOPE) {
    if (!function_.isActive()) return;
    each([this](const at::Tensor& tensor) { values_.emplace_back(tensor); });
    begin(name);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

 private:
  void begin(const char* name) {
    function_.before(std::string("headroom::") + name,
                     c10::ArrayRef<const c10::IValue>(values_.data(), values_.size()));
  }

  std::vector<c10::IValue> values_;  // outlives the function
  at::RecordFunction function_;
};

}  // namespace headroom::kernels
