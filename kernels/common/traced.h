// Reports our operators to LibTorch's observers (a profiler, or the engine's tracer). PyTorch's own operators are
// reported by its dispatcher; ours do not go through it.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

namespace headroom::kernels {

// Around the launch: from here to the end of the block. Costs a few nanoseconds without an observer.
class Traced {
 public:
  // `touched`: each tensor as often as it must be read or written; undefined ones do not count.
  Traced(const char* name, std::initializer_list<at::Tensor> touched) : function_(at::RecordScope::USER_SCOPE) {
    if (!function_.isActive()) return;
    values_.assign(touched.begin(), touched.end());
    begin(name);
  }
  // The same if listing the tensors takes time: `each` passes them one by one, and runs only if there is an observer.
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
