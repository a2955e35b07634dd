// Issues the sums of a layer's gradients as one group, and takes this rank's part of the result.
#include "demos/engine/llama/ranks/reduced_gradients.h"

#include <utility>

#include "demos/engine/llama/model/labels.h"

namespace headroom::llama {

namespace {

using predict::Zero;
using record::Category;
using record::Scope;

std::int64_t layer_of(const Parameter& weight) {
  return weight.layer == record::kNoLayer ? kOuterLayer : std::int64_t{weight.layer};
}

at::Tensor flat(const at::Tensor& tensor) { return tensor.detach().view({-1}); }

}  // namespace

ReducedGradients::ReducedGradients(const predict::ParallelSettings& parallel, RankAxes axes,
                                   const GatheredWeights* gathered)
    : parallel_(parallel), axes_(axes), gathered_(gathered) {}

std::vector<Parameter> ReducedGradients::parts(std::vector<Parameter> weights) {
  const at::AutoGradMode grad_mode(false);
  std::vector<Parameter> all;
  for (Parameter& each : weights) {
    Weight weight{.whole = each.tensor, .layer = each.layer, .op = each.op};
    if (axes_.shards == nullptr) {
      weight.cut.slice = each.tensor.numel();
      weight.slice = each.tensor;
      all.push_back(each);
      weights_[layer_of(each)].push_back(std::move(weight));
      continue;
    }
    const int rank = axes_.shards->rank(), ranks = axes_.shards->ranks();
    weight.cut =
        each.is_matrix() ? predict::cut_of(each.tensor.numel(), ranks) : predict::Cut{.rest = each.tensor.numel()};
    const std::int64_t sliced = weight.cut.slice * ranks;
    const Share* const share = gathered_ == nullptr ? nullptr : gathered_->share_of(each.tensor);
    weight.is_view = share == nullptr;
    const auto add = [&](at::Tensor& part, const at::Tensor* held, std::int64_t first, std::int64_t count, bool once) {
      if (count == 0) return;
      part = held != nullptr ? *held : flat(each.tensor).narrow(0, first, count);
      all.push_back(
          {.name = each.name,
           .tensor = part,
           .layer = each.layer,
           .op = each.op,
           .part = Part{.first = first, .shape = each.tensor.sizes().vec(), .elsewhere = !once && rank != 0}});
    };
    add(weight.slice, share == nullptr ? nullptr : &share->slice, rank * weight.cut.slice, weight.cut.slice, true);
    add(weight.rest, share == nullptr ? nullptr : &share->rest, sliced, weight.cut.rest, false);
    weights_[layer_of(each)].push_back(std::move(weight));
  }
  return all;
}

void ReducedGradients::before_layer(std::int64_t layer, record::Phase phase) {
  if (const auto found = arrives_.find(layer); found != arrives_.end()) {
    found->second.device_waits();
    arrives_.erase(found);
  }
  for (LayerHooks* hooks : then_) hooks->before_layer(layer, phase);
}

void ReducedGradients::after_layer(std::int64_t layer, record::Phase phase) {
  for (LayerHooks* hooks : then_) hooks->after_layer(layer, phase);
}

void ReducedGradients::gradients_added(std::int64_t layer, bool last) {
  if (!last && !each_micro_batch()) return;
  const at::AutoGradMode grad_mode(false);
  waiting_.push_back(layer);
  for (const Weight& weight : weights_[layer])
    if (weight.whole.grad().defined()) waiting_bytes_ += static_cast<record::Bytes>(weight.whole.grad().nbytes());
  const bool full = waiting_bytes_ >= parallel_.bucket || layer == kOuterLayer;
  if (!full) return;
  finish_running();
  start(last);
  const bool read_before_update = !last || !then_.empty();
  if (layer == kOuterLayer && read_before_update) finish_running();
}

void ReducedGradients::start(bool last) {
  Reduction reduction{.layers = std::exchange(waiting_, {}), .last = last};
  waiting_bytes_ = 0;
  for (const std::int64_t layer : reduction.layers) {
    for (const Weight& weight : weights_[layer]) {
      const at::Tensor gradient = weight.whole.grad();
      if (!gradient.defined()) continue;
      Sum sum{.weight = &weight, .gradient = flat(gradient), .summed = flat(gradient)};
      if (parallel_.fp32_sums && gradient.scalar_type() != at::kFloat) {
        const Scope scope(Category::kGradients, number_of(Op::kSummedGradients));
        sum.summed = sum.gradient.to(at::kFloat);
      }
      reduction.sums.push_back(std::move(sum));
    }
  }
  start_sums(reduction);
  reduction.done = axis().done();
  running_ = std::move(reduction);
}

void ReducedGradients::start_sums(const Reduction& reduction) const {
  std::vector<Sliced> slices;
  std::vector<at::Tensor> wholes;
  for (const Sum& sum : reduction.sums) {
    const predict::Cut& cut = sum.weight->cut;
    if (axes_.shards == nullptr) {
      wholes.push_back(sum.summed);
      continue;
    }
    const std::int64_t sliced = cut.slice * axes_.shards->ranks();
    if (sliced > 0)
      slices.push_back({.whole = sum.summed.narrow(0, 0, sliced),
                        .slice = sum.summed.narrow(0, axes_.shards->rank() * cut.slice, cut.slice)});
    if (cut.rest > 0) wholes.push_back(sum.summed.narrow(0, sliced, cut.rest));
  }
  axis().wait_for_device();
  axis().reduce_scatter(slices);
  axis().all_reduce(wholes);
}

void ReducedGradients::finish_running() {
  if (!running_) return;
  const Reduction reduction = *std::exchange(running_, std::nullopt);
  reduction.done.device_waits();
  for (const Sum& sum : reduction.sums) keep_part(sum);
  if (!reduction.last) return;
  if (axes_.shards != nullptr && axes_.copies != nullptr) sum_over_copies(reduction);
  for (const std::int64_t layer : reduction.layers)
    for (LayerHooks* hooks : then_) hooks->gradients_ready(layer);
}

// Leaves the sum in the gradient of this rank's parts, and frees the rest.
void ReducedGradients::keep_part(const Sum& sum) const {
  if (axes_.shards == nullptr) {
    if (!sum.summed.is_alias_of(sum.gradient)) sum.gradient.copy_(sum.summed);
    return;
  }
  const Weight& weight = *sum.weight;
  keep_part(sum, weight.slice, axes_.shards->rank() * weight.cut.slice, weight.cut.slice);
  keep_part(sum, weight.rest, axes_.shards->ranks() * weight.cut.slice, weight.cut.rest);
  weight.whole.mutable_grad() = at::Tensor();
}

void ReducedGradients::keep_part(const Sum& sum, const at::Tensor& part, std::int64_t first, std::int64_t count) const {
  if (count == 0) return;
  const at::Tensor summed = sum.summed.narrow(0, first, count), place = sum.gradient.narrow(0, first, count);
  if (!each_micro_batch()) {
    if (!summed.is_alias_of(place)) place.copy_(summed);
    part.mutable_grad() = place;  // keeps the whole gradient
    return;
  }
  record::Tag tag = record::current_tag();
  tag.category = Category::kGradients;
  tag.layer = sum.weight->layer;
  tag.op = number_of(Op::kGradientShares);
  const Scope scope(tag);
  const bool first_batch = !part.grad().defined();
  const at::Tensor added = summed.to(place.scalar_type(), /*non_blocking=*/false, /*copy=*/first_batch);
  if (first_batch)
    part.mutable_grad() = added;
  else
    part.mutable_grad().add_(added);
}

// Waits for it: only backward between hosts would gain from more overlap.
void ReducedGradients::sum_over_copies(const Reduction& reduction) const {
  std::vector<at::Tensor> parts;
  for (const Sum& sum : reduction.sums)
    for (const at::Tensor& part : {sum.weight->slice, sum.weight->rest})
      if (part.defined()) parts.push_back(part.grad());
  axes_.copies->wait_for_device();
  axes_.copies->all_reduce(parts);
  axes_.copies->done().device_waits();
}

void ReducedGradients::weights_updated() {
  if (axes_.shards == nullptr) return;
  const at::AutoGradMode grad_mode(false);
  axes_.shards->wait_for_device();
  for (const auto& [layer, weights] : weights_) gather(layer);  // the outer weights first, as forward needs them
  if (finishes_in_step_) return finish();
  if (const auto outer = arrives_.find(kOuterLayer); outer != arrives_.end()) {
    outer->second.device_waits();
    arrives_.erase(outer);
  }
}

void ReducedGradients::gather(std::int64_t layer) {
  std::vector<Sliced> slices;
  for (const Weight& weight : weights_[layer])
    if (weight.is_view && weight.cut.slice > 0)
      slices.push_back(
          {.whole = flat(weight.whole).narrow(0, 0, weight.cut.slice * axes_.shards->ranks()), .slice = weight.slice});
  if (slices.empty()) return;
  const Scope scope(record::Tag{.phase = record::Phase::kOptimizer,
                                .category = Category::kWeights,
                                .layer = layer == kOuterLayer ? record::kNoLayer : static_cast<std::uint16_t>(layer),
                                .op = number_of(Op::kGatheredWeights)});
  axes_.shards->all_gather(slices);
  arrives_[layer] = axes_.shards->done();
}

void ReducedGradients::finish() {
  for (const auto& [layer, arrived] : arrives_) arrived.device_waits();
  arrives_.clear();
}

int ReducedGradients::marks_per_pass(const Config& config) const {
  int marks = 0;
  for (const LayerHooks* hooks : then_) marks += hooks->marks_per_pass(config);
  return marks;
}

}  // namespace headroom::llama
