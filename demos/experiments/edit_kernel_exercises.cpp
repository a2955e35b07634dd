#include "demos/experiments/edit_kernel_exercises.h"

#include <array>
#include <cstddef>
#include <fstream>

#include "demos/record/text.h"
#include "edited_sources.h"  // assets/kernels, by CMake

namespace headroom::experiments {

std::span<const Exercise> exercises() {
  static constexpr auto kExercises = [] {
    std::array<Exercise, kExerciseChoices.size()> all{{
        {{}, {}, EditedOperation::kVectorAdd, kVectorAddSource, ""},
        {{}, {}, EditedOperation::kRmsNorm, kRmsNormSource, ""},
        {{}, {}, EditedOperation::kAddRmsNorm, kFuseResidualSource, kFuseResidualSolution},
        {{}, {}, EditedOperation::kRmsNorm, kVectoriseSource, kVectoriseSolution},
        {{}, {}, EditedOperation::kRmsNorm, kRegistersSource, kRegistersSolution},
    }};
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].id = kExerciseChoices[i].key;
      all[i].title = kExerciseChoices[i].label;
    }
    return all;
  }();
  return kExercises;
}

const Exercise* find_exercise(std::string_view id) {
  for (const Exercise& exercise : exercises())
    if (exercise.id == id) return &exercise;
  return nullptr;
}

// Compiled in front of the reader's source, so that another order or type of arguments is an error with a line, and not
// a kernel that is handed something else than it takes.
std::string_view declarations_of(EditedOperation operation) {
  switch (operation) {
    case EditedOperation::kVectorAdd:
      return R"(extern "C" __global__ void vector_add(const float* a, const float* b, float* out, long long count);
)";
    case EditedOperation::kRmsNorm:
      return R"(extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float epsilon);
)";
    case EditedOperation::kAddRmsNorm:
      return R"(extern "C" __global__ void add(const float* x, const float* residual, float* sum, long long count);
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float epsilon);
extern "C" __global__ void add_rms_norm(const float* x, const float* residual, const float* weight, float* sum, float* y,
                                        float epsilon);
)";
  }
  return "";
}

record::Result<std::string> edited_source(const std::string& given, const Exercise& exercise) {
  constexpr std::size_t kMostSource = 1 << 18;  // bytes
  if (given.empty()) return std::string(exercise.source);
  const auto checked = [](std::string text, const std::string& what) -> record::Result<std::string> {
    const auto refused = [&](const char* why) { return record::Error{what + why}; };
    if (text.size() > kMostSource) return refused(" is larger than 256 KiB: give a shorter source.");
    if (text.find('\0') != std::string::npos) return refused(" is no text but a binary file: give CUDA C++.");
    if (text.find_first_not_of(" \t\r\n") == std::string::npos)
      return refused(" is empty: give CUDA C++, or leave `source` out for the exercise's own.");
    return text;
  };
  if (given.find('\n') != std::string::npos) return checked(given, "The source");
  std::ifstream file(given, std::ios::binary);
  if (!file) {
    return record::Error{record::printable(given) + " cannot be opened: `source` takes a file with CUDA C++."};
  }
  std::string text(kMostSource + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return checked(std::move(text), record::printable(given));
}

}  // namespace headroom::experiments
