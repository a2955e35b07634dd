// What runs a demo: made from parameters, advanced one step at a time. The side of demos that knows torch.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/Device.h>

#include "demos/record/histogram.h"
#include "demos/record/kernel_report.h"
#include "demos/record/measurement.h"
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

// What the allocator of the run's device has handed out. Not on meta.
class MemoryMeter {
 public:
  virtual ~MemoryMeter() = default;
  virtual record::Bytes allocated() const = 0;
  virtual record::Bytes peak() const = 0;  // highest since reset()
  virtual void reset() = 0;
};

// What a run is given besides its parameters.
struct RunSetting {
  RunPlace place;
  std::filesystem::path course_text;          // the text to train on where the parameters name none
  const std::atomic<bool>* cancel = nullptr;  // may be null; read between layers or cases. Not owned.
  record::Bytes host_memory = 0;              // that the host can give beside the device; 0: not known
  MemoryMeter* memory = nullptr;              // null: nothing counts. Not owned.
};

enum class StepResult : std::uint8_t { kDone, kCancelled };

// What a step gave, once the device is done with it.
struct StepReport {
  std::optional<double> loss;          // nats per token
  std::optional<std::int64_t> tokens;  // that the step trained on; gives tokens per second
  std::vector<record::Measurement> measurements;
  std::optional<double> loss_scale;           // what the step's loss was multiplied by
  std::optional<std::int64_t> skipped_steps;  // so far
  std::vector<record::Histogram> histograms;
  std::optional<double> evaluation_loss;    // on held-out text, behind the step; nats per token
  record::Nanoseconds evaluation_time = 0;  // that this took within the step; not the step's
  std::optional<record::KernelReport> kernel_report;
};

// A plan makes no more steps, unless the demo says otherwise.
inline constexpr int kPlannedSteps = 3;

// All calls come from one thread (the engine's worker). Running out of memory leaves the maker and step() as an
// exception (c10::OutOfMemoryError, or whatever the allocator threw); destroy the run then: it frees every tensor.
class DemoRun {
 public:
  DemoRun() = default;
  virtual ~DemoRun() = default;
  DemoRun(const DemoRun&) = delete;
  DemoRun& operator=(const DemoRun&) = delete;

  // One whole step, with its marks, from mark_step(index) to mark_step(-1). After kCancelled the run can only be
  // destroyed.
  virtual StepResult step(int index) = 0;
  virtual int steps() const = 0;
  // Later steps allocate as the last of these does: a prediction makes no more.
  virtual int distinct_steps() const { return kPlannedSteps; }
  virtual int marks_per_step() const = 0;  // record::mark and mark_step calls of one step: for progress within it
  // Of the last step. Waits for the device. Not on meta.
  virtual StepReport report() = 0;
  // After the last step, with nothing recorded any more: what the run leaves on the disk. Not on meta.
  virtual record::Status finish() { return record::Ok{}; }
  // What the reader of a completed run should know about how it ran; empty: nothing. One sentence.
  virtual std::string note() const { return {}; }
  // Provenance that is known only now, after the steps.
  virtual std::map<std::string, std::string> found() const { return {}; }
};

// The running half of a demo, declared in its *_run.cpp as `constinit const DemoRunner k…Runner`. Its id is the DemoInfo's.
struct DemoRunner {
  std::string_view id;
  // Checks the parameters and builds what the steps need, in phase setup. Refuses with one sentence.
  record::Result<std::unique_ptr<DemoRun>> (*make)(const record::Params& params, const RunSetting& setting);
  // Provenance that only this demo knows, for example the text that it trains on, which a plan does not read. Null: none.
  std::map<std::string, std::string> (*facts)(const record::Params& params, const RunSetting& setting) = nullptr;
  // What a GPU does before anything of the run is allocated or recorded, in the driver's memory alone, which is given back.
  // Returns provenance. Null: nothing.
  record::Result<std::map<std::string, std::string>> (*prepare)(const record::Params& params,
                                                                const RunSetting& setting) = nullptr;
};

std::span<const DemoRunner* const> demo_runners();
const DemoRunner* find_runner(std::string_view id);  // null: unknown

}  // namespace headroom::experiments
