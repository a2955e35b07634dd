// Writes a file so that a reader sees the old one or the new one, never half of it.
#pragma once

#include <filesystem>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::app {

// Written beside the target, made durable and renamed. The error (kNotWritten) names the file and the system's reason,
// and leaves what was there before as it was.
record::Status write_whole(const std::filesystem::path& path, std::string_view bytes);

}  // namespace headroom::app
