// Adds chunks to a recording. Damaged chunks change nothing.
#pragma once

#include <optional>
#include <span>

#include "demos/record/file/chunk.h"
#include "demos/record/recording.h"

namespace headroom::record {

class ChunkReader {
 public:
  explicit ChunkReader(Recording& recording) : recording_(recording) {}

  std::optional<Damage> take(ChunkKind kind, std::span<const std::byte> content);
  // `whole`: the file ended at the end of a chunk.
  void end(bool whole);

 private:
  template <class Facts>
  std::optional<Damage> take_facts(void (Recording::*set)(Facts), std::span<const std::byte> content,
                                   const char* unreadable);
  template <class Kind>
  std::optional<Damage> take_rows(const Kind& kind, std::span<const std::byte> content);
  std::optional<Damage> take_device_times(std::span<const std::byte> content);
  std::optional<Damage> take_operators(std::span<const std::byte> content);
  std::optional<Damage> take_dropped(std::span<const std::byte> content);

  Recording& recording_;
};

}  // namespace headroom::record
