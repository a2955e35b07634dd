// GEMM rates by format.
#include <atomic>
#include <set>

#include <ATen/ATen.h>

#include "demos/engine/experiments/demo_run.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/product_rates.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::Measurement;

namespace {

record::Params params_of(std::initializer_list<const char*> settings) {
  record::Params params(experiments::find_demo("product_rates")->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return params;
}

record::Result<std::unique_ptr<experiments::DemoRun>> made(std::initializer_list<const char*> settings,
                                                           at::Device device = at::kCPU) {
  return experiments::make_run(*experiments::find_runner("product_rates"), params_of(settings),
                               {.place = {.device = device, .target = record::DeviceKind::kCpu},
                                .course_text = {},
                                .cancel = nullptr,
                                .memory = nullptr});
}

}  // namespace

TEST_CASE("each format is measured at five sizes, each twice the one before") {
  const auto cases = experiments::product_rate_cases(params_of({}), record::DeviceKind::kGpu);
  REQUIRE(cases.size() == 25);
  CHECK(cases.front().format == "fp32");
  CHECK(cases.front().side == 1024);
  CHECK(cases.back().format == "fp8");
  CHECK(cases.back().side == 16384);
  for (std::size_t i = 1; i < 5; ++i) CHECK(cases[i].side == 2 * cases[i - 1].side);
  CHECK(experiments::product_rate_cases(params_of({"format=bf16", "quick=on"}), record::DeviceKind::kCpu).size() == 1);
  // fp8 GEMMs need multiples of 16.
  for (const auto& one : experiments::product_rate_cases(params_of({"largest=1000"}), record::DeviceKind::kCpu))
    CHECK(one.side % 16 == 0);
}

TEST_CASE("a CPU's GEMMs are timed in its own formats, not in emulated ones") {
  auto run = made({"largest=64", "quick=on"});
  REQUIRE(run.ok());
  std::set<std::string> formats;
  for (int step = 0; step < run.value()->steps(); ++step) {
    REQUIRE(run.value()->step(step) == experiments::StepResult::kDone);
    for (const Measurement& row : run.value()->report().measurements) {
      formats.insert(row.storage);
      CHECK(row.panel == Measurement::kProductRates);
      CHECK(row.rows == 64);
      CHECK(row.flops == 2.0 * 64 * 64 * 64);
      CHECK(row.median > 0);
      CHECK(row.samples >= 5);
    }
  }
  CHECK(formats == std::set<std::string>{"bf16", "fp16", "fp32"});
}

TEST_CASE("an unmeasurable request is refused with the reason") {
  for (const auto& [setting, word] : {std::pair{"format=fp8", "emulation"}, std::pair{"largest=8", "16"}}) {
    const auto run = made({setting});
    REQUIRE_FALSE(run.ok());
    CHECK(run.error().kind == record::ErrorKind::kRefused);
    CHECK(run.error().message.find(word) != std::string::npos);
  }
  CHECK_FALSE(made({}, at::kMeta).ok());
}
