// The progress of a training run, saved with its state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "demos/record/result.h"

namespace headroom::llama {

inline constexpr const char* kPlaceFile = "training_state.json";
inline constexpr const char* kStateFile = "training_state.safetensors";

// Seed and steps determine which part of the data comes next: once the model is built, nothing else is random.
struct TrainingPlace {
  std::int64_t steps = 0;
  std::int64_t seed = 0;
  std::int64_t ids = 0;  // number of token ids in the data
};

std::string written_place(const TrainingPlace& place);
record::Result<TrainingPlace> read_place(const std::filesystem::path& folder);

}  // namespace headroom::llama
