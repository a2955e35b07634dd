// Runs one operation in three forms, one per step: composed, fused, and composed as a CUDA graph.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "demos/engine/experiments/bench_run.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/experiments/demo.h"
#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

using Call = std::function<std::vector<at::Tensor>()>;

// The case that `bench` plans for these rows.
record::Result<BenchCase> case_of(const record::Params& params, record::DeviceKind target) {
  record::Params bench(find_demo("bench")->schema);
  const std::pair<const char*, std::string> settings[] = {{"kernel", params.text("kernel")},
                                                          {"storage", params.text("storage")},
                                                          {"rows", std::to_string(params.integer("rows"))},
                                                          {"quick", "on"}};
  for (const auto& [key, value] : settings)
    if (auto set = bench.set(key, std::string_view(value)); !set) return set.error();
  const std::vector<BenchCase> plan = bench_plan(bench, target);
  if (plan.empty()) return record::Error{"This kernel has nothing to run.", record::ErrorKind::kRefused};
  return plan.front();
}

class LaunchesRun final : public DemoRun {
 public:
  LaunchesRun(const BenchCase& one, const std::string& pass, at::Device device) : device_(device) {
    if (device.is_cuda()) stream_.emplace(c10::cuda::getStreamFromPool(false, device.index()));
    const record::Scope scope(record::Category::kActivations);
    all_ = bench_forms(one, device).forms;
    for (const char* variant : {"eager", "fused"})
      for (const kernels::KernelForm& form : all_)
        if (form.variant == variant && form.pass == pass) forms_.push_back({variant, form.call});
    // Compiles and loads kernels and chooses algorithms before the steps.
    const auto warm = [this] {
      for (const Form& form : forms_)
        for (int i = 0; i < 3; ++i) form.call();
    };
    warm();
    if (!device.is_cuda() || forms_.empty()) return;
    record_graph();
    warm();  // capture emptied the allocator's cache
  }

  StepResult step(int index) override {
    const Form& form = forms_[static_cast<std::size_t>(index)];
    wait();
    record::mark_step(index);
    record::mark(record::Phase::kForward);
    {
      const record::Scope scope(record::Category::kActivations, record::intern_operator("launches." + form.name));
      kept_ = form.call();
    }
    record::mark_step(-1);
    return StepResult::kDone;
  }
  int steps() const override { return static_cast<int>(forms_.size()); }
  int marks_per_step() const override { return 3; }
  StepReport report() override {
    wait();
    kept_.clear();
    return {};
  }

 private:
  struct Form {
    std::string name;
    Call call;
  };

  void wait() const {
    if (device_.is_cuda()) c10::cuda::getCurrentCUDAStream().synchronize();
  }

  void record_graph() {
    auto graph = std::make_shared<at::cuda::CUDAGraph>();
    c10::cuda::CUDACachingAllocator::emptyCache();  // as for a captured training step
    graph->capture_begin();
    try {
      graph_results_ = forms_.front().call();
    } catch (...) {
      graph->capture_end();
      throw;
    }
    graph->capture_end();
    graph->replay();  // uploads the graph
    forms_.push_back({"graph", [graph] {
                        graph->replay();
                        return std::vector<at::Tensor>();
                      }});
  }

  at::Device device_;
  std::optional<c10::cuda::CUDAStreamGuard> stream_;  // capture needs a non-default stream
  std::vector<kernels::KernelForm> all_;
  std::vector<at::Tensor> kept_, graph_results_;
  std::vector<Form> forms_;
};

record::Result<std::unique_ptr<DemoRun>> make_launches(const record::Params& params, const RunSetting& setting) {
  if (setting.place.device.is_meta())
    return record::Error{"Launches can be run but not predicted.", record::ErrorKind::kRefused};
  const auto one = case_of(params, setting.place.target);
  if (!one) return one.error();
  record::mark(record::Phase::kSetup);
  return std::unique_ptr<DemoRun>(
      std::make_unique<LaunchesRun>(one.value(), params.text("pass"), setting.place.device));
}

}  // namespace

extern const DemoRunner kLaunchesRunner;
constinit const DemoRunner kLaunchesRunner = {.id = "launches", .read = &read_simply<make_launches>};

}  // namespace headroom::experiments
