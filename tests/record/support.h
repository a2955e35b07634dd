// Files and random recordings for these tests.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "demos/record/file/chunk.h"
#include "demos/record/recording.h"
#include "tests/support/temporary_folder.h"

namespace headroom::tests {

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

inline void write_bytes(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::filesystem::remove(path);  // truncating an old file may wait for the disk
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// The first byte of each chunk, and the end.
inline std::vector<std::size_t> chunk_places(std::span<const std::byte> file) {
  std::vector<std::size_t> places;
  std::size_t at = record::kFileHeaderBytes;
  while (at < file.size()) {
    places.push_back(at);
    at += record::kChunkHeaderBytes + std::get<record::ChunkHeader>(record::open_header(file.subspan(at))).stored;
  }
  places.push_back(at);
  return places;
}

// Valid and invalid events: relabels of live, freed and unknown storages, second allocations, frees of nothing,
// segments, other devices, out of memory.
inline std::vector<record::MemEvent> random_events(unsigned seed, std::size_t count) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  std::vector<record::MemEvent> events;
  for (std::size_t i = 0; i < count; ++i) {
    record::MemEvent event;
    event.time = static_cast<record::Nanoseconds>(i * 1'000 + below(900));
    event.storage = below(count / 2 + 1);
    event.requested = static_cast<record::Bytes>(below(5'000));
    event.block = (event.requested + 511) / 512 * 512;
    event.device = below(20) == 0 ? record::DeviceKind::kHost : record::DeviceKind::kGpu;
    event.category = static_cast<record::Category>(below(record::kNumCategories));
    event.phase = static_cast<record::Phase>(below(record::kNumPhases));
    event.layer = below(3) == 0 ? record::kNoLayer : static_cast<std::uint16_t>(below(16));
    event.micro_batch = static_cast<std::uint16_t>(below(3));
    event.op = static_cast<std::uint16_t>(below(4));
    event.stream = static_cast<std::uint8_t>(below(2));
    const std::uint64_t kind = below(20);
    event.kind = kind < 9    ? record::EventKind::kAlloc
                 : kind < 15 ? record::EventKind::kFree
                 : kind < 17 ? record::EventKind::kRelabel
                 : kind < 18 ? record::EventKind::kSegmentAlloc
                 : kind < 19 ? record::EventKind::kSegmentFree
                             : record::EventKind::kOutOfMemory;
    if (below(4) == 0) event.allocator_allocated = static_cast<record::Bytes>(random() >> 1);
    if (below(4) == 0) event.allocator_reserved = static_cast<record::Bytes>(below(1 << 20));
    events.push_back(event);
  }
  return events;
}

}  // namespace headroom::tests
