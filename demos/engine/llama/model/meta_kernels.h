// The planner runs the training step on meta tensors. PyTorch's C++ build lacks some operators there, and differs from
// real devices in when it allocates; this makes the allocations of a meta step those of a real one.
#pragma once

#include <cstdint>

namespace headroom::llama {

// Registers our kernels for the meta device with PyTorch's dispatcher, once per process; real devices are not touched.
void install_meta_kernels();

// While one lives, operators of this thread that take a number beside meta tensors allocate as on the CPU. There PyTorch
// makes a tensor of the number, which is on the CPU whatever the device, and a second one of the other tensor's type.
class NumbersOnCpu {
 public:
  NumbersOnCpu();
  ~NumbersOnCpu();
  NumbersOnCpu(const NumbersOnCpu&) = delete;
  NumbersOnCpu& operator=(const NumbersOnCpu&) = delete;

 private:
  std::uint64_t callback_;
};

// Around every call of the autograd engine, nested ones included: distinguishes the engine's own sum of two gradients
// from sums that a node makes. The engine adds in place on real devices and out of place on meta.
class EngineCall {
 public:
  EngineCall();
  ~EngineCall();
  EngineCall(const EngineCall&) = delete;
  EngineCall& operator=(const EngineCall&) = delete;

 private:
  int outer_;
};

}  // namespace headroom::llama
