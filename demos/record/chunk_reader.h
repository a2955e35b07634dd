// Takes a chunk's content into a recording, or says what is wrong with it and changes nothing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demos/record/chunk.h"
#include "demos/record/packing.h"
#include "demos/record/recording.h"

namespace headroom::record {

class ChunkReader {
 public:
  explicit ChunkReader(Recording& recording) : recording_(recording) {}

  std::optional<Damage> take(ChunkKind kind, std::span<const std::byte> content);

 private:
  template <class Row>
  std::optional<Damage> take_rows(std::span<const std::byte> content, std::size_t least_bytes, std::size_t present);
  std::optional<Damage> take_operators(std::span<const std::byte> content);
  std::optional<Damage> take_dropped(std::span<const std::byte> content);
  void keep(const std::vector<MemEvent>& events) { recording_.append(std::span(events)); }
  void keep(const std::vector<Mark>& marks) { recording_.append(std::span(marks)); }
  void keep(const std::vector<CounterSample>& samples);
  void keep(const std::vector<MetricSample>& samples);
  void keep(const std::vector<KernelSpan>& spans) { recording_.append(std::span(spans)); }
  void keep(const std::vector<Nanoseconds>& times) { recording_.append_device_times(times); }

  Recording& recording_;
};

}  // namespace headroom::record
