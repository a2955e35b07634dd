// Finds the files shipped with the program.
#include "app/common/assets.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "demos/record/text.h"
#include "headroom_build.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;

namespace {

bool looks_like_assets(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "fonts", ignored) || fs::is_directory(folder / "text", ignored) ||
         fs::is_directory(folder / "recordings", ignored);
}

}  // namespace

fs::path executable_folder() {
  std::error_code failed;
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  return failed ? fs::current_path(failed) : executable.parent_path();
}

record::Result<fs::path> find_assets() {
  if (const char* asked = std::getenv("HEADROOM_ASSETS"); asked != nullptr && *asked != '\0') {
    if (looks_like_assets(asked)) return fs::path(asked);
    return Error{
        fmt::format("HEADROOM_ASSETS={} is not an assets folder (it has no fonts, text or recordings): correct it or "
                    "unset it.",
                    asked)};
  }
  const fs::path bin = executable_folder();
  const fs::path places[] = {
      bin.parent_path() / "share" / "headroom",
      bin.parent_path().parent_path() / "assets",  // executable in <tree>/build/bin
      fs::path(build::kSourceDir) / "assets",      // for build folders outside the tree
  };
  for (const fs::path& place : places)
    if (looks_like_assets(place)) return place;
  return Error{
      fmt::format("The assets folder (fonts, page texts, recordings) was found neither at {} nor at {}: set "
                  "HEADROOM_ASSETS to its path.",
                  places[0].string(), places[1].string())};
}

fs::path course_text(const fs::path& assets) { return assets / "data" / "course.txt"; }

fs::path recording_path(const fs::path& assets, std::string_view name) {
  return assets / "recordings" / (std::string(name) + ".hrec");
}

std::vector<std::string> stored_recordings(const fs::path& assets) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(assets / "recordings", failed))
    if (entry.path().extension() == ".hrec") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headroom::app
