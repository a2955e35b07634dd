// Checksums and compresses chunks.
#include "demos/record/file/chunk.h"

#include <stdexcept>

#include <zstd.h>

#include "demos/record/file/packing.h"
#include "demos/record/run_info.h"

namespace headroom::record {
namespace {

constexpr std::array<std::uint32_t, 256> make_crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[byte] = crc;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kCrcTable = make_crc_table();

constexpr int kCompressionLevel = 3;  // zstd's default: fast enough for a live run

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const std::byte byte : bytes) crc = kCrcTable[(crc ^ static_cast<std::uint32_t>(byte)) & 0xffU] ^ (crc >> 8);
  return ~crc;
}

std::vector<std::byte> file_header() {
  Packer out;
  for (const unsigned char byte : kFileMagic) out.byte(byte);
  out.fixed32(kMajorVersion | std::uint32_t{kMinorVersion} << 16);
  return out.take();
}

std::vector<std::byte> seal(ChunkKind kind, std::span<const std::byte> content) {
  if (content.size() > kMaxChunkBytes) throw std::length_error("a chunk of more than 64 MiB");
  std::vector<std::byte> payload(ZSTD_compressBound(content.size()));
  const std::size_t stored =
      ZSTD_compress(payload.data(), payload.size(), content.data(), content.size(), kCompressionLevel);
  if (ZSTD_isError(stored) != 0) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(stored));
  payload.resize(stored);

  Packer out;
  out.fixed32(static_cast<std::uint32_t>(kind));
  out.fixed32(static_cast<std::uint32_t>(stored));
  out.fixed32(static_cast<std::uint32_t>(content.size()));
  out.fixed32(crc32c(payload));
  out.fixed32(crc32c(out.bytes()));
  out.append(payload);
  return out.take();
}

std::variant<ChunkHeader, Damage> open_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kChunkHeaderBytes) return Damage{"a chunk is shorter than its header"};
  Unpacker in(bytes.first(kChunkHeaderBytes));
  ChunkHeader header;
  header.kind = static_cast<ChunkKind>(in.fixed32());
  header.stored = in.fixed32();
  header.raw = in.fixed32();
  header.payload_crc = in.fixed32();
  if (in.fixed32() != crc32c(bytes.first(kChunkHeaderBytes - 4)))
    return Damage{"the checksum of a chunk's header is wrong"};
  if (header.stored > kMaxChunkBytes || header.raw > kMaxChunkBytes) return Damage{"a chunk is larger than 64 MiB"};
  return header;
}

std::variant<std::vector<std::byte>, Damage> open_payload(const ChunkHeader& header,
                                                          std::span<const std::byte> payload) {
  if (payload.size() != header.stored) return Damage{"a chunk's size differs from the size in its header"};
  if (crc32c(payload) != header.payload_crc) return Damage{"the checksum of a chunk is wrong"};
  if (ZSTD_getFrameContentSize(payload.data(), payload.size()) != header.raw)
    return Damage{"a chunk's unpacked size differs from the size in its header"};
  std::vector<std::byte> content(header.raw);
  const std::size_t unpacked = ZSTD_decompress(content.data(), content.size(), payload.data(), payload.size());
  if (ZSTD_isError(unpacked) != 0 || unpacked != content.size()) return Damage{"a chunk cannot be unpacked"};
  return content;
}

std::variant<RankChunk, Damage> open_rank(std::span<const std::byte> content) {
  Unpacker in(content);
  const std::uint16_t rank = in.fixed16();
  if (!in.ok()) return Damage{"a rank's chunk is shorter than its number"};
  if (rank == 0 || rank >= kMostRanks) return Damage{"the number of a rank is out of range"};
  const auto header = open_header(content.subspan(sizeof rank));
  if (const auto* const damage = std::get_if<Damage>(&header)) return *damage;
  const RankChunk opened{rank, std::get<ChunkHeader>(header), content.subspan(sizeof rank + kChunkHeaderBytes)};
  if (opened.header.kind == ChunkKind::kRank) return Damage{"a rank's chunk contains another rank's"};
  return opened;
}

}  // namespace headroom::record
