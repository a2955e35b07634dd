// Quantized moments equal the optimizer kernel's, and errors are attributed correctly.
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <string>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/step/quantisation_error.h"
#include "demos/experiments/demo.h"
#include "demos/llama/config.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using llama::QuantisationMap;

const std::filesystem::path kText = HEADROOM_SOURCE_DIR "/tests/llama/reference/make_reference.py";

}  // namespace

TEST_CASE("the composed dynamic map with blocks of 256 equals the optimizer's kernel") {
  const bool is_signed = GENERATE(true, false);
  at::manual_seed(1);
  at::Tensor x = at::randn({1000}) * at::exp(at::randn({1000}) * 3);
  if (!is_signed) x = x.square();
  x.narrow(0, 256, 256).zero_();
  const auto [codes, absmax] = kernels::quantise_blockwise(x, is_signed);
  const at::Tensor kernel = kernels::dequantise_blockwise(codes, absmax, is_signed, 1000);
  const at::Tensor composed =
      llama::quantised_and_back(x, llama::map_values(QuantisationMap::kDynamic, is_signed, at::kCPU), 256);
  CHECK(at::allclose(kernel, composed, 1e-6, 0));
  CHECK_FALSE(at::allclose(kernel, x, 1e-3, 0));
}

TEST_CASE("errors are counted by their number's magnitude") {
  // The largest number is 1; linear steps are 1/127.
  const std::vector<at::Tensor> x{at::tensor({1.0F, 0.25F, 1.0F / 127, 0.001F, 0.0F, -0.001F})};
  const record::Histogram h = llama::quantisation_error("x", x, QuantisationMap::kLinear, true, 64);
  const auto at_exponent = [&](int exponent) { return static_cast<std::size_t>(exponent - h.low_exponent); };
  CHECK(h.zeros == 1);
  CHECK(h.counts.at(at_exponent(0)) == 1);
  CHECK(h.errors.at(at_exponent(0)) == 0);
  CHECK(h.errors.at(at_exponent(-2)) == Approx(std::abs(32 / 127.0 - 0.25) / 0.25).epsilon(1e-4));  // 31.75 steps
  CHECK(h.errors.at(at_exponent(-7)) == Approx(0).margin(1e-6));
  CHECK(h.counts.at(at_exponent(-10)) == 2);
  CHECK(h.errors.at(at_exponent(-10)) == 1);  // rounds to 0
  CHECK(h.errors.size() == h.counts.size());
}

TEST_CASE("the demo trains, and reports the errors of every map and block after its last step") {
  const experiments::DemoInfo* info = experiments::find_demo("moments");
  REQUIRE(info != nullptr);
  record::Params params(info->schema);
  for (const char* setting : {"steps=3", "batch=1", "seq=32"}) REQUIRE(params.set_assignment(setting).ok());
  const experiments::DemoRunner* runner = experiments::find_runner("moments");
  REQUIRE(runner != nullptr);
  auto made = experiments::make_run(*runner, params, {.place = {.device = at::kCPU}, .course_text = kText});
  REQUIRE(made.ok());
  experiments::DemoRun& run = *made.value();
  std::map<std::string, record::Histogram> by_name;
  for (int i = 0; i < run.steps(); ++i) {
    run.step(i);
    const experiments::StepReport report = run.report();
    CHECK(report.histograms.empty() == (i < 2));
    for (const record::Histogram& h : report.histograms) by_name[h.name] = h;
  }
  REQUIRE(by_name.size() == 12);
  const auto mean_error = [&](const std::string& name) {
    const record::Histogram& h = by_name.at(name);
    double sum = 0;
    std::int64_t numbers = 0;
    for (std::size_t i = 0; i < h.counts.size(); ++i) {
      sum += h.errors[i] * static_cast<double>(h.counts[i]);
      numbers += h.counts[i];
    }
    CHECK(numbers + h.zeros == llama::num_parameters(*llama::find_config("tiny")));
    CHECK(h.step == 2);
    return sum / static_cast<double>(numbers);
  };
  for (const char* moment : {"first_moment", "second_moment"}) {
    const std::string name = moment;
    CAPTURE(name, mean_error(name + ".dynamic.256"), mean_error(name + ".linear.256"));
    CHECK(mean_error(name + ".dynamic.256") < 0.5 * mean_error(name + ".linear.256"));
    CHECK(mean_error(name + ".dynamic.64") < mean_error(name + ".dynamic.2048"));
  }

  CHECK_FALSE(experiments::make_run(*runner, params, {.place = {.device = at::kMeta}, .course_text = kText}).ok());
}
