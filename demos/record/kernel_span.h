// What the device (or, without one, LibTorch's operators) did and for how long: the rows of a kernel timeline.
#pragma once

#include <cstdint>

#include "demos/record/mem_event.h"
#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class SpanKind : std::uint8_t {
  kKernel,
  kCopy,
  kMemset,
  kRuntimeCall,   // the host inside CUDA: a launch, a copy that is issued, waiting for the device
  kHostOperator,  // an operator that computed on the CPU
};

// Times on the recording's host clock, the device's too.
struct KernelSpan {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  // What must move at least: a copy's or memset's size; of an operator that launches kernels its tensors, each read or
  // written once, all on its first kernel. kUnknownBytes if not known.
  Bytes bytes = kUnknownBytes;
  std::uint32_t correlation = 0;  // joins a runtime call with what it launched; 0: none
  std::int32_t step = -1;
  std::uint16_t name = kNoOperator;  // of the kernel, the call or the operator, in the table of operators
  std::uint16_t op = kNoOperator;    // which part of the model it was launched for, in the same table
  std::uint16_t layer = kNoLayer;
  SpanKind kind = SpanKind::kKernel;
  Phase phase = Phase::kSetup;
  std::uint8_t stream = 0;  // of the device, counted from 0 in order of appearance; on the host 0

  bool operator==(const KernelSpan&) const = default;
};

constexpr bool on_device(SpanKind kind) {
  return kind == SpanKind::kKernel || kind == SpanKind::kCopy || kind == SpanKind::kMemset;
}

}  // namespace headroom::record
