// Runs `bench`: each step times all forms of one case in turns.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/experiments/info/bench_plan.h"
#include "kernels/kernel_case.h"

namespace headroom::experiments {

// Inputs are drawn from fixed seeds.
kernels::KernelForms bench_forms(const BenchCase& one, at::Device device);

class BenchRun final : public DemoRun {
 public:
  BenchRun(const record::Params& params, const RunSetting& setting, std::vector<BenchCase> cases);
  ~BenchRun() override;

  // A form that runs out of memory leaves a row without samples.
  StepResult step(int index) override;
  int steps() const override { return static_cast<int>(cases_.size()) + 1; }  // step 0 is the large copy
  int marks_per_step() const override;
  StepReport report() override;

 private:
  bool measure_copy();
  bool measure(const BenchCase& one);
  bool measure_pass(const BenchCase& one, const kernels::KernelForms& all, const std::string& pass);
  void measure_errors(const BenchCase& one);

  record::Measurement row(const BenchCase& one, const std::string& variant, const std::string& pass,
                          const std::string& timing, const BenchTime& time) const;
  BenchPatience patience(std::size_t forms) const;

  at::Device device_;
  record::DeviceKind kind_;
  const std::atomic<bool>* cancel_;
  MemoryMeter* memory_;
  bool quick_;
  int threads_before_;
  BenchClock clock_;
  std::vector<BenchCase> cases_;
  std::vector<record::Measurement> rows_;
  std::map<std::pair<std::string, std::string>, double> errors_;  // by variant and pass
};

}  // namespace headroom::experiments
