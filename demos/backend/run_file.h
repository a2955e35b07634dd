// The file of a run, written as its chunks arrive.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "demos/record/recording.h"

namespace headroom::backend {

class RunFile {
 public:
  // Starts a file for a new run, or none.
  void begin(const std::optional<std::filesystem::path>& path);
  // A write error ends the file, not the run.
  void append(std::span<const std::byte> chunk, std::size_t rank = 0);
  // Appends the outcome of each rank and completes the file. Keeps an older file if the run was refused or rank 0
  // recorded nothing.
  void end(std::span<const record::Outcome> outcomes);

  const std::optional<record::Error>& error() const { return error_; }

 private:
  std::optional<record::RecordingWriter> writer_;
  std::size_t first_rank_chunks_ = 0;
  std::optional<record::Error> error_;
};

}  // namespace headroom::backend
