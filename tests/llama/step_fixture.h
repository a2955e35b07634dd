// Runs `train_step` for tests. Allocation logs need allocation_log.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/experiments/demo.h"
#include "tests/llama/allocation_log.h"
#include "tests/support/catch.h"

namespace headroom::tests {

using experiments::RunPlace;
using experiments::TrainStepRun;

inline const RunPlace kCpu{.device = c10::kCPU, .target = record::DeviceKind::kCpu};
inline const RunPlace kGpu{.device = c10::Device(c10::kCUDA, 0), .target = record::DeviceKind::kGpu};
inline const RunPlace kPlanForCpu{.device = c10::kMeta, .target = record::DeviceKind::kCpu};
inline const RunPlace kPlanForGpu{.device = c10::kMeta, .target = record::DeviceKind::kGpu};

using Settings = std::vector<std::string>;  // "key=value"; later ones override

// Two short samples and a model of kSmallConfig's shape.
inline const Settings kSmallSettings{"model=custom",   "hidden_size=64", "num_layers=3",         "num_heads=4",
                                     "num_kv_heads=2", "head_dim=16",    "intermediate_size=96", "vocab_size=300",
                                     "batch=2",        "seq=24"};

inline Settings joined(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::string text_of(const Settings& settings) {
  std::string all;
  for (const std::string& setting : settings) all += " " + setting;
  return all;
}

inline record::Params params(const Settings& settings) {
  record::Params result(experiments::find_demo("train_step")->schema);
  for (const std::string& setting : settings) {
    CAPTURE(setting);
    REQUIRE(result.set_assignment(setting).ok());
  }
  return result;
}

inline record::Result<std::unique_ptr<TrainStepRun>> run_or_refusal(const record::Params& p, const RunPlace& place,
                                                                    const std::atomic<bool>* cancel = nullptr) {
  static const std::filesystem::path kText = HEADROOM_SOURCE_DIR "/tests/llama/reference/make_reference.py";
  return TrainStepRun::create(p, {.place = place, .course_text = kText, .cancel = cancel});
}

inline std::unique_ptr<TrainStepRun> make_run(const record::Params& p, const RunPlace& place,
                                              const std::atomic<bool>* cancel = nullptr) {
  auto run = run_or_refusal(p, place, cancel);
  if (!run) FAIL(run.error().message);
  return std::move(run).value();
}
inline std::unique_ptr<TrainStepRun> make_run(const Settings& settings, const RunPlace& place,
                                              const std::atomic<bool>* cancel = nullptr) {
  return make_run(params(settings), place, cancel);
}

inline std::vector<double> losses(TrainStepRun& run, int steps) {
  std::vector<double> result;
  for (int i = 0; i < steps; ++i) {
    run.step(i);
    result.push_back(run.loss());
  }
  return result;
}
inline std::vector<double> losses(const Settings& settings, int steps, const RunPlace& place = kCpu) {
  return losses(*make_run(settings, place), steps);
}

inline std::vector<Allocation> log_of(const RunPlace& place, const std::function<void()>& work) {
  start_log(place.device.is_meta() ? LoggedDevice::kMeta : LoggedDevice::kCpu);
  work();
  return stop_log();
}

inline std::vector<Allocation> log_of_setup(const Settings& settings, const RunPlace& place) {
  std::unique_ptr<TrainStepRun> run;  // outlives the log
  return log_of(place, [&] { run = make_run(settings, place); });
}

// Also checks the step's number of marks.
inline std::vector<Allocation> log_of_step(TrainStepRun& run, const RunPlace& place, int index) {
  for (int i = 0; i < index; ++i) run.step(i);
  std::vector<Allocation> log = log_of(place, [&] { run.step(index); });
  CHECK(marks_heard() == run.marks_per_step());
  return log;
}

// Logs the third step; the first steps make some allocations only once.
inline std::vector<Allocation> third_step(const Settings& settings, const RunPlace& place) {
  return log_of_step(*make_run(settings, place), place, 2);
}

inline void check_equal(const std::vector<Allocation>& real, const std::vector<Allocation>& planned) {
  for (std::size_t i = 0; i < std::min(real.size(), planned.size()); ++i) {
    if (to_string(real[i]) == to_string(planned[i])) continue;
    CAPTURE(i);
    REQUIRE(to_string(real[i]) == to_string(planned[i]));
  }
  CHECK(real.size() == planned.size());
}

inline void check_planned(const Settings& settings) {
  const std::vector<Allocation> real = third_step(settings, kCpu), planned = third_step(settings, kPlanForCpu);
  REQUIRE(real.size() > 100);
  check_equal(real, planned);
}

}  // namespace headroom::tests
