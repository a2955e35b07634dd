// Runs `train_step`: a Llama, its optimizer state and its data on one device, advanced one training step at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include <c10/core/Device.h>

#include "demos/record/result.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::experiments {

// Where tensors live, and for whom. On the meta device nothing is computed, but every allocation is made as `target`
// would make it; on a real device `target` is that device.
struct RunPlace {
  c10::Device device;
  record::DeviceKind target = record::DeviceKind::kCpu;  // kCpu or kGpu
};

enum class StepResult : std::uint8_t { kDone, kCancelled };

// All calls come from one thread (the engine's worker). Running out of memory leaves create() and step() as an
// exception (c10::OutOfMemoryError, or whatever the allocator threw); destroy the run then: it frees every tensor.
class TrainStepRun {
 public:
  // Checks the parameters (demos/experiments/train_step_info.cpp) and the text, then builds weights, optimizer state
  // and tables in phase setup. Refused with one sentence: a shape that cannot be, a text that cannot be read.
  // `course_pages` is the text where the parameter `data` is empty. `cancel` may be null; it is read between layers.
  // Not owned.
  static record::Result<std::unique_ptr<TrainStepRun>> create(const record::Params& params, RunPlace place,
                                                              std::span<const std::filesystem::path> course_pages,
                                                              const std::atomic<bool>* cancel);
  ~TrainStepRun();
  TrainStepRun(const TrainStepRun&) = delete;
  TrainStepRun& operator=(const TrainStepRun&) = delete;

  // One whole step: batch, forward, loss, backward, optimizer; marks are set on the way, from mark_step(index) to
  // mark_step(-1). Never waits for the device. After kCancelled the run can only be destroyed.
  StepResult step(int index);

  int steps() const;                     // asked for in the parameters
  std::int64_t tokens_per_step() const;  // batch · seq
  std::int64_t num_parameters() const;
  int marks_per_step() const;  // record::mark and mark_step calls of one whole step: for progress within it

  // The last step's loss, in nats a token. Waits for the device. Not on meta, and only after a step.
  double loss() const;

 private:
  struct State;
  explicit TrainStepRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headroom::experiments
