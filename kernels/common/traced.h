// Reports our operators to LibTorch's observers (a profiler or the engine's tracer), since they bypass PyTorch's
// dispatcher.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

namespace headroom::kernels {

// The reported operator ends with the enclosing scope. Costs nanoseconds without an observer.
class Traced {
 public:
  // `touched` lists each tensor once per necessary read or write.
  Traced(const char* name, std::initializer_list<at::Tensor> touched) : function_(at::RecordScope::USER_SCOPE) {
    if (!function_.isActive()) return;
    values_.assign(touched.begin(), touched.end());
    begin(name);
  }
  // For long lists: `each(touch)` calls touch(tensor) for every tensor, and runs only with an observer.
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

  std::vector<c10::IValue> values_;  // outlives function_
  at::RecordFunction function_;
};

}  // namespace headroom::kernels
