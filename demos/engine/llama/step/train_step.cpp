// One training step, with its marks.
#include "demos/engine/llama/step/train_step.h"

#include <algorithm>
#include <span>

#include "demos/engine/llama/model/backward.h"
#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/engine/llama/step/data.h"
#include "kernels/gradient_check/gradient_check_ops.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Phase;
using record::Scope;

void stop_if_cancelled(const TrainOptions& options) {
  if (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed)) throw Cancelled();
}

std::uint16_t tag_of(std::int64_t layer) { return static_cast<std::uint16_t>(layer); }

// Forward and backward of one micro-batch. Callbacks in backward refer to it, so it outlives them.
struct Pass {
  const Model& model;
  const TrainOptions& options;
  std::uint16_t micro_batch = 0;
  at::Tensor upstream;     // backward begins with it, fp32 []; undefined: 1
  bool evaluates = false;  // forward and loss only, with autograd off

  bool last() const { return micro_batch + 1 == options.micro_batches; }
  Phase phase(Phase of_step) const { return evaluates ? Phase::kEvaluation : of_step; }
  void mark(Phase phase, std::uint16_t layer = record::kNoLayer) const { mark_backward(phase, layer, micro_batch); }
};

// PyTorch's backward allocates a norm's gradient as an activation. Not every layer has each norm.
void relabel_norm_gradient(const at::Tensor& weight) {
  if (weight.defined() && weight.grad().defined()) relabel(weight.grad(), Category::kGradients);
}

// Returns x before layer i (i = L: before the final norm). When backward reaches this border, the layers after it are
// done.
at::Tensor border(const Pass& pass, std::int64_t i, const at::Tensor& x) {
  stop_if_cancelled(pass.options);
  const auto backward = [&pass, i] {
    stop_if_cancelled(pass.options);
    if (i < pass.model.config.num_layers) {
      const LayerWeights& done = pass.model.layers[static_cast<std::size_t>(i)];
      for (const LayerMember& member : layer_members())
        if (is_norm(member.kind)) relabel_norm_gradient(done.*member.tensor);
      for (LayerHooks* hooks : pass.options.hooks) {
        hooks->after_layer(i, Phase::kBackward);
        hooks->gradients_added(i, pass.last());
      }
    } else {
      relabel_norm_gradient(pass.model.final_norm_H);
      for (LayerHooks* hooks : pass.options.hooks) hooks->after_outer(OuterPart::kHead, Phase::kBackward);
    }
    pass.mark(Phase::kBackward, i > 0 ? tag_of(i - 1) : record::kNoLayer);
    if (i == 0 || pass.options.recompute_every > 0) return;
    for (LayerHooks* hooks : pass.options.hooks) hooks->before_layer(i - 1, Phase::kBackward);
  };
  return on_backward(x, backward);
}

void look_for_not_finite(const TrainOptions& options, std::int64_t layer, const at::Tensor& x_BTH) {
  if (!options.not_finite.defined()) return;
  const Scope scope(number_of(Op::kFiniteCheck));  // names the launch in traces
  const at::Tensor x = x_BTH.detach();
  kernels::check_finite_(std::span(&x, 1), options.not_finite.narrow(0, layer, 1));
}

at::Tensor run_layers(const Pass& pass, std::int64_t first, std::int64_t end, at::Tensor x_BTH, Phase phase) {
  for (std::int64_t i = first; i < end; ++i) {
    if (i > first) x_BTH = border(pass, i, x_BTH);
    pass.mark(phase, tag_of(i));
    for (LayerHooks* hooks : pass.options.hooks) hooks->before_layer(i, phase);
    x_BTH = layer_forward(pass.model, i, x_BTH,
                          {.selective = pass.options.selective && !pass.evaluates,
                           .for_backward = phase == Phase::kRecompute && i + 1 == end});
    if (phase == Phase::kForward) look_for_not_finite(pass.options, i, x_BTH);
    for (LayerHooks* hooks : pass.options.hooks) hooks->after_layer(i, phase);
  }
  return x_BTH;
}

at::Tensor run_segment(const Pass& pass, std::int64_t first, std::int64_t end, const at::Tensor& x_BTH) {
  if (pass.evaluates || pass.options.recompute_every == 0)
    return run_layers(pass, first, end, x_BTH, pass.phase(Phase::kForward));
  return checkpoint(x_BTH,
                    {.layers = [&pass, first, end](const at::Tensor& x,
                                                   Phase phase) { return run_layers(pass, first, end, x, phase); },
                     .before_backward = [&pass, end] { pass.mark(Phase::kBackward, tag_of(end - 1)); },
                     .store = pass.options.checkpoints,
                     .number = first / pass.options.recompute_every});
}

