// The engine's half of a demo: built from parameters, advanced step by step.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <c10/core/Device.h>

#include "demos/protocol/launchers.h"
#include "demos/record/result.h"
#include "demos/record/rows/histogram.h"
#include "demos/record/rows/kernel_report.h"
#include "demos/record/rows/measurement.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"

namespace headroom::llama {
struct IssuedCollective;
}

namespace headroom::experiments {

// On meta nothing is computed, but allocations are those of `target`. On a real device `target` is that device.
struct RunPlace {
  c10::Device device;
  record::DeviceKind target = record::DeviceKind::kCpu;  // kCpu or kGpu
};

// Counts allocated bytes on the run's device, unless that is meta.
class MemoryMeter {
 public:
  virtual ~MemoryMeter() = default;
  virtual record::Bytes allocated() const = 0;
  virtual record::Bytes peak() const = 0;  // since reset()
  virtual void reset() = 0;
};

struct RunSetting {
  RunPlace place;
  std::filesystem::path course_text;              // default training text
  const std::atomic<bool>* cancel = nullptr;      // may be null; polled between layers or cases; not owned
  record::Bytes host_memory = 0;                  // available in addition to device memory; 0: unknown
  MemoryMeter* memory = nullptr;                  // null: not measured; not owned
  std::optional<protocol::RankPlace> rank = {};   // none: this process is not one of several ranks
  std::map<std::string, std::string> alike = {};  // what all ranks must share
  // Called with what the run does now: "building the model"; may be empty.
  std::function<void(std::string)> doing = {};
  // Called if the first rank's host has another clock, which is ahead of this host's by so much; may be empty.
  std::function<void(record::Nanoseconds)> clock_differs = {};
  std::function<void()> collective_begins = {};   // may be empty, as the next
  std::function<void(llama::IssuedCollective)> collective_issued = {};
};

inline bool is_set(const std::atomic<bool>* cancel) {
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

enum class StepResult : std::uint8_t { kDone, kCancelled };

struct StepReport {
  std::optional<double> loss;  // nats per token
  std::optional<std::int64_t> tokens;
  std::vector<record::Measurement> measurements;
  std::optional<double> loss_scale;
  std::optional<std::int64_t> skipped_steps;
  std::vector<record::Histogram> histograms;
  std::optional<double> evaluation_loss;    // on held-out text, after the step; nats per token
  record::Nanoseconds evaluation_time = 0;  // included in step()'s time, but not in the reported step time
  std::optional<record::KernelReport> kernel_report;
};

// Number of steps in a plan, unless the demo overrides distinct_steps().
inline constexpr int kPlannedSteps = 3;

// All calls come from the engine's worker thread. If the maker or step() runs out of memory (c10::OutOfMemoryError or
// the allocator's exception), destroy the run, which frees every tensor.
class DemoRun {
 public:
  DemoRun() = default;
  virtual ~DemoRun() = default;
  DemoRun(const DemoRun&) = delete;
  DemoRun& operator=(const DemoRun&) = delete;

  // One step with its marks, from mark_step(index) to mark_step(-1). After kCancelled the run can only be destroyed.
  virtual StepResult step(int index) = 0;
  virtual int steps() const = 0;
  // Number of steps to predict: every later step allocates like the last of them.
  virtual int distinct_steps() const { return kPlannedSteps; }
  virtual int marks_per_step() const = 0;  // calls of record::mark and mark_step
  // Results of the last step. Waits for the device. Not called on meta.
  virtual StepReport report() = 0;
  // Called after the last step, with recording off, not on meta: writes the run's files.
  virtual record::Status finish() { return record::Ok{}; }
  // One sentence for the reader of a completed run; empty: none.
  virtual std::string note() const { return {}; }
  // Provenance known only after the steps.
  virtual std::map<std::string, std::string> found() const { return {}; }
};

// A request, read once from a run's parameters. Every `setting` is that run's.
class DemoRequest {
 public:
  DemoRequest() = default;
  virtual ~DemoRequest() = default;
  DemoRequest(const DemoRequest&) = delete;
  DemoRequest& operator=(const DemoRequest&) = delete;

  // Provenance specific to this demo.
  virtual std::map<std::string, std::string> facts(const RunSetting&) const { return {}; }
  // Called on a GPU before anything is allocated or recorded. Allocates only from the driver, and frees that memory
  // again. Returns provenance.
  virtual record::Result<std::map<std::string, std::string>> prepare(const RunSetting&) {
    return std::map<std::string, std::string>{};
  }
  // Allocates what the steps need, in phase setup. Refuses with one sentence.
  virtual record::Result<std::unique_ptr<DemoRun>> make(const RunSetting& setting) = 0;
};

// Declared in *_run.cpp as `constinit const DemoRunner k…Runner`, with the DemoInfo's id.
struct DemoRunner {
  std::string_view id;
  // Checks the parameters. Refuses with one sentence.
  record::Result<std::unique_ptr<DemoRequest>> (*read)(const record::Params& params);
};

// Implements DemoRunner::read for a demo that has neither facts nor preparations.
template <auto kMake>
record::Result<std::unique_ptr<DemoRequest>> read_simply(const record::Params& params) {
  class Simple final : public DemoRequest {
   public:
    explicit Simple(const record::Params& params) : params_(params) {}
    record::Result<std::unique_ptr<DemoRun>> make(const RunSetting& setting) override {
      return kMake(params_, setting);
    }

   private:
    record::Params params_;
  };
  return std::unique_ptr<DemoRequest>(std::make_unique<Simple>(params));
}

record::Result<std::unique_ptr<DemoRun>> make_run(const DemoRunner& runner, const record::Params& params,
                                                  const RunSetting& setting);

std::span<const DemoRunner* const> demo_runners();
const DemoRunner* find_runner(std::string_view id);

}  // namespace headroom::experiments
