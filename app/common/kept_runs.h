// Keeps the reader's runs across restarts, in a folder next to the settings file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "demos/record/result.h"

namespace headroom::app {

// A file's name contains the time and page of its run.
class KeptRuns {
 public:
  static constexpr std::size_t kMost = 50;
  static constexpr std::uintmax_t kMostBytes = 200'000'000;

  // With an empty path, no run is kept.
  explicit KeptRuns(std::filesystem::path folder, std::size_t most = kMost, std::uintmax_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_(most), most_bytes_(most_bytes) {}

  // File names, oldest first.
  std::vector<std::string> of_page(std::string_view page) const;
  std::filesystem::path path_of(std::string_view name) const { return folder_ / name; }
  // Deletes the oldest runs to make room. Returns the new file's name.
  record::Result<std::string> keep(const record::Recording& run, std::string_view page) const;
  void forget(std::string_view name) const;

 private:
  std::vector<std::string> all() const;

  std::filesystem::path folder_;
  std::size_t most_;
  std::uintmax_t most_bytes_;
};

}  // namespace headroom::app
