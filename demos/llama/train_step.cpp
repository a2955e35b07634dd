// One training step, with its marks.
#include "demos/llama/train_step.h"

#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/autograd.h>

#include "demos/llama/checkpoint.h"
#include "demos/llama/labels.h"
#include "demos/llama/linear.h"
#include "demos/llama/meta_kernels.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Phase;
using record::Scope;

// Backward runs on the calling thread, on CUDA too: one thread makes every allocation, in one order, and cuBLAS keeps
// one workspace instead of two.
class SingleThreadedBackward {
 public:
  SingleThreadedBackward() : before_(c10::AutogradState::get_tls_state().get_multithreading_enabled()) {
    c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  }
  ~SingleThreadedBackward() { c10::AutogradState::get_tls_state().set_multithreading_enabled(before_); }
  SingleThreadedBackward(const SingleThreadedBackward&) = delete;
  SingleThreadedBackward& operator=(const SingleThreadedBackward&) = delete;

 private:
  bool before_;
};

void stop_if_cancelled(const TrainOptions& options) {
  if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) throw Cancelled();
}

std::uint16_t tag_of(std::int64_t layer) { return static_cast<std::uint16_t>(layer); }

// A norm's gradient comes out of PyTorch's own backward, among activations.
void relabel_norm_gradient(const at::Tensor& weight) { relabel(weight.grad(), Category::kGradients); }

// x before layer i (i = L: before the final norm). In backward, what stands behind this border is done.
at::Tensor border(const Model& model, const TrainOptions& options, std::int64_t i, const at::Tensor& x) {
  stop_if_cancelled(options);
  const auto backward = [&model, &options, i] {
    stop_if_cancelled(options);
    if (i < model.config.num_layers) {
      const LayerWeights& done = model.layers[static_cast<std::size_t>(i)];
      relabel_norm_gradient(done.attention_norm_H);
      relabel_norm_gradient(done.mlp_norm_H);
      for (LayerHooks* hooks : options.hooks) hooks->gradients_ready(i);
    } else {
      relabel_norm_gradient(model.final_norm_H);
    }
    mark_backward(Phase::kBackward, i > 0 ? tag_of(i - 1) : record::kNoLayer);
  };
  return on_backward(x, backward);
}

at::Tensor run_layer(const Model& model, const TrainOptions& options, std::int64_t i, const at::Tensor& x) {
  const auto layer = [&model, i](const at::Tensor& input) { return layer_forward(model, i, input); };
  if (options.checkpointing == Checkpointing::kOff) return layer(x);
  return checkpoint(x, {.layer = layer,
                        .before_recompute =
                            [&options, i] {
                              mark_backward(Phase::kRecompute, tag_of(i));
                              for (LayerHooks* hooks : options.hooks) hooks->before_layer(i, Phase::kRecompute);
                            },
                        .before_backward = [i] { mark_backward(Phase::kBackward, tag_of(i)); }});
}

at::Tensor forward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                   const TrainOptions& options) {
  const Operators& op = operators();
  record::mark(Phase::kForward);
  at::Tensor x_BTH = embedding(model.embed_tokens_VH, ids_BT, model.fused.embedding, op.embedding);
  for (std::int64_t i = 0; i < model.config.num_layers; ++i) {
    x_BTH = border(model, options, i, x_BTH);
    record::mark(Phase::kForward, tag_of(i));
    for (LayerHooks* hooks : options.hooks) hooks->before_layer(i, Phase::kForward);
    x_BTH = run_layer(model, options, i, x_BTH);
    for (LayerHooks* hooks : options.hooks) hooks->after_layer(i, Phase::kForward);
  }
  x_BTH = border(model, options, model.config.num_layers, x_BTH);
  record::mark(Phase::kForward);
  const auto norm = model.fused.rms_norm ? &fused_norm : &rms_norm;
  x_BTH = norm(x_BTH, model.final_norm_H, model.config.rms_norm_eps, op.final_norm);
  record::mark(Phase::kLoss);
  return lm_loss(model, x_BTH, targets_BT, options.loss);
}

// A backward that ends in an exception leaves the nodes that were ready to run, with their gradients and the graph
// behind them, in a queue of the engine's that belongs to this thread. The engine throws them away before it runs
// anything else: here a backward through nothing, which allocates nothing either.
void drop_pending_backward() {
  const at::AutoGradMode grad_mode(true);
  const SingleThreadedBackward single_threaded;
  const at::Tensor nothing = at::empty({0}).requires_grad_(true);
  torch::autograd::backward({nothing}, {at::empty({0})});
}

at::Tensor upload(const at::Tensor& host_tokens, at::Device device) {
  const Scope scope(Category::kOther, operators().tokens);
  // From pageable memory the driver has taken the bytes when this returns, and the host does not wait for the device.
  return host_tokens.to(device, /*non_blocking=*/true);
}

}  // namespace

at::Tensor forward_backward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                            const TrainOptions& options) {
  const at::AutoGradMode grad_mode(true);
  const SingleThreadedBackward single_threaded;
  const Scope scope(Category::kActivations);  // of everything that says nothing else
  const at::Tensor loss = forward(model, ids_BT, targets_BT, options);
  const BackwardLabels labels;
  mark_backward(Phase::kBackward);
  set_backward_label(Category::kLogits, operators().nll);
  try {
    const EngineCall engine_call;
    torch::autograd::backward({loss}, {});
  } catch (...) {
    drop_pending_backward();
    throw;
  }
  for (LayerHooks* hooks : options.hooks) hooks->gradients_ready(kOuterLayer);
  return loss.detach();
}

at::Tensor train_step(Model& model, Optimizer& optimizer, const at::Tensor& host_tokens_2BT, const TrainOptions& options,
                      int index) {
  record::mark_step(index);
  const at::Tensor tokens_2BT = upload(host_tokens_2BT, model.embed_tokens_VH.device());
  at::Tensor loss;
  try {
    loss = forward_backward(model, tokens_2BT.select(0, 0), tokens_2BT.select(0, 1), options);
  } catch (...) {
    optimizer.drop_gradients();  // of the layers that were done
    throw;
  }
  record::mark(Phase::kOptimizer);
  optimizer.step();
  optimizer.drop_gradients();
  record::mark_step(-1);
  return loss;
}

int marks_per_step(const Config& config, const TrainOptions& options) {
  // Begin, embedding, layers, final norm, loss; backward's head, layers, embedding; optimizer, end.
  const auto layers = static_cast<int>(config.num_layers);
  const int recompute = options.checkpointing == Checkpointing::kLayer ? 2 * layers : 0;
  return 8 + 2 * layers + recompute;
}

}  // namespace headroom::llama
