// Makes a meta step allocate like a real one. PyTorch's C++ build lacks some meta operators, and others allocate at
// different times.
#pragma once

#include <cstdint>

namespace headroom::llama {

// Registers our meta kernels with PyTorch, once per process; real devices are not affected.
void install_meta_kernels();

// While such an object lives, this thread's operators on a number and a meta tensor allocate as on the CPU: a tensor
// for the number, and another in the meta tensor's type.
class NumbersOnCpu {
 public:
  NumbersOnCpu();
  ~NumbersOnCpu();
  NumbersOnCpu(const NumbersOnCpu&) = delete;
  NumbersOnCpu& operator=(const NumbersOnCpu&) = delete;

 private:
  std::uint64_t callback_;
};

// Wraps every call of the autograd engine, nested ones included. Identifies the engine's own sums of gradients, which
// are in place on real devices and out of place on meta.
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
