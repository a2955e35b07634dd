// A run in one piece, and the same run resumed halfway.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/step_fixture.h"

namespace headroom::tests {

// Losses of these steps; writes the results if `save` is set.
inline std::vector<double> trained(const Settings& settings, int steps, const RunPlace& place = kCpu) {
  const auto run = make_run(joined(settings, {"steps=" + std::to_string(steps)}), place);
  const std::vector<double> result = losses(*run, steps);
  const record::Status finished = run->finish();
  if (!finished) FAIL(finished.error().message);
  return result;
}

inline Settings saving(const std::filesystem::path& folder) { return {"save=" + folder.string(), "save_state=on"}; }

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Ten steps, saved and resumed for ten more, must equal twenty: losses to the bit, four files to the byte.
inline void check_resumed(const Settings& settings, const RunPlace& place) {
  const TemporaryFolder folder;
  const auto whole = folder.path() / "whole", first = folder.path() / "first", second = folder.path() / "second";
  const std::vector<double> all = trained(joined(settings, saving(whole)), 20, place);
  CHECK(trained(joined(settings, saving(first)), 10, place) == std::vector<double>(all.begin(), all.begin() + 10));
  const Settings resumed = joined(joined(settings, saving(second)), {"resume=" + first.string()});
  CHECK(trained(resumed, 10, place) == std::vector<double>(all.begin() + 10, all.end()));
  REQUIRE(files_in(whole).size() == 4);
  for (const std::string& name : files_in(whole)) {
    CAPTURE(name);
    const bool equal = content_of(whole / name) == content_of(second / name);
    CHECK(equal);  // do not print the bytes
  }
}

}  // namespace headroom::tests
