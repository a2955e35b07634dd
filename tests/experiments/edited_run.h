// Runs the demo `edit_kernel` in this process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "demos/engine/experiments/demo_run.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/edit_kernel_exercises.h"
#include "tests/support/catch.h"

namespace headroom::tests {

struct EditedRun {
  record::KernelReport report;
  std::vector<record::Measurement> measurements;
  std::string refusal;
};

inline EditedRun run_edited(const std::map<std::string, std::string>& settings, c10::Device device) {
  const experiments::DemoInfo* demo = experiments::find_demo("edit_kernel");
  const experiments::DemoRunner* runner = experiments::find_runner("edit_kernel");
  REQUIRE(demo != nullptr);
  REQUIRE(runner != nullptr);
  auto params = record::Params::from_map(demo->schema, settings);
  INFO((params ? std::string() : params.error().message));
  REQUIRE(params.ok());
  const auto target = device.is_cuda() ? record::DeviceKind::kGpu : record::DeviceKind::kCpu;
  auto made = experiments::make_run(*runner, params.value(), {.place = {.device = device, .target = target}});
  EditedRun done;
  if (!made) {
    done.refusal = made.error().message;
    return done;
  }
  experiments::DemoRun& run = *made.value();
  for (int i = 0; i < run.steps(); ++i) {
    REQUIRE(run.step(i) == experiments::StepResult::kDone);
    experiments::StepReport step = run.report();
    REQUIRE(step.kernel_report);
    done.report = *step.kernel_report;
    done.measurements.insert(done.measurements.end(), step.measurements.begin(), step.measurements.end());
  }
  return done;
}

inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const std::size_t at = changed.find(from);
  REQUIRE(at != std::string::npos);
  REQUIRE(changed.find(from, at + 1) == std::string::npos);
  return changed.replace(at, from.size(), to);
}

inline std::string_view source_of(std::string_view exercise) {
  const experiments::Exercise* found = experiments::find_exercise(exercise);
  REQUIRE(found != nullptr);
  return found->source;
}

}  // namespace headroom::tests
