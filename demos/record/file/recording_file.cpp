// Reads files chunk by chunk, so that only one unpacked chunk is in memory.
#include "demos/record/file/recording_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "demos/record/file/chunk.h"
#include "demos/record/file/chunk_reader.h"
#include "demos/record/text.h"

namespace headroom::record {
namespace {

Error cannot_read(const std::filesystem::path& path, std::string_view rest) {
  return {fmt::format("{} {}", printable(path.string()), rest)};
}

Error unreadable(const std::filesystem::path& path, int error_number) {
  return cannot_read(path, fmt::format("cannot be read ({}); check the disk or use another copy.",
                                       std::generic_category().message(error_number)));
}

std::optional<Error> check_file_header(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  if (bytes.empty()) return cannot_read(path, "is empty; record the run again.");
  const std::vector<std::byte> ours = file_header();
  const std::size_t magic = std::min(bytes.size(), kFileMagic.size());
  if (!std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(magic), ours.begin()))
    return cannot_read(path, "is not a Headroom recording; choose a file that `headroom run --record` wrote.");
  if (bytes.size() < kFileHeaderBytes)
    return cannot_read(path, "is truncated before it names its run; record the run again.");
  const auto number = [&](std::size_t at) {
    return static_cast<unsigned>(bytes[at]) | static_cast<unsigned>(bytes[at + 1]) << 8;
  };
  if (const unsigned major = number(8); major > kMajorVersion)
    return cannot_read(
        path,
        fmt::format("was written by a newer Headroom (file format {}, this one reads {}); update Headroom to open it.",
                    major, kMajorVersion));
  if (number(8) == 0)
    return cannot_read(path,
                       "is damaged at byte 8: it has file format 0, which does not exist; use another copy or record "
                       "the run again.");
  return std::nullopt;
}

std::span<const std::byte> read_some(std::istream& in, std::span<std::byte> bytes) {
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes.first(static_cast<std::size_t>(in.gcount()));
}

struct Chunk {
  ChunkHeader header;
  std::vector<std::byte> content;
};
struct EndOfFile {
  bool whole;  // true: ended at the end of a chunk
};
using ChunkOrEnd = std::variant<Chunk, EndOfFile, Damage>;

ChunkOrEnd read_chunk(std::istream& in) {
  std::array<std::byte, kChunkHeaderBytes> bytes;
  const std::span<const std::byte> found = read_some(in, bytes);
  if (found.size() < bytes.size()) return EndOfFile{found.empty()};
  const auto header = open_header(bytes);
  if (const auto* const damage = std::get_if<Damage>(&header)) return *damage;
  const ChunkHeader& sizes = std::get<ChunkHeader>(header);

  std::vector<std::byte> payload(sizes.stored);
  if (read_some(in, payload).size() < payload.size()) return EndOfFile{false};
  auto content = open_payload(sizes, payload);
  if (const auto* const damage = std::get_if<Damage>(&content)) return *damage;
  return Chunk{sizes, std::get<std::vector<std::byte>>(std::move(content))};
}

// Appends chunks to the recordings of their ranks.
class RanksReader {
 public:
  explicit RanksReader(Ranks ranks) : ranks_(ranks), found_(1) {}

  std::optional<Damage> take(ChunkKind kind, std::span<const std::byte> content) {
    if (kind != ChunkKind::kRank) return take(0, kind, content);
    if (ranks_ == Ranks::kFirst) return std::nullopt;
    const auto opened = open_rank(content);
    if (const auto* const damage = std::get_if<Damage>(&opened)) return *damage;
    const RankChunk& chunk = std::get<RankChunk>(opened);
    const auto inner = open_payload(chunk.header, chunk.payload);
    if (const auto* const damage = std::get_if<Damage>(&inner)) return *damage;
    if (found_.size() <= chunk.rank) found_.resize(std::size_t{chunk.rank} + 1);
    return take(chunk.rank, chunk.header.kind, std::get<std::vector<std::byte>>(inner));
  }

  bool knows_run() const { return found_.front().knows_run; }

  std::vector<Recording> end(bool whole) {
    const auto ranks = static_cast<std::size_t>(found_.front().recording.info().ranks);
    if (found_.size() > 1) found_.resize(std::max(found_.size(), ranks));
    std::vector<Recording> recordings;
    for (Found& found : found_) {
      ChunkReader(found.recording).end(whole);
      const auto rank = static_cast<std::int32_t>(recordings.size());
      recordings.push_back(found.knows_run ? std::move(found.recording) : absent_rank(recordings.front().info(), rank));
    }
    return recordings;
  }

 private:
  struct Found {
    Recording recording;
    bool knows_run = false;
  };

  std::optional<Damage> take(std::size_t rank, ChunkKind kind, std::span<const std::byte> content) {
    Found& found = found_[rank];
    found.knows_run = found.knows_run || kind == ChunkKind::kInfo;
    return ChunkReader(found.recording).take(kind, content);
  }

  Ranks ranks_;
  std::vector<Found> found_;
};

}  // namespace

Recording absent_rank(RunInfo run, std::int32_t rank) {
  run.rank = rank;
  run.ranks = std::max(run.ranks, rank + 1);
  run.clock_start = 0;
  Recording recording(std::move(run));
  ChunkReader(recording).end(/*whole=*/false);
  return recording;
}

Result<std::vector<Recording>> read_recordings(const std::filesystem::path& path, Ranks ranks) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return cannot_read(path, "is a folder; choose a recording in it.");
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return cannot_read(path,
                       fmt::format("cannot be opened ({}); check the path.", std::generic_category().message(errno)));
  std::array<std::byte, kFileHeaderBytes> header;
  const std::span<const std::byte> found = read_some(in, header);
  if (in.bad()) return unreadable(path, errno);
  if (auto refusal = check_file_header(path, found)) return *refusal;

  RanksReader reader(ranks);
  std::uint64_t place = kFileHeaderBytes;
  const auto damaged = [&](const Damage& damage) {
    return cannot_read(
        path, fmt::format("is damaged at byte {}: {}; use another copy or record the run again.", place, damage.what));
  };
  for (;;) {
    const ChunkOrEnd next = read_chunk(in);
    if (const auto* const damage = std::get_if<Damage>(&next)) return damaged(*damage);
    if (in.bad()) return unreadable(path, errno);
    if (const auto* const end = std::get_if<EndOfFile>(&next)) {
      if (!reader.knows_run()) return cannot_read(path, "is truncated before it names its run; record the run again.");
      return reader.end(end->whole);
    }
    const Chunk& chunk = std::get<Chunk>(next);
    if (const auto damage = reader.take(chunk.header.kind, chunk.content)) return damaged(*damage);
    place += kChunkHeaderBytes + chunk.header.stored;
  }
}

}  // namespace headroom::record
