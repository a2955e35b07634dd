// The recordings of all ranks of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::record {

// Provenance key with a name that all ranks of a run share.
inline constexpr std::string_view kRunName = "run";

// The file that rank 1 or higher writes next to rank 0's `path` if each rank writes its own: "run.rank1.hrec".
std::filesystem::path part_path(const std::filesystem::path& path, std::int32_t rank);

struct RunRecordings {
  std::vector<Recording> ranks;  // in order, at least one

  // If the file contains one rank of several, also reads the other ranks' files next to it, and refuses those of
  // another run. A rank whose file is missing is empty and truncated.
  static Result<RunRecordings> read(const std::filesystem::path& path);
  // Returns rank 0, which then has the others as Recording::other_ranks().
  Recording joined() &&;
  // Writes all ranks to one file.
  Status write(const std::filesystem::path& path) const;
};

}  // namespace headroom::record
