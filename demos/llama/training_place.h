// How far a training came, as it is written beside its state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "demos/record/result.h"

namespace headroom::llama {

inline constexpr const char* kPlaceFile = "training_state.json";
inline constexpr const char* kStateFile = "training_state.safetensors";

// Seed and steps are all that decides which pieces of the data come next: nothing else is drawn at random after a model is
// built.
struct TrainingPlace {
  std::int64_t steps = 0;  // that were taken
  std::int64_t seed = 0;
  std::int64_t ids = 0;  // of the data
};

std::string written_place(const TrainingPlace& place);
// Refused with a sentence: a folder without one, or with a damaged one.
record::Result<TrainingPlace> read_place(const std::filesystem::path& folder);

}  // namespace headroom::llama
