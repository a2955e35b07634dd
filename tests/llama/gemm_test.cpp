// Number formats of the linear layers' products: what a step computes with them, what it keeps, and what is refused.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/experiments/combinations.h"
#include "demos/predict/step_settings.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::test;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("a step by tf32 has losses near those of fp32, and its own") {
  const Settings switches =
      GENERATE(Settings{}, Settings{"loss=flce"}, Settings{"loss=flce", "loss_mode=lean"}, Settings{"loss=hf_2024"},
               Settings{"adapters=qlora"}, Settings{"fused.rms_norm=on", "fused.swiglu=on"});
  CAPTURE(text_of(switches));
  const Settings settings = joined(kSmallSettings, switches);
  const auto fp32 = losses(settings, 5), tf32 = losses(joined(settings, {"gemm=tf32"}), 5);
  CHECK(largest_difference(fp32, tf32) < 1e-3);
  CHECK(fp32 != tf32);
}

TEST_CASE("on the CPU a step by tf32 makes the allocations of the step by fp32") {
  install_allocation_log();
  at::set_num_threads(1);
  const std::string loss = GENERATE("loss=plain", "loss=flce");
  const Settings settings = joined(kSmallSettings, {loss});
  check_equal(third_step(joined(settings, {"gemm=tf32"}), kCpu), third_step(settings, kCpu));
  check_planned(joined(settings, {"gemm=tf32"}));
}

TEST_CASE("a run says that the CPU emulates tf32, and a GPU's does not") {
  const auto step = predict::step_settings(params({"gemm=tf32"}));
  CHECK(predict::gemm_fact(step, record::DeviceKind::kCpu) ==
        "Products by tf32 are emulated: the CPU rounds operands to 10 bits of fraction, and sums are fp32.");
  CHECK(predict::gemm_fact(step, record::DeviceKind::kGpu).empty());
  CHECK(predict::gemm_fact(predict::step_settings(params({})), record::DeviceKind::kCpu).empty());
}

TEST_CASE("tf32 is refused beside 16 bits, with its reason") {
  const auto refused = experiments::refused_combination(params({"precision=bf16", "gemm=tf32"}));
  CHECK(refused.value_or("") ==
        "gemm=tf32 does not go with precision=bf16: tf32 is fp32 with fewer bits, and 16 bits are not widened to it.");
}