at::Tensor forward(const Pass& pass, const at::Tensor& ids_BT, const at::Tensor& targets_BT) {
  const Model& model = pass.model;
  const std::int64_t layers = model.config.num_layers;
  const std::int64_t stride = std::max<std::int64_t>(pass.options.recompute_every, 1);
  const Phase phase = pass.phase(Phase::kForward);
  pass.mark(phase);
  for (LayerHooks* hooks : pass.options.hooks) hooks->before_outer(OuterPart::kEmbedding, phase);
  at::Tensor x_BTH =
      embedding(model.embed_tokens_VH, ids_BT, model.fused.embedding, number_of(Op::kEmbedding), model.target);
  for (LayerHooks* hooks : pass.options.hooks) hooks->after_outer(OuterPart::kEmbedding, phase);
  for (std::int64_t first = 0; first < layers; first += stride) {
    x_BTH = border(pass, first, x_BTH);
    x_BTH = run_segment(pass, first, std::min(first + stride, layers), x_BTH);
  }
  x_BTH = border(pass, layers, x_BTH);
  pass.mark(phase);
  for (LayerHooks* hooks : pass.options.hooks) hooks->before_outer(OuterPart::kHead, phase);
  const auto norm = model.fused.rms_norm ? &fused_norm : &rms_norm;
  x_BTH = norm(x_BTH, model.final_norm_H, model.config.rms_norm_eps, number_of(Op::kFinalNorm));
  pass.mark(pass.phase(Phase::kLoss));
  const at::Tensor loss = lm_loss(model, x_BTH, targets_BT, pass.options.loss, pass.upstream);
  if (pass.evaluates)
    for (LayerHooks* hooks : pass.options.hooks) hooks->after_outer(OuterPart::kHead, phase);
  return loss;
}

// Returns the loss, detached; gradients are added to `.grad`.
at::Tensor one_pass(const Pass& pass, const at::Tensor& ids_BT, const at::Tensor& targets_BT) {
  const at::Tensor loss = forward(pass, ids_BT, targets_BT);
  pass.mark(Phase::kBackward);
  set_backward_label(Category::kLogits, number_of(Op::kNll));
  run_backward(loss, pass.upstream);
  return loss.detach();
}

std::int64_t terms_of_mean(const TrainOptions& options) { return options.micro_batches * options.ranks; }

// Upstream gradient for a loss that is the mean over micro-batches and ranks, times the loss scale.
at::Tensor upstream_of(const TrainOptions& options, at::Device device) {
  const std::int64_t terms = terms_of_mean(options);
  if (terms == 1) return options.loss_scale;
  const Scope scope(Category::kOther, number_of(Op::kNll));
  const double share = 1.0 / static_cast<double>(terms);
  if (options.loss_scale.defined()) return options.loss_scale * share;
  return at::full({}, share, at::TensorOptions().device(device).dtype(at::kFloat));
}

// In place.
at::Tensor mean_of(const at::Tensor& sum, const TrainOptions& options) {
  if (options.sum_over_ranks) options.sum_over_ranks(sum);
  const std::int64_t terms = terms_of_mean(options);
  return terms == 1 ? sum : sum.div_(terms);
}

struct Portion {
  at::Tensor ids_BT, targets_BT;
};

template <class LossOf>
at::Tensor sum_of_losses(const at::Tensor& ids_BT, const at::Tensor& targets_BT, std::int64_t portions,
                         LossOf loss_of) {
  TORCH_CHECK(ids_BT.size(0) % portions == 0, ids_BT.size(0), " samples are not ", portions, " equal micro-batches");
  const std::int64_t samples = ids_BT.size(0) / portions;
  at::Tensor sum;
  for (std::int64_t m = 0; m < portions; ++m) {
    const Portion portion{.ids_BT = ids_BT.narrow(0, m * samples, samples),
                          .targets_BT = targets_BT.narrow(0, m * samples, samples)};
    const at::Tensor loss = loss_of(m, portion);
    sum = m == 0 ? loss : sum.add_(loss);
  }
  return sum;
}

