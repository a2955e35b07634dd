// Reads the recordings of a file: one per rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "demos/record/recording.h"

namespace headroom::record {

enum class Ranks { kFirst, kAll };

// Returns rank 0, and with `kAll` every rank of a file that contains several. Ranks that a truncated file does not
// describe are absent_rank().
Result<std::vector<Recording>> read_recordings(const std::filesystem::path& path, Ranks ranks);

// Returns an empty, truncated recording of another rank of the run.
Recording absent_rank(RunInfo run, std::int32_t rank);

}  // namespace headroom::record
