// Runs one decoder block forward and backward, after a warm-up.
#include <memory>
#include <utility>

#include <ATen/ATen.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/custom_function.h>

#include "demos/engine/experiments/decoder_block.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/model/backward.h"
#include "demos/engine/llama/model/labels.h"
#include "demos/experiments/info/block_model.h"
#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

using record::Category;
using record::Phase;
using record::Scope;

constexpr int kBlockPasses = 2;  // the first pass loads kernels and chooses algorithms
constexpr std::uint16_t kLayer = 0;

// Makes x look like an earlier layer's output: x gets a gradient, and only its readers keep it alive. A leaf with
// requires_grad would stay alive until the end.
struct EntryFunction : torch::autograd::Function<EntryFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* /*ctx*/, const at::Tensor& x,
                            const at::Tensor& /*anchor*/) {
    return x;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* /*ctx*/,
                                                 torch::autograd::variable_list /*gradients*/) {
    return torch::autograd::variable_list(2);
  }
};

class BlockRun final : public DemoRun {
 public:
  BlockRun(const llama::Architecture& shape, const record::Params& params, const llama::ModelPlace& placement,
           const std::atomic<bool>* cancel)
      : block_(make_block(shape, placement, static_cast<std::uint64_t>(params.integer("seed")))),
        sizes_{params.integer("batch"), params.integer("seq"), shape.shape.hidden_size},
        options_(at::TensorOptions().device(placement.device).dtype(placement.type)),
        anchor_(at::empty({0}, options_).requires_grad_(true)),
        cancel_(cancel) {}

  StepResult step(int index) override {
    record::mark_step(index);
    pass();
    if (is_set(cancel_)) return StepResult::kCancelled;
    record::mark_step(-1);
    return StepResult::kDone;
  }
  int steps() const override { return kBlockPasses; }
  int marks_per_step() const override { return 4; }
  StepReport report() override {
    if (options_.device().is_cuda()) c10::cuda::getCurrentCUDAStream().synchronize();
    return {.tokens = sizes_[0] * sizes_[1]};
  }

 private:
  at::Tensor drawn(llama::Op op) const {
    const Scope scope(Category::kActivations, llama::number_of(op));
    return at::empty(sizes_, options_).normal_();
  }

  // The backward pass starts from an upstream gradient. Without an optimizer, gradients are freed at the end.
  void pass() {
    const at::AutoGradMode grad_mode(true);
    const Scope scope(Category::kActivations);
    at::Tensor x_BTH = EntryFunction::apply(drawn(llama::Op::kBlockInput), anchor_);
    llama::mark_backward(Phase::kForward, kLayer);
    const at::Tensor y_BTH = block_forward(block_, std::move(x_BTH));
    if (is_set(cancel_)) return;
    llama::mark_backward(Phase::kBackward, kLayer);
    llama::run_backward(y_BTH, drawn(llama::Op::kBlockUpstream));
    for (const at::Tensor& parameter : parameters_of_autograd(block_))
      llama::relabel(parameter.grad(), Category::kGradients);
    for (at::Tensor& parameter : parameters(block_)) parameter.mutable_grad() = at::Tensor();
  }

  DecoderBlock block_;
  std::vector<std::int64_t> sizes_;
  at::TensorOptions options_;
  at::Tensor anchor_;  // empty; makes the backward pass reach the input
  const std::atomic<bool>* cancel_;
};

// `auto` is fp32 on the CPU, where 16-bit types are slow.
at::ScalarType type_of(std::string_view storage, record::DeviceKind target) {
  if (storage == "fp16") return at::kHalf;
  if (storage == "fp32" || (storage == "auto" && target == record::DeviceKind::kCpu)) return at::kFloat;
  return at::kBFloat16;
}

record::Result<std::unique_ptr<DemoRun>> make_block_run(const record::Params& params, const RunSetting& setting) {
  const RunPlace& place = setting.place;
  if (place.device.is_meta())
    return record::Error{"A block can be run but not predicted.", record::ErrorKind::kRefused};
  const auto shape = block_model(params);
  if (!shape) return shape.error();
  const llama::ModelPlace placement{
      .device = place.device, .target = place.target, .type = type_of(params.text("storage"), place.target)};
  record::mark(Phase::kSetup);
  llama::take_blas_workspace(placement);
  return std::unique_ptr<DemoRun>(std::make_unique<BlockRun>(shape.value(), params, placement, setting.cancel));
}

}  // namespace

extern const DemoRunner kBlockRunner;
constinit const DemoRunner kBlockRunner = {.id = "block", .read = &read_simply<make_block_run>};

}  // namespace headroom::experiments
