// Writes a file atomically: a reader sees the old or the new one, never half of it.
#pragma once

#include <filesystem>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::app {

// Writes next to the target, syncs and renames. An error (kNotWritten) names the file and the reason, and leaves the
// old file as it was.
record::Status write_whole(const std::filesystem::path& path, std::string_view bytes);

}  // namespace headroom::app
