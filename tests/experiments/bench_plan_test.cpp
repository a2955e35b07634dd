// A benchmark's panels, shapes and storage.
#include <algorithm>
#include <set>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/bench_plan.h"
#include "tests/support/catch.h"

using namespace headroom;
using experiments::BenchCase;
using record::DeviceKind;

namespace {

std::vector<BenchCase> plan(DeviceKind device, std::initializer_list<const char*> settings = {}) {
  record::Params params(experiments::find_demo("bench")->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return experiments::bench_plan(params, device);
}

}  // namespace

TEST_CASE("every kernel of the schema is measured on either device") {
  for (const DeviceKind device : {DeviceKind::kGpu, DeviceKind::kCpu}) {
    std::set<std::string> measured;
    for (const BenchCase& one : plan(device)) {
      CHECK_FALSE(one.of_report());
      CHECK((one.shape.rows > 0 && one.shape.width > 0));
      CHECK(one.storage == (device == DeviceKind::kGpu ? "bf16" : "fp32"));
      measured.insert(one.kernel);
    }
    CHECK(measured.size() == 12);
  }
}

TEST_CASE("norms on a CPU have tensors of 64 MiB, whatever their width") {
  for (const BenchCase& one : plan(DeviceKind::kCpu, {"kernel=rms_norm"}))
    CHECK(one.shape.rows * one.shape.width * 4 == 64 << 20);
}

TEST_CASE("the report's panels have the report's shapes") {
  const auto cases = plan(DeviceKind::kGpu, {"panel=report"});
  CHECK(cases.size() == 24);
  const auto count = [&](const char* panel) {
    return std::count_if(cases.begin(), cases.end(), [&](const BenchCase& one) { return one.panel == panel; });
  };
  for (const char* panel :
       {"report.cross_entropy", "report.geglu", "report.swiglu", "report.rms_norm", "report.layer_norm", "report.rope"})
    CHECK(count(panel) == 4);
  const auto mlp =
      std::find_if(cases.begin(), cases.end(), [](const BenchCase& one) { return one.kernel == "swiglu"; });
  CHECK(mlp->shape.rows == 4 * 4096);
  CHECK((mlp->shape.batch == 4 && mlp->shape.hidden == 4096 && mlp->shape.width == 11008));
  CHECK(cases.front().storage == "fp32");
  CHECK(cases.front().shape.rows == 16384);
}

TEST_CASE("the report has six panels, one per kernel, with all data for its figures") {
  int place = 0;
  for (const kernels::KernelInfo* kernel : kernels::report_kernels()) {
    CAPTURE(kernel->id);
    CHECK(kernel->report.place == ++place);
    CHECK_FALSE(kernel->report.axis.empty());
    REQUIRE((kernel->report.shapes != nullptr && kernel->report.x != nullptr && kernel->report.inputs != nullptr));
    for (const kernels::MeasuredShape& each : kernel->report.shapes({.gpu = true})) {
      CHECK_FALSE(each.storage.empty());
      CHECK(kernel->report.x(each.shape) > 0);
    }
  }
  CHECK(place == 6);
}

TEST_CASE("the choices of kernels are the catalogue's measured ones, by title") {
  const auto choices = experiments::find_demo("bench")->schema.front().choices;
  REQUIRE(choices.front().key == "all");
  std::size_t next = 1;
  for (const kernels::KernelInfo* kernel : kernels::kernels()) {
    if (kernel->bench.shapes == nullptr) continue;
    CAPTURE(kernel->id);
    REQUIRE(next < choices.size());
    CHECK(choices[next].key == kernel->id);
    CHECK(choices[next++].label == kernel->title);
    CHECK_FALSE(kernel->bench.axis.empty());
  }
  CHECK(next == choices.size());
}

TEST_CASE("rows, width and quick change the shapes") {
  const auto own = plan(DeviceKind::kGpu, {"kernel=layer_norm", "rows=7", "width=33"});
  REQUIRE(own.size() == 1);
  CHECK((own[0].shape.rows == 7 && own[0].shape.width == 33));
  CHECK(plan(DeviceKind::kGpu, {"kernel=rms_norm"}).size() == 4);
  CHECK(plan(DeviceKind::kGpu, {"kernel=rms_norm", "quick=on"}).size() == 1);
  CHECK(plan(DeviceKind::kGpu, {"kernel=adamw", "panel=report"}).empty());
}
