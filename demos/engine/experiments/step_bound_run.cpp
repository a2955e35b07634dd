// Times a copy, then each GEMM of a step with the step's layouts.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/predict/time/step_bound.h"
#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

using record::Bytes;
using record::Measurement;

constexpr Bytes kCopy = Bytes{1} << 30, kCopyCpu = Bytes{1} << 26;  // bytes read; as many are written
constexpr BenchPatience kPatience{.least = 10, .most = 60, .seconds = 0.3};

at::Tensor operand(std::int64_t rows, std::int64_t columns, const at::TensorOptions& options) {
  return at::empty({rows, columns}, options).normal_(0, 0.02);
}

BenchCall call_of(const predict::StepProduct& p, const at::TensorOptions& options) {
  const at::Tensor x_NI = operand(p.tokens, p.inputs, options), w_OI = operand(p.outputs, p.inputs, options);
  const at::Tensor dy_NO = operand(p.tokens, p.outputs, options);
  switch (p.kind) {
    case predict::ProductKind::kOutput:
      return [x_NI, w_OI, out = dy_NO]() mutable { at::mm_out(out, x_NI, w_OI.t()); };
    case predict::ProductKind::kInputGradient:
      return [dy_NO, w_OI, out = x_NI]() mutable { at::mm_out(out, dy_NO, w_OI); };
    case predict::ProductKind::kWeightGradient:
      return [dy_NO, x_NI, out = w_OI]() mutable { at::mm_out(out, dy_NO.t(), x_NI); };
  }
  return {};
}

class StepBoundRun final : public DemoRun {
 public:
  StepBoundRun(std::vector<predict::StepProduct> products, at::ScalarType type, const RunSetting& setting)
      : products_(std::move(products)),
        options_(at::TensorOptions().device(setting.place.device).dtype(type)),
        cancel_(setting.cancel),
        clock_(setting.place.device) {}

  StepResult step(int index) override {
    record::mark_step(index);
    record::mark(record::Phase::kForward);
    row_ = index == 0 ? copy() : product(products_[static_cast<std::size_t>(index - 1)]);
    clock_.release();
    record::mark_step(-1);
    return row_.samples > 0 ? StepResult::kDone : StepResult::kCancelled;
  }
  int steps() const override { return static_cast<int>(products_.size()) + 1; }
  int marks_per_step() const override { return 3; }
  StepReport report() override { return {.measurements = {row_}}; }

 private:
  Measurement timed(const BenchCall& call, Measurement row) {
    call();
    const std::array samplers{clock_.main(call)};
    const auto times = time_in_turns(samplers, kPatience, [this] { return is_set(cancel_); });
    if (!times) return row;  // a row without samples
    row.panel = Measurement::kStepBound;
    row.timing = clock_.main_timing();
    set_time(row, times->front());
    return row;
  }

  Measurement copy() {
    const Bytes bytes = clock_.gpu() ? kCopy : kCopyCpu;
    const at::Tensor from = at::zeros({bytes}, options_.dtype(at::kByte)), to = at::empty_like(from);
    return timed([from, to] { to.copy_(from); }, {.variant = "copy", .rows = 1, .width = bytes, .bytes = 2 * bytes});
  }

  Measurement product(const predict::StepProduct& p) {
    return timed(call_of(p, options_), {.variant = "matmul",
                                        .pass = name_of(p.kind),
                                        .storage = options_.dtype() == at::kFloat  ? "fp32"
                                                   : options_.dtype() == at::kHalf ? "fp16"
                                                                                   : "bf16",
                                        .label = p.layer,
                                        .rows = p.tokens,
                                        .width = p.outputs,
                                        .vocab = p.inputs,
                                        .flops = p.flops()});
  }

  std::vector<predict::StepProduct> products_;
  at::TensorOptions options_;
  const std::atomic<bool>* cancel_;
  BenchClock clock_;
  Measurement row_;
};

record::Result<std::unique_ptr<DemoRun>> make_step_bound(const record::Params& params, const RunSetting& setting) {
  if (setting.place.device.is_meta())
    return record::Error{"Times can be measured but not predicted: run it.", record::ErrorKind::kRefused};
  const std::string_view storage = params.text("storage");
  const bool gpu = setting.place.device.is_cuda();
  const at::ScalarType type = storage == "fp32" || (storage == "auto" && !gpu) ? at::kFloat
                              : storage == "fp16"                              ? at::kHalf
                                                                               : at::kBFloat16;
  predict::StepBound bound =
      predict::step_bound(*llama::find_config(params.text("model")), {.tokens = params.integer("tokens")});
  return std::unique_ptr<DemoRun>(std::make_unique<StepBoundRun>(std::move(bound.products), type, setting));
}

}  // namespace

extern const DemoRunner kStepBoundRunner;
constinit const DemoRunner kStepBoundRunner = {.id = "step_bound", .read = &read_simply<make_step_bound>};

}  // namespace headroom::experiments
