// The kernels that a reader edits: where each begins, what it is to compute, and one way to do it.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::experiments {

// What the kernels of a source are to compute together, and what they are called.
enum class EditedOperation {
  kVectorAdd,   // vector_add
  kRmsNorm,     // rms_norm
  kAddRmsNorm,  // add_rms_norm; or, while there is none, add and then rms_norm
};

// Ids and titles of the exercises, in order: the choices of the parameter `exercise`.
inline constexpr std::array kExerciseChoices{
    record::Choice{"vector_add", "Vector addition"},
    record::Choice{"rms_norm", "RMSNorm"},
    record::Choice{"fuse_residual", "1. Fuse the residual"},
    record::Choice{"vectorise", "2. Vectorize"},
    record::Choice{"registers", "3. Keep the row in registers"},
};

struct Exercise {
  std::string_view id;     // "vectorise", as in --set exercise=vectorise
  std::string_view title;  // "2. Vectorize"
  EditedOperation operation;
  std::string_view source;    // where the reader starts; assets/kernels/<id>.cu
  std::string_view solution;  // empty where nothing is asked; assets/kernels/solutions/<id>.cu
};

std::span<const Exercise> exercises();                        // one for each of the choices
const Exercise* find_exercise(std::string_view id);           // null: unknown
std::string_view declarations_of(EditedOperation operation);  // of its kernels, in CUDA C++

// What is to be compiled: the given text itself where it has a line break, else the file that it names; empty: the
// exercise's own.
record::Result<std::string> edited_source(const std::string& given, const Exercise& exercise);

}  // namespace headroom::experiments
