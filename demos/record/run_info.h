// A run's description, fixed at its start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "demos/record/units.h"

namespace headroom::record {

inline constexpr std::int32_t kMostRanks = 16'384;

// Provenance: gpu, driver, cuda, torch, allocator, revision, created, window, …
struct RunInfo {
  std::string demo;
  std::map<std::string, std::string> params;
  std::map<std::string, std::string> provenance;
  DeviceKind device = DeviceKind::kCpu;
  Source source = Source::kLive;
  Bytes cap = 0;            // 0: none
  Bytes device_memory = 0;  // 0: unknown
  std::int32_t rank = 0, ranks = 1;
  Nanoseconds clock_start = 0;  // CLOCK_MONOTONIC at the recording's time zero; 0: unknown
};

inline std::string fact_of(const std::map<std::string, std::string>& facts, std::string_view key,
                           std::string_view otherwise = {}) {
  const auto found = facts.find(std::string(key));
  return found == facts.end() ? std::string(otherwise) : found->second;
}

template <class Io>
void fields(Io& io, RunInfo& info) {
  io.text("demo", info.demo);
  io.texts("params", info.params);
  io.texts("provenance", info.provenance);
  io.choice("device", info.device, kNumDeviceKinds);
  io.choice("source", info.source, kNumSources);
  io.whole("cap", info.cap, kMostBytes);
  io.whole("device_memory", info.device_memory, kMostBytes);
  io.later_whole("rank", info.rank, kMostRanks - 1);
  io.later_whole("ranks", info.ranks, kMostRanks, 1);
  io.later_whole("clock_start", info.clock_start, kMostTime);
  io.check(info.rank < info.ranks, "the rank");
}

}  // namespace headroom::record
