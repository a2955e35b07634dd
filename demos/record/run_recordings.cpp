// Reads and writes the files of runs with several ranks.
#include "demos/record/run_recordings.h"

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "demos/record/file/recording_file.h"
#include "demos/record/text.h"

namespace headroom::record {
namespace {

namespace fs = std::filesystem;

// The inverse of part_path(). nullopt if the name is not that of the rank's part.
std::optional<fs::path> first_path(const fs::path& part, std::int32_t rank) {
  if (rank == 0) return part;
  const std::string suffix = fmt::format(".rank{}", rank);
  std::string name = part.filename().string();
  if (const std::size_t at = name.rfind(suffix); at != std::string::npos) name.erase(at, suffix.size());
  const fs::path first = part.parent_path() / name;
  return part_path(first, rank) == part ? std::optional(first) : std::nullopt;
}

Error not_this_rank(const fs::path& part, const fs::path& path, std::int32_t rank) {
  return {fmt::format("{} is not rank {} of the run in {}; move one of the two files to another folder.",
                      printable(part.string()), rank, printable(path.string()))};
}

bool same_run(const RunInfo& a, const RunInfo& b) {
  const std::string run = fact_of(a.provenance, kRunName);
  return !run.empty() && run == fact_of(b.provenance, kRunName) && a.ranks == b.ranks;
}

// The rank's own file, or an empty recording.
Result<Recording> read_part(const fs::path& path, const fs::path& part, const RunInfo& run, std::int32_t rank) {
  std::error_code none;
  if (!fs::exists(part, none)) return absent_rank(run, rank);
  Result<Recording> read = Recording::read(part);
  if (read && (!same_run(read.value().info(), run) || read.value().info().rank != rank))
    return not_this_rank(part, path, rank);
  return read;
}

Result<RunRecordings> with_other_parts(const fs::path& path, Recording own) {
  const RunInfo run = own.info();
  const std::optional<fs::path> first = first_path(path, run.rank);
  RunRecordings all;
  for (std::int32_t rank = 0; rank < run.ranks; ++rank) {
    if (rank == run.rank) {
      all.ranks.push_back(std::move(own));
      continue;
    }
    Result<Recording> other = first ? read_part(path, part_path(*first, rank), run, rank) : absent_rank(run, rank);
    if (!other) return other.error();
    all.ranks.push_back(std::move(other).value());
  }
  return all;
}

}  // namespace

fs::path part_path(const fs::path& path, std::int32_t rank) {
  if (rank == 0) return path;
  return path.parent_path() / fmt::format("{}.rank{}{}", path.stem().string(), rank, path.extension().string());
}

Result<RunRecordings> RunRecordings::read(const fs::path& path) {
  Result<std::vector<Recording>> read = read_recordings(path, Ranks::kAll);
  if (!read) return read.error();
  std::vector<Recording>& ranks = read.value();
  if (ranks.size() == 1 && ranks.front().info().ranks > 1) return with_other_parts(path, std::move(ranks.front()));
  return RunRecordings{std::move(ranks)};
}

Recording RunRecordings::joined() && {
  std::vector<std::shared_ptr<const Recording>> others;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank)
    others.push_back(std::make_shared<const Recording>(std::move(ranks[rank])));
  ranks.front().set_other_ranks(std::move(others));
  return std::move(ranks.front());
}

Status RunRecordings::write(const fs::path& path) const {
  std::vector<const Recording*> all;
  for (const Recording& rank : ranks) all.push_back(&rank);
  return write_ranks(path, all);
}

}  // namespace headroom::record
