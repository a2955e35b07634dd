// Times one square GEMM per format and size, with a linear layer's layouts.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/experiments/info/product_rates.h"
#include "demos/record/scope.h"
#include "kernels/fp8_cast/fp8_cast_ops.h"
#include "kernels/narrow_product/narrow_product_ops.h"

namespace headroom::experiments {

namespace {

using record::Measurement;

constexpr BenchPatience kRatePatience{.least = 10, .most = 60, .seconds = 0.5},
    kQuick{.least = 5, .most = 20, .seconds = 0.1};

// Random numbers: ones would draw less power than a step's numbers and raise the clock.
at::Tensor operand(std::int64_t side, const at::TensorOptions& options) {
  return at::empty({side, side}, options).normal_(0, 0.02);
}

at::ScalarType type_of(std::string_view format) {
  return format == "bf16" || format == "fp8" ? at::kBFloat16 : format == "fp16" ? at::kHalf : at::kFloat;
}

BenchCall fp8_call(std::int64_t side, const at::TensorOptions& options) {
  const at::Tensor scalings = kernels::fp8_scalings(2, options);
  const at::Tensor not_scaled = at::zeros({1}, options.dtype(at::kInt));
  std::array<at::Tensor, 2> codes;
  for (std::int64_t i = 0; i < 2; ++i) {
    const at::Tensor x = operand(side, options);
    kernels::fp8_measure_(x, scalings[i], kernels::Fp8Format::kE4m3, /*keeps=*/false, not_scaled);
    codes[static_cast<std::size_t>(i)] =
        kernels::fp8_cast(x, scalings[i], kernels::Fp8Format::kE4m3, {.rows = true}).rows;
  }
  return [codes, scalings, y = at::empty({side, side}, options)]() mutable {
    kernels::fp8_product(y, {codes[0], scalings[0]}, {codes[1], scalings[1]}, {.fast_sums = true});
  };
}

BenchCall call_of(const ProductRateCase& one, at::Device device) {
  const at::TensorOptions options = at::TensorOptions().device(device).dtype(type_of(one.format));
  if (one.format == "fp8") return fp8_call(one.side, options);
  const at::Tensor x = operand(one.side, options), w = operand(one.side, options);
  return [x, w, y = at::empty_like(x), tf32 = one.format == "tf32"]() mutable {
    kernels::product(y, x, w.t(), {.tf32 = tf32});
  };
}

class ProductRatesRun final : public DemoRun {
 public:
  ProductRatesRun(std::vector<ProductRateCase> cases, bool quick, const RunSetting& setting)
      : cases_(std::move(cases)),
        device_(setting.place.device),
        cancel_(setting.cancel),
        patience_(quick ? kQuick : kRatePatience),
        clock_(device_) {}

  StepResult step(int index) override {
    record::mark_step(index);
    record::mark(record::Phase::kForward);
    const ProductRateCase& one = cases_[static_cast<std::size_t>(index)];
    const auto side = static_cast<double>(one.side);
    row_ = {.panel = Measurement::kProductRates,
            .variant = "matmul",
            .pass = "forward",
            .timing = clock_.main_timing(),
            .storage = std::string(one.format),
            .rows = one.side,
            .width = one.side,
            .flops = 2 * side * side * side};
    bool whole = true;
    try {
      whole = time(one);
    } catch (const c10::OutOfMemoryError&) {  // leaves a row without samples
    }
    clock_.wait();
    clock_.release();
    record::mark_step(-1);
    return whole ? StepResult::kDone : StepResult::kCancelled;
  }
  int steps() const override { return static_cast<int>(cases_.size()); }
  int marks_per_step() const override { return 3; }
  StepReport report() override { return {.measurements = {row_}}; }

 private:
  bool time(const ProductRateCase& one) {
    const BenchCall call = call_of(one, device_);
    call();
    const std::array samplers{clock_.main(call)};
    const auto times = time_in_turns(samplers, patience_, [this] { return is_set(cancel_); });
    if (!times) return false;
    set_time(row_, times->front());
    return true;
  }

  std::vector<ProductRateCase> cases_;
  at::Device device_;
  const std::atomic<bool>* cancel_;
  BenchPatience patience_;
  BenchClock clock_;
  Measurement row_;
};

// Emulated GEMMs do not show the device's rate.
bool is_emulated(const ProductRateCase& one, at::Device device) {
  const bool tf32 = one.format == "tf32";
  if (!tf32 && one.format != "fp8") return false;
  return !device.is_cuda() ||
         kernels::products_emulated(tf32 ? kernels::NarrowFormat::kTf32 : kernels::NarrowFormat::kFp8);
}

record::Result<std::unique_ptr<DemoRun>> make_product_rates(const record::Params& params, const RunSetting& setting) {
  if (setting.place.device.is_meta())
    return record::Error{"Times can be measured but not predicted: run it.", record::ErrorKind::kRefused};
  std::vector<ProductRateCase> cases = product_rate_cases(params, setting.place.target);
  if (cases.empty())
    return record::Error{"Matrix sides must be multiples of 16: set largest to 16 or more.",
                         record::ErrorKind::kRefused};
  std::erase_if(cases, [&](const ProductRateCase& one) { return is_emulated(one, setting.place.device); });
  if (cases.empty())
    return record::Error{"This device cannot multiply " + params.text("format") +
                             ", and the rate of an emulation would not be the device's. Choose another format.",
                         record::ErrorKind::kRefused};
  return std::unique_ptr<DemoRun>(std::make_unique<ProductRatesRun>(std::move(cases), params.on("quick"), setting));
}

}  // namespace

extern const DemoRunner kProductRatesRunner;
constinit const DemoRunner kProductRatesRunner = {.id = "product_rates", .read = &read_simply<make_product_rates>};

}  // namespace headroom::experiments