// Runs forward and backward. Returns the sum of the micro-batches' losses.
at::Tensor run_passes(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                      const TrainOptions& options) {
  const at::AutoGradMode grad_mode(true);
  const Scope scope(Category::kActivations);
  const at::Tensor upstream = upstream_of(options, ids_BT.device());
  return sum_of_losses(ids_BT, targets_BT, options.micro_batches, [&](std::int64_t m, const Portion& portion) {
    const Pass pass{.model = model, .options = options, .micro_batch = tag_of(m), .upstream = upstream};
    const at::Tensor loss = one_pass(pass, portion.ids_BT, portion.targets_BT);
    for (LayerHooks* hooks : options.hooks) hooks->gradients_added(kOuterLayer, pass.last());
    return loss;
  });
}

at::Tensor step_on_device(Model& model, Optimizer& optimizer, const at::Tensor& tokens_2BT,
                          const TrainOptions& options) {
  at::Tensor losses;
  try {
    losses = run_passes(model, tokens_2BT.select(0, 0), tokens_2BT.select(0, 1), options);
  } catch (...) {
    optimizer.drop_gradients();  // of finished layers
    throw;
  }
  record::mark(Phase::kOptimizer);
  const auto outer_ready = [&options] {
    for (LayerHooks* hooks : options.hooks) hooks->before_outer_update();
  };
  optimizer.step(options.ranks > 1 ? std::function<void()>(outer_ready) : nullptr);
  // Between the sums of gradients and the gathers of weights, so that the device waits for neither.
  const at::Tensor loss = mean_of(losses, options);
  for (LayerHooks* hooks : options.hooks) hooks->weights_updated();
  if (model.fp8) model.fp8->end_step();
  optimizer.drop_gradients();
  return loss;
}

}  // namespace

at::Tensor forward_backward(const Model& model, const at::Tensor& ids_BT, const at::Tensor& targets_BT,
                            const TrainOptions& options) {
  return mean_of(run_passes(model, ids_BT, targets_BT, options), options);
}

at::Tensor evaluation_loss(const Model& model, at::Tensor host_tokens_2BT, const TrainOptions& options) {
  const at::AutoGradMode grad_mode(false);
  const Scope scope(Category::kActivations);
  TrainOptions apart = options;
  apart.loss.output = nullptr;  // evaluation must not replace the training loop's output
  const at::Tensor tokens_2BT = upload(host_tokens_2BT, model.embed_tokens_VH.device());
  host_tokens_2BT = at::Tensor();  // on a CPU tokens_2BT is the same tensor; free it where a device's is freed
  const auto loss_of = [&](std::int64_t m, const Portion& portion) {
    const Pass pass{.model = model, .options = apart, .micro_batch = tag_of(m), .upstream = {}, .evaluates = true};
    return forward(pass, portion.ids_BT, portion.targets_BT);
  };
  if (model.fp8) model.fp8->set_training(false);
  const at::Tensor sum = sum_of_losses(tokens_2BT.select(0, 0), tokens_2BT.select(0, 1), apart.micro_batches, loss_of);
  if (model.fp8) model.fp8->set_training(true);
  return mean_of(sum, apart);
}

at::Tensor train_step(Model& model, Optimizer& optimizer, const at::Tensor& host_tokens_2BT,
                      const TrainOptions& options, int index,
                      const std::function<void(const at::Tensor& loss)>& behind) {
  record::mark_step(index);
  const auto uploaded = [&] { return upload(host_tokens_2BT, model.embed_tokens_VH.device()); };
  if (options.graph != nullptr && options.graph->recorded()) record::mark(Phase::kForward);
  const at::Tensor tokens_2BT = options.graph == nullptr ? uploaded() : options.graph->load(host_tokens_2BT, uploaded);
  const auto step = [&] { return step_on_device(model, optimizer, tokens_2BT, options); };
  const at::Tensor loss = options.graph == nullptr ? step() : options.graph->run(step);
  if (behind) behind(loss);
  record::mark_step(-1);
  return loss;
}

int marks_per_step(const Config& config, const TrainOptions& options) {
  // Marks: embedding, layers, final norm, loss; in backward head, layers, embedding.
  const auto layers = static_cast<int>(config.num_layers);
  int pass = 5 + 2 * layers;
  if (const auto every = static_cast<int>(options.recompute_every); every > 0)
    pass += layers + (layers + every - 1) / every;  // each layer's recompute, each segment's backward
  for (const LayerHooks* hooks : options.hooks) pass += hooks->marks_per_pass(config);
  return 3 + static_cast<int>(options.micro_batches) * pass;  // begin, optimizer, end
}

int marks_per_evaluation(const Config& config, const TrainOptions& options) {
  // Marks: embedding, layers, final norm, loss.
  return static_cast<int>(options.micro_batches * (3 + config.num_layers));
}

}  // namespace headroom::llama
