// The fake engine's run, to compare what arrives with what was sent.
#pragma once

#include <string>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::tests {

inline constexpr int kFakeParts = 10;
inline constexpr int kEventsInAPart = 100;

inline record::RunInfo fake_info(std::map<std::string, std::string> params, int rank = 0, int ranks = 1) {
  return {
      .demo = "fake", .params = std::move(params), .provenance = {{"engine", "fake"}}, .rank = rank, .ranks = ranks};
}

// A mark, a hundred allocations, and the loss of step `part`.
inline std::vector<std::vector<std::byte>> fake_part(int part) {
  const record::Nanoseconds time = part * 1'000'000;
  std::vector<record::MemEvent> events;
  for (int i = 0; i < kEventsInAPart; ++i)
    events.push_back({.time = time + i,
                      .storage = static_cast<std::uint64_t>(part * kEventsInAPart + i + 1),
                      .requested = 1000 + i,
                      .block = 1024 + i,
                      .category = record::Category::kActivations,
                      .phase = record::Phase::kForward,
                      .layer = static_cast<std::uint16_t>(part),
                      .op = 1});
  const record::Mark mark{.host_time = time,
                          .device_time = time,
                          .event_index = static_cast<std::uint64_t>(part * kEventsInAPart),
                          .step = part,
                          .phase = record::Phase::kForward,
                          .layer = static_cast<std::uint16_t>(part)};
  const record::MetricSample loss{.time = time, .value = 5.0 - part, .step = part};
  return {record::encode_rows(std::vector{mark}), record::encode_rows(events), record::encode_rows(std::vector{loss})};
}

inline std::vector<std::byte> fake_operators() {
  return record::encode_operators(1, std::vector<std::string>{"fake.op"});
}

}  // namespace headroom::tests
