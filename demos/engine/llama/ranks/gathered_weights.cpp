// Gathers groups of weights ahead of their use, and frees them.
#include "demos/engine/llama/ranks/gathered_weights.h"

#include <algorithm>
#include <utility>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/moving_layers.h"

namespace headroom::llama {

namespace {

using record::Category;
using record::Phase;
using record::Scope;
using record::Tag;

Tag tag(Phase phase, std::uint16_t layer, Op op) {
  return {.phase = phase,
          .category = Category::kWeights,
          .layer = layer,
          .micro_batch = record::current_tag().micro_batch,
          .op = number_of(op)};
}

void set_memory(const at::Tensor& buffer, std::size_t bytes) {
  c10::StorageImpl* const storage = buffer.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(bytes == 0 ? c10::DataPtr(nullptr, buffer.device())
                                          : storage->allocator()->allocate(bytes));
  storage->set_nbytes(bytes);
}

}  // namespace

GatheredWeights::GatheredWeights(const Config& config, const predict::ParallelSettings& parallel,
                                 std::int64_t recompute_every, Collectives& shards)
    : shards_(shards),
      ahead_(static_cast<std::size_t>(parallel.prefetch)),
      tied_(config.tie_word_embeddings),
      groups_(static_cast<std::size_t>(config.num_layers) + (tied_ ? 1 : 2)) {
  order_.push_back(&outer(OuterPart::kEmbedding));
  for (const std::int64_t i : order_of_layers(config.num_layers, std::max<std::int64_t>(recompute_every, 1)))
    order_.push_back(&layer(i));
  head_place_ = static_cast<std::size_t>(config.num_layers) + 1;
  order_.insert(order_.begin() + config.num_layers + 1, &outer(OuterPart::kHead));
}

GatheredWeights::Group& GatheredWeights::outer(OuterPart part) {
  return part == OuterPart::kHead || tied_ ? groups_.back() : groups_[groups_.size() - 2];
}

void GatheredWeights::take(LayerWeights& weights) {
  std::vector<at::Tensor> matrices;
  for (const LayerMember& member : layer_members())
    if (member.kind == WeightKind::kMatrix && (weights.*member.tensor).defined())
      matrices.push_back(weights.*member.tensor);
  Group& group = layer(taken_);
  group.layer = taken_++;
  cut(group, std::move(matrices));
}

void GatheredWeights::take_outer(const Model& model) {
  cut(outer(OuterPart::kEmbedding), {model.embed_tokens_VH});
  if (!tied_) cut(outer(OuterPart::kHead), {model.lm_head_VH});
}

void GatheredWeights::cut(Group& group, std::vector<at::Tensor> matrices) {
  if (matrices.empty()) return;  // all are in NF4
  const at::AutoGradMode grad_mode(false);
  std::int64_t held = 0, whole = 0;
  for (const at::Tensor& matrix : matrices) {
    held += predict::cut_of(matrix.numel(), shards_.ranks()).held();
    whole += aligned_elements(matrix.numel());
  }
  const at::TensorOptions options = matrices.front().options().requires_grad(false);
  const auto made = [&](std::int64_t size, Op op) {
    const Scope scope(tag(Phase::kSetup, group.layer, op));
    return at::empty({size}, options);
  };
  const at::Tensor shares = made(held, Op::kWeightShares);
  group.buffer = made(whole, Op::kGatheredWeights);
  group.bytes = group.buffer.nbytes();
  std::int64_t in_shares = 0, in_buffer = 0;
  for (at::Tensor& matrix : matrices) {
    const predict::Cut cut = predict::cut_of(matrix.numel(), shards_.ranks());
    const std::int64_t sliced = matrix.numel() - cut.rest;
    const auto copied = [&](std::int64_t first, std::int64_t count) {
      if (count == 0) return at::Tensor();
      const at::Tensor share = shares.narrow(0, std::exchange(in_shares, in_shares + count), count);
      return share.copy_(matrix.detach().view({-1}).narrow(0, first, count));
    };
    const at::Tensor slice = copied(shards_.rank() * cut.slice, cut.slice), rest = copied(sliced, cut.rest);
    group.parts.push_back({.weight = matrix,
                           .share = {.slice = slice, .rest = rest},
                           .sliced = group.buffer.narrow(0, in_buffer, sliced),
                           .rest = group.buffer.narrow(0, in_buffer + sliced, cut.rest)});
    matrix.set_data(group.buffer.narrow(0, in_buffer, matrix.numel()).view(matrix.sizes()));
    in_buffer += aligned_elements(matrix.numel());
  }
  set_memory(group.buffer, 0);
}

const Share* GatheredWeights::share_of(const at::Tensor& weight) const {
  for (const Group& group : groups_)
    for (const Part& part : group.parts)
      if (part.weight.is_same(weight)) return &part.share;
  return nullptr;
}

void GatheredWeights::gather(std::size_t place) {
  Group& group = *order_[place];
  if (group.there || group.parts.empty()) return;
  const at::AutoGradMode grad_mode(false);
  const Scope scope(tag(place <= head_place_ ? Phase::kForward : Phase::kBackward, group.layer, Op::kGatheredWeights));
  set_memory(group.buffer, group.bytes);
  std::vector<Sliced> slices;
  for (const Part& part : group.parts) {
    if (part.share.rest.defined()) part.rest.copy_(part.share.rest);
    if (part.share.slice.defined()) slices.push_back({.whole = part.sliced, .slice = part.share.slice});
  }
  shards_.wait_for_device();  // earlier work may still read this memory
  shards_.all_gather(slices);
  group.arrived = shards_.done();
  group.there = true;
}

void GatheredWeights::enter(std::size_t place, Phase phase) {
  place_ = place;
  gather(place);
  order_[place]->arrived.device_waits();
  const std::size_t end = phase == Phase::kEvaluation ? head_place_ + 1 : order_.size();
  for (std::size_t next = place + 1; next <= place + ahead_ && next < end; ++next) gather(next);
}

void GatheredWeights::free(Group& group) {
  if (std::exchange(group.there, false)) set_memory(group.buffer, 0);
}

void GatheredWeights::before_layer(std::int64_t i, Phase phase) {
  TORCH_INTERNAL_ASSERT(place_ + 1 < order_.size() && order_[place_ + 1] == &layer(i),
                        "the layers came in another order");
  enter(place_ + 1, phase);
}

void GatheredWeights::after_layer(std::int64_t i, Phase phase) {
  if (phase != Phase::kRecompute) free(layer(i));
}

void GatheredWeights::before_outer(OuterPart part, Phase phase) {
  enter(part == OuterPart::kEmbedding ? 0 : head_place_, phase);
}

void GatheredWeights::after_outer(OuterPart part, Phase) { free(outer(part)); }

}  // namespace headroom::llama
