// The envelope of a chunk and the header of a file. All numbers are little-endian.
//
//   file    magic 8 bytes · major u16 · minor u16 · chunks
//   chunk   kind u32 · stored size u32 · raw size u32 · CRC-32C of the payload u32 · CRC-32C of these 16 bytes u32 ·
//           payload: one zstd frame with the columns of columns.h, JSON, or a rank u16 and its whole chunk
//
// The chunk's header has its own checksum, so that a damaged size does not look like the end of a truncated file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "demos/record/result.h"

namespace headroom::record {

// A new kind is a minor version; older programs skip it. Numbers are never reused.
enum class ChunkKind : std::uint32_t {
  kInfo = 1,
  kEvents = 2,
  kMarks = 3,
  kDeviceTimes = 4,
  kCounters = 5,
  kMetrics = 6,
  kOperators = 7,
  kDropped = 8,
  kOutcome = 9,
  kMeasurements = 10,
  kKernelSpans = 11,
  kKernelReport = 12,
  kSweepPoints = 13,
  kHistograms = 14,
  kPlacements = 15,
  kCollectives = 16,
  kRank = 17,
};

// The first byte is not text in any encoding. The line ends reveal a copy that converted them.
inline constexpr std::array<unsigned char, 8> kFileMagic = {0x89, 'H', 'R', 'E', 'C', '\r', '\n', 0x1a};
inline constexpr std::uint16_t kMajorVersion = 1;
inline constexpr std::uint16_t kMinorVersion = 6;
inline constexpr std::size_t kFileHeaderBytes = 12;
inline constexpr std::size_t kChunkHeaderBytes = 20;

// Checked before memory is allocated.
inline constexpr std::uint32_t kMaxChunkBytes = 64U << 20;  // of a stored or an unpacked chunk
inline constexpr std::size_t kMaxRows = 1U << 25;           // per kind and recording: 2 GiB of events

struct ChunkHeader {
  ChunkKind kind = ChunkKind::kInfo;
  std::uint32_t stored = 0;  // bytes of the payload
  std::uint32_t raw = 0;     // bytes of the unpacked content
  std::uint32_t payload_crc = 0;
};

// Half a sentence: "the checksum of its header is wrong".
struct Damage {
  std::string what;
};

std::vector<std::byte> file_header();

std::vector<std::byte> seal(ChunkKind kind, std::span<const std::byte> content);
// Requires kChunkHeaderBytes bytes.
std::variant<ChunkHeader, Damage> open_header(std::span<const std::byte> bytes);
// Unpacks the content and checks it against the header.
std::variant<std::vector<std::byte>, Damage> open_payload(const ChunkHeader& header,
                                                          std::span<const std::byte> payload);

// A chunk of rank 1 or higher. Chunks of rank 0 have no envelope, so that older programs read them.
struct RankChunk {
  std::uint16_t rank = 0;
  ChunkHeader header;
  std::span<const std::byte> payload;
};
std::variant<RankChunk, Damage> open_rank(std::span<const std::byte> content);

}  // namespace headroom::record
