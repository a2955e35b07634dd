// GEMM formats of linear layers: results, kept bytes, and refusals.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/engine/llama/model/weights/fp8_scales.h"
#include "demos/experiments/combinations.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/step_settings.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

}  // namespace

TEST_CASE("a tf32 step has losses close to, but different from, those in fp32") {
  const Settings switches =
      GENERATE(Settings{}, Settings{"loss=flce"}, Settings{"loss=flce", "loss_mode=lean"}, Settings{"loss=hf_2024"},
               Settings{"adapters=qlora"}, Settings{"fused.rms_norm=on", "fused.swiglu=on"});
  CAPTURE(text_of(switches));
  const Settings settings = joined(kSmallSettings, switches);
  const auto fp32 = losses(settings, 5), tf32 = losses(joined(settings, {"gemm=tf32"}), 5);
  CHECK(largest_difference(fp32, tf32) < 1e-3);
  CHECK(fp32 != tf32);
}

TEST_CASE("a tf32 step on the CPU has the fp32 step's allocations") {
  install_allocation_log();
  at::set_num_threads(1);
  const std::string loss = GENERATE("loss=plain", "loss=flce");
  const Settings settings = joined(kSmallSettings, {loss});
  check_equal(third_step(joined(settings, {"gemm=tf32"}), kCpu), third_step(settings, kCpu));
  check_planned(joined(settings, {"gemm=tf32"}));
}

TEST_CASE("fifty fp8 steps have losses close to, but different from, those in bf16") {
  const std::string scaling = GENERATE("fp8_scaling=current", "fp8_scaling=delayed");
  const Settings settings = joined(kSmallSettings, {"precision=bf16_mixed", "learning_rate=0.003"});
  const auto bf16 = losses(settings, 50), fp8 = losses(joined(settings, {"gemm=fp8", scaling}), 50);
  // Single steps may differ by more: the processor's rounding decides when the loss jumps.
  const auto end_of = [](const auto& all) { return std::accumulate(all.end() - 10, all.end(), 0.0) / 10; };
  CAPTURE(scaling, end_of(bf16), end_of(fp8), largest_difference(bf16, fp8));
  CHECK(bf16.back() < 0.8 * bf16.front());
  CHECK(std::abs(end_of(bf16) - end_of(fp8)) < 0.05 * end_of(bf16));
  CHECK(bf16 != fp8);
}

TEST_CASE("all ways to keep or recompute an fp8 GEMM's input give the same step") {
  const Settings plain = joined(kSmallSettings, {"precision=bf16", "gemm=fp8", "batch=2"});
  const Settings switches =
      GENERATE(Settings{"checkpointing=layer"}, Settings{"checkpointing=every"}, Settings{"checkpointing=selective"},
               Settings{"attention=eager"}, Settings{"fused.rms_norm=on", "fused.swiglu=on", "fused.rope=on"},
               Settings{"fused.rms_norm=on", "fused.swiglu=on", "fused.keep=on", "checkpointing=layer"},
               Settings{"offload.optimizer=host", "offload.parameters=on", "checkpointing=layer"},
               Settings{"loss=flce"}, Settings{"optimizer_in_backward=on"});
  CAPTURE(text_of(switches));
  const auto expected = losses(plain, 4), other = losses(joined(plain, switches), 4);
  CHECK(largest_difference(expected, other) < 0.01 * expected.front());
}

