// Finds what is shipped beside the program: page texts, fonts, recordings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

// The folder of the running executable.
std::filesystem::path executable_folder();

// The assets folder: $HEADROOM_ASSETS if set; else assets/ of the source tree that the executable was built in, or
// share/headroom beside its bin/. An error names the places that were looked at.
record::Result<std::filesystem::path> find_assets();

// The text that runs train on where they name none.
std::filesystem::path course_text(const std::filesystem::path& assets);

// <assets>/recordings/<name>.hrec, as pages name them. It may not exist.
std::filesystem::path recording_path(const std::filesystem::path& assets, std::string_view name);
// Names (without .hrec) of the recordings in <assets>/recordings, sorted.
std::vector<std::string> stored_recordings(const std::filesystem::path& assets);

}  // namespace headroom::app
