// Work of the device or, without one, of LibTorch's operators: rows of a kernel timeline.
#pragma once

#include <cstdint>

#include "demos/record/rows/mem_event.h"
#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class SpanKind : std::uint8_t {
  kKernel,
  kCopy,
  kMemset,
  kRuntimeCall,   // host inside CUDA: launch, issuing a copy, waiting
  kHostOperator,  // an operator on the CPU
};

// All times are on the recording's host clock.
struct KernelSpan {
  Nanoseconds start = 0;
  Nanoseconds duration = 0;
  // Lower bound of the bytes moved. Copy, memset: the size. Operator: its tensors, each counted once, all attributed to
  // the operator's first kernel.
  Bytes bytes = kUnknownBytes;
  std::uint32_t correlation = 0;  // connects a runtime call with its launch; 0: none
  std::int32_t step = -1;
  std::uint16_t name = kNoOperator;  // kernel, call or operator, in the operator table
  std::uint16_t op = kNoOperator;    // the model's part, in the same table
  std::uint16_t layer = kNoLayer;
  SpanKind kind = SpanKind::kKernel;
  Phase phase = Phase::kSetup;
  std::uint8_t stream = 0;  // device stream, from 0 in order of appearance; host: 0

  bool operator==(const KernelSpan&) const = default;
};

constexpr bool on_device(SpanKind kind) {
  return kind == SpanKind::kKernel || kind == SpanKind::kCopy || kind == SpanKind::kMemset;
}

}  // namespace headroom::record