TEST_CASE("the sliced fp8 gradient of SwiGLU's product equals the whole one bit for bit") {
  // 8,448 tokens are two parts of 4,096 rows and one of 256. Kept codes need no parts.
  const Settings settings = joined(
      kSmallSettings, {"precision=bf16", "gemm=fp8", "batch=44", "seq=192", "fused.rms_norm=on", "fused.swiglu=on"});
  CHECK(predict::rows_at_once_in_fp8(8448) == 4096);
  CHECK(predict::rows_at_once_in_fp8(48) == 48);
  CHECK(predict::rows_at_once_in_fp8(98'304) == 12'288);
  const auto parts = losses(settings, 3), whole = losses(joined(settings, {"fused.keep=on"}), 3);
  CHECK(parts == whole);
  CHECK(parts[2] < parts[0]);
}

TEST_CASE("an fp8 step is planned as the CPU runs it, and keeps one byte per number of a GEMM's input") {
  install_allocation_log();
  at::set_num_threads(1);
  const Settings settings = joined(kSmallSettings, {"precision=bf16"});
  const auto bf16 = third_step(settings, kCpu), fp8 = third_step(joined(settings, {"gemm=fp8"}), kCpu);
  // The head's GEMM in bf16 allocates scratch on some processors.
  check_equal(fp8, third_step(joined(settings, {"gemm=fp8"}), kPlanForCpu));
  // fp8 saves half of two norms' results and of the MLP's product per layer. Attention keeps o_proj's input.
  constexpr record::Bytes kTokens = 48, kHidden = 64, kIntermediate = 96, kLayers = 3;
  const auto kept_bytes = [](const std::vector<Allocation>& log) {
    record::Bytes sum = 0;
    for (const Allocation& each : kept(log)) sum += each.bytes;
    return sum;
  };
  CHECK(kept_bytes(bf16) - kept_bytes(fp8) == kLayers * kTokens * (2 * kHidden + kIntermediate));
}

TEST_CASE("a side that fp8 does not support leaves GEMMs in bf16, and the run says so") {
  const Settings odd = joined(kSmallSettings, {"precision=bf16", "seq=23"});
  CHECK(losses(odd, 3) == losses(joined(odd, {"gemm=fp8"}), 3));
  const auto fact = [](const Settings& settings, record::DeviceKind device) {
    return predict::gemm_fact(predict::step_settings(params(settings)), device);
  };
  for (const record::DeviceKind device : {record::DeviceKind::kCpu, record::DeviceKind::kGpu})
    CHECK(fact(joined(odd, {"gemm=fp8"}), device) ==
          "GEMMs run in bf16, not in fp8: fp8 needs sides that are multiples of 16, but batch · seq is 46.");
  const Settings even = joined(kSmallSettings, {"precision=bf16", "gemm=fp8"});
  CHECK(fact(even, record::DeviceKind::kGpu).empty());
  CHECK(fact(even, record::DeviceKind::kCpu) ==
        "fp8 GEMMs are emulated: the CPU computes the same codes and adds in fp32.");
}

TEST_CASE("a tensor without a valid fp8 scale is counted, keeps its scale, and stays non-finite") {
  const auto scaling = GENERATE(predict::Fp8Scaling::kCurrent, predict::Fp8Scaling::kDelayed);
  llama::Fp8Scales scales(2, scaling, at::kCPU);
  const auto cast = [&](double first) {
    at::Tensor x = at::ones({16, 16}, at::kBFloat16);
    x[0][0].fill_(first);
    return scales.cast(x, 1, llama::Fp8Tensor::kInput, {.rows = true}).rows;
  };
  const auto scale = [&] { return scales.scaling(1, llama::Fp8Tensor::kInput)[kernels::kFp8Scale].item<float>(); };
  cast(2);
  scales.end_step();
  CHECK(scale() == 224);
  CHECK(scales.not_scaled() == 0);
  const at::Tensor codes = cast(std::numeric_limits<double>::infinity());
  scales.end_step();
  CHECK(scale() == 224);
  CHECK(scales.not_scaled() == 1);
  CHECK(std::isnan(kernels::fp8_numbers(codes)[0][0].item<double>()));
}

TEST_CASE("fp8 is refused with unsupported settings, with the reason") {
  const auto refused = [](const Settings& settings) {
    return experiments::refused_combination(params(joined({"gemm=fp8"}, settings))).value_or("");
  };
  CHECK(refused({"precision=bf16"}).empty());
  CHECK(refused({"precision=bf16_mixed"}).empty());
  for (const std::string precision : {"fp32", "fp16_mixed"})
    CHECK(refused({"precision=" + precision}) == "gemm=fp8 cannot be combined with precision=" + precision +
                                                     ": its GEMMs write outputs and gradients in bf16.");
  for (const std::string adapters : {"lora", "qlora"})
    CHECK(refused({"precision=bf16", "adapters=" + adapters}) ==
          "gemm=fp8 cannot be combined with adapters=" + adapters +
              ": adapters read their inputs in bf16, and a frozen weight keeps no input that fp8 could shrink.");
}

TEST_CASE("a CPU run says that tf32 is emulated, and a GPU run does not") {
  const auto step = predict::step_settings(params({"gemm=tf32"}));
  CHECK(predict::gemm_fact(step, record::DeviceKind::kCpu) ==
        "tf32 GEMMs are emulated: the CPU rounds operands to 10 fraction bits and adds in fp32.");
  CHECK(predict::gemm_fact(step, record::DeviceKind::kGpu).empty());
  CHECK(predict::gemm_fact(predict::step_settings(params({})), record::DeviceKind::kCpu).empty());
}

TEST_CASE("tf32 is refused with 16-bit precision, with the reason") {
  const auto refused = experiments::refused_combination(params({"precision=bf16", "gemm=tf32"}));
  CHECK(refused.value_or("") ==
        "gemm=tf32 cannot be combined with precision=bf16: tf32 GEMMs take fp32 operands, and 16-bit operands are not "
        "widened.");
}
