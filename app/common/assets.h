// Finds the files shipped with the program: page texts, fonts, recordings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

std::filesystem::path executable_folder();

// Returns $HEADROOM_ASSETS if set; otherwise share/headroom next to bin/, or assets/ of the source tree. An error names
// the places searched.
record::Result<std::filesystem::path> find_assets();

// The default training text.
std::filesystem::path course_text(const std::filesystem::path& assets);

// <assets>/recordings/<name>.hrec, which may not exist.
std::filesystem::path recording_path(const std::filesystem::path& assets, std::string_view name);
// Sorted names, without .hrec.
std::vector<std::string> stored_recordings(const std::filesystem::path& assets);

}  // namespace headroom::app
