// Grows recordings; reads and writes their files.
#include "demos/record/recording.h"

#include <fstream>
#include <limits>
#include <stdexcept>

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

}  // namespace

std::string_view Recording::op_name(std::uint16_t op) const {
  return op < operators_.size() ? std::string_view(operators_[op]) : std::string_view();
}

void Recording::keep(std::span<const MemEvent> events) {
  auto& kept = rows_.of<MemEvent>();
  Nanoseconds latest = kept.empty() ? std::numeric_limits<Nanoseconds>::min() : kept.back().time;
  for (MemEvent event : events) {
    event.time = latest = std::max(latest, event.time);
    kept.push_back(event);
  }
}

void Recording::keep(std::span<const Mark> marks) {
  auto& kept = rows_.of<Mark>();
  for (Mark mark : marks) {
    if (!kept.empty()) {
      mark.host_time = std::max(mark.host_time, kept.back().host_time);
      mark.event_index = std::max(mark.event_index, kept.back().event_index);
    }
    kept.push_back(mark);
  }
}

void Recording::append_device_times(std::span<const Nanoseconds> times) {
  auto& marks = rows_.of<Mark>();
  for (const Nanoseconds time : times) {
    while (marks_with_device_time_ < marks.size() && marks[marks_with_device_time_].device_time != kPending)
      ++marks_with_device_time_;
    if (marks_with_device_time_ == marks.size()) throw std::logic_error("more device times than marks");
    marks[marks_with_device_time_].device_time = time;
  }
}

void Recording::append_operators(std::uint16_t first_op, std::span<const std::string> names) {
  if (operators_.size() < first_op + names.size()) operators_.resize(first_op + names.size());
  std::copy(names.begin(), names.end(), operators_.begin() + first_op);
}

Status Recording::append_chunk(std::span<const std::byte> chunk) {
  const auto refuse = [](const Damage& damage) {
    return Error{"A part of the recording is invalid: " + damage.what + "; run it again."};
  };
  const auto header = open_header(chunk);
  if (const auto* const damage = std::get_if<Damage>(&header)) return refuse(*damage);
  const auto content = open_payload(std::get<ChunkHeader>(header), chunk.subspan(kChunkHeaderBytes));
  if (const auto* const damage = std::get_if<Damage>(&content)) return refuse(*damage);
  if (const auto damage =
          ChunkReader(*this).take(std::get<ChunkHeader>(header).kind, std::get<std::vector<std::byte>>(content)))
    return refuse(*damage);
  return Ok{};
}

Result<Recording> Recording::read(const std::filesystem::path& path) {
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

  Recording recording;
  bool knows_run = false;
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
      if (!knows_run) return cannot_read(path, "is truncated before it names its run; record the run again.");
      recording.truncated_ = !end->whole || !recording.outcome_;
      break;
    }
    const Chunk& chunk = std::get<Chunk>(next);
    if (const auto damage = ChunkReader(recording).take(chunk.header.kind, chunk.content)) return damaged(*damage);
    knows_run = knows_run || chunk.header.kind == ChunkKind::kInfo;
    place += kChunkHeaderBytes + chunk.header.stored;
  }
  if (recording.info_.source == Source::kLive) recording.info_.source = Source::kRecorded;
  return recording;
}

Status Recording::write(const std::filesystem::path& path) const {
  Result<RecordingWriter> created = RecordingWriter::create(path);
  if (!created) return created.error();
  RecordingWriter& writer = created.value();
  Status status = writer.append(encode(info_));
  if (status) status = writer.append(encode_operators(0, operators_));
  for_each_row_kind([&](const auto& kind) {
    const auto& rows = this->rows<RowOf<decltype(kind)>>();
    if (rows.size() > kind.most) throw std::length_error(fmt::format("more than {} {}", kind.most, kind.name));
    encode_chunks(rows, [&](const std::vector<std::byte>& chunk) {
      if (status) status = writer.append(chunk);
    });
  });
  if (status && kernel_report_) status = writer.append(encode(*kernel_report_));
  if (status && dropped_ != 0) status = writer.append(encode_dropped(dropped_));
  if (status && outcome_) status = writer.append(encode(*outcome_));
  return status ? writer.commit() : status;
}

}  // namespace headroom::record
