// The end of a run, as a value instead of an exception.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "demos/record/scope.h"
#include "demos/record/units.h"

namespace headroom::record {

enum class OutcomeKind : std::uint8_t { kCompleted, kOutOfMemory, kCancelled, kRefused, kEngineLost, kFailed };
inline constexpr int kNumOutcomes = 6;
std::string_view key_of(OutcomeKind outcome);

// Out of memory is a result, not an error.
struct OutOfMemoryFacts {
  Bytes requested = 0;
  Bytes allocated = 0;  // before the request
  Bytes reserved = 0;
  Bytes limit = 0;  // a cap, or the device's memory
  std::string op;
  Phase phase = Phase::kSetup;
  std::uint16_t layer = kNoLayer;
  ByCategory by_category{};

  bool operator==(const OutOfMemoryFacts&) const = default;
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kCompleted;
  std::string message;  // empty when completed
  std::optional<OutOfMemoryFacts> out_of_memory = std::nullopt;

  bool operator==(const Outcome&) const = default;
};

template <class Io>
void fields(Io& io, OutOfMemoryFacts& facts) {
  io.whole("requested", facts.requested, kMostBytes);
  io.whole("allocated", facts.allocated, kMostBytes);
  io.whole("reserved", facts.reserved, kMostBytes);
  io.whole("limit", facts.limit, kMostBytes);
  io.text("op", facts.op);
  io.choice("phase", facts.phase, kNumPhases);
  io.whole("layer", facts.layer, kNoLayer);
  io.by_category("by_category", facts.by_category);
}

template <class Io>
void fields(Io& io, Outcome& outcome) {
  io.choice("kind", outcome.kind, kNumOutcomes);
  io.text("message", outcome.message);
  io.object("out_of_memory", outcome.out_of_memory);
}

}  // namespace headroom::record
