// The kernels that readers edit: starting points, tasks and solutions.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

enum class EditedOperation {
  kVectorAdd,   // vector_add
  kRmsNorm,     // rms_norm
  kAddRmsNorm,  // add_rms_norm; if missing, add and then rms_norm
};

inline constexpr std::array kExerciseChoices{
    record::Choice{"vector_add", "Vector addition"},
    record::Choice{"rms_norm", "RMSNorm"},
    record::Choice{"fuse_residual", "1. Fuse the residual"},
    record::Choice{"vectorise", "2. Vectorize"},
    record::Choice{"registers", "3. Keep the row in registers"},
};

struct Exercise {
  std::string_view id;  // "vectorise", as in --set exercise=vectorise
  std::string_view title;
  EditedOperation operation;
  std::string_view source;    // the starting point; assets/kernels/<id>.cu
  std::string_view solution;  // empty if there is no task; assets/kernels/solutions/<id>.cu
};

std::span<const Exercise> exercises();
const Exercise* find_exercise(std::string_view id);
std::string_view declarations_of(EditedOperation operation);  // in CUDA C++

// Source to compile: `given` if it has a line break, otherwise the file that it names; if `given` is empty, the
// exercise's own.
record::Result<std::string> edited_source(const std::string& given, const Exercise& exercise);

}  // namespace headroom::experiments
