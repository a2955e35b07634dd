// Chapter: one training step, and where its memory goes.
#include <array>

#include "lessons/chapter.h"

namespace headroom::lessons {
namespace {

constexpr std::array<std::string_view, 3> kFigures{"memory_timeline", "peak_by_category", "loss_curves"};
constexpr std::array<std::string_view, 4> kRecordings{
    "tiny_cpu",
    "llama-3.2-1b_h200_b4",
    "llama-3.2-1b_h200_b4_checkpointing",
    "llama-3.2-1b_h200_b8_24gib_oom",
};

// The peak of the last step, in bytes. A run that ended before a step was whole, out of memory included, has no answer.
double peak_of_step(const record::Ledger& run) {
  const auto steps = record::steps_of(run.recording());
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (step->complete) return static_cast<double>(run.peak(step->first, step->last).totals.allocated);
  }
  return -1;
}

constexpr Prediction kPrediction{
    .figure = "memory_timeline",
    .low = 0,
    .high = 32.0 * record::kGiB,
    .answer = peak_of_step,
};

constexpr Page kWhereMemoryGoes{
    .id = "where_memory_goes",
    .title = "Where the memory goes in one training step",
    .text = "where_memory_goes.md",
    .demo = "train_step",
    .figures = kFigures,
    .recordings = kRecordings,
    .prediction = &kPrediction,
};

constexpr std::array<const Page*, 1> kPages{&kWhereMemoryGoes};

}  // namespace

extern const Chapter kOneTrainingStep;
constinit const Chapter kOneTrainingStep{
    .id = "one_training_step",
    .title = "One training step",
    .pages = kPages,
};

}  // namespace headroom::lessons
