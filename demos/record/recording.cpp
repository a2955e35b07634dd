// Grows recordings, and writes their files.
#include "demos/record/recording.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/record/file/chunk.h"
#include "demos/record/file/chunk_reader.h"
#include "demos/record/file/recording_file.h"

namespace headroom::record {
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
  Result<std::vector<Recording>> read = read_recordings(path, Ranks::kFirst);
  if (!read) return read.error();
  return std::move(read.value().front());
}

Status Recording::write(const std::filesystem::path& path) const {
  std::vector<const Recording*> ranks{this};
  for (const auto& other : other_ranks_) ranks.push_back(other.get());
  return write_ranks(path, ranks);
}

Status write_ranks(const std::filesystem::path& path, std::span<const Recording* const> ranks) {
  Result<RecordingWriter> created = RecordingWriter::create(path);
  if (!created) return created.error();
  Status status = Ok{};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    encode_chunks(*ranks[rank], [&](std::span<const std::byte> chunk) {
      if (!status) return;
      status = created.value().append(rank == 0 ? chunk : encode_rank(static_cast<std::uint16_t>(rank), chunk));
    });
  return status ? created.value().commit() : status;
}

void encode_chunks(const Recording& recording, const std::function<void(std::span<const std::byte>)>& take) {
  take(encode(recording.info()));
  take(encode_operators(0, recording.operators()));
  for_each_row_kind([&](const auto& kind) {
    const auto& rows = recording.rows<RowOf<decltype(kind)>>();
    if (rows.size() > kind.most) throw std::length_error(fmt::format("more than {} {}", kind.most, kind.name));
    encode_chunks(rows, take);
  });
  if (recording.kernel_report()) take(encode(*recording.kernel_report()));
  if (recording.dropped_events() != 0) take(encode_dropped(recording.dropped_events()));
  if (recording.outcome()) take(encode(*recording.outcome()));
}

}  // namespace headroom::record
