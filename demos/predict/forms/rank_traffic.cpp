// Lists collectives group by group. A group is a layer, the embedding or the head.
#include "demos/predict/forms/rank_traffic.h"

#include <utility>

#include "demos/llama/layer_weights.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/trained_weights.h"

namespace headroom::predict {

using record::Axis;
using record::Bytes;
using record::Collective;
using record::CollectiveKind;
using record::Phase;

namespace {

// Elements of a group of weights: in slices of all shards together, and outside slices.
struct Group {
  std::int64_t sliced = 0, rest = 0;

  void add(const TrainedWeight& weight, std::int64_t count, std::int64_t shards) {
    const Cut cut = cut_of(weight, shards);
    sliced += count * shards * cut.slice;
    rest += count * cut.rest;
  }
};

class Lister {
 public:
  explicit Lister(const StepSettings& step) : step_(step), shards_(step.parallel.shards()) {
    for (const TrainedWeight& each : trained_weights(step)) {
      if (each.in_layers)
        layer_.add(each, each.count / step.model.num_layers, shards_);
      else
        outer_.add(each, each.count, shards_);
    }
  }

  std::vector<Collective> take() {
    for (std::int64_t m = 0; m < step_.micro_batches; ++m) micro_batch(static_cast<std::uint16_t>(m));
    place_ = {.phase = Phase::kOptimizer};
    const bool whole = !step_.parallel.shares(Zero::kWeights) || step_.adapters.kind != AdapterKind::kOff;
    if (step_.parallel.shares(Zero::kOptimizer) && whole) {
      add(CollectiveKind::kAllGather, Axis::kShards, step_.trained_bytes() * outer_.sliced);
      each_layer([&] { add(CollectiveKind::kAllGather, Axis::kShards, step_.trained_bytes() * layer_.sliced); });
    }
    return std::move(all_);
  }

 private:
  void micro_batch(std::uint16_t m) {
    place_ = {.micro_batch = m, .phase = Phase::kForward};
    const bool gathers = step_.parallel.shares(Zero::kWeights);
    if (gathers) gather_table();
    if (gathers) each_layer([&] { gather_layer(); });
    if (gathers) gather_table();
    place_.phase = Phase::kBackward;
    const bool last = m + 1 == step_.micro_batches;
    each_layer([&] {
      if (gathers) gather_layer();
      reduce(layer_, last);
    });
    reduce(outer_, last);
  }

  template <class Call>
  void each_layer(Call call) {
    for (std::int64_t i = 0; i < step_.model.num_layers; ++i) {
      place_.layer = static_cast<std::uint16_t>(i);
      call();
    }
    place_.layer = record::kNoLayer;
  }

  // Frozen matrices are cut, too; adapters are whole on every rank.
  void gather_layer() {
    std::int64_t elements = 0;
    if (step_.adapters.kind != AdapterKind::kQlora)
      for (const llama::LayerWeight& each : projections(step_.model, step_.extension))
        elements += each.count / step_.model.num_layers * shards_ * cut_of(each.elements(), shards_).slice;
    add(CollectiveKind::kAllGather, Axis::kShards, step_.element_bytes() * elements);
  }
  void gather_table() {
    const std::int64_t table = step_.model.vocab_size * step_.model.hidden_size;
    add(CollectiveKind::kAllGather, Axis::kShards, step_.element_bytes() * shards_ * cut_of(table, shards_).slice);
  }

  // Copies of the states are summed once per step.
  void reduce(const Group& group, bool last) {
    if (!last && !step_.parallel.shares(Zero::kGradients)) return;
    const Bytes element = step_.parallel.fp32_sums ? kFp32 : step_.trained_bytes();
    if (shards_ > 1) {
      add(CollectiveKind::kReduceScatter, Axis::kShards, element * group.sliced);
      add(CollectiveKind::kAllReduce, Axis::kShards, element * group.rest);
    }
    if (last && step_.parallel.copies() > 1)
      add(CollectiveKind::kAllReduce, Axis::kData, element * (group.sliced / shards_ + group.rest));
  }

  void add(CollectiveKind kind, Axis axis, Bytes bytes) {
    if (bytes == 0) return;
    Collective collective = place_;
    collective.kind = kind;
    collective.axis = axis;
    collective.bytes = bytes;
    collective.ranks = static_cast<std::uint16_t>(axis == Axis::kShards ? shards_ : step_.parallel.copies());
    all_.push_back(collective);
  }

  const StepSettings& step_;
  std::int64_t shards_;
  Group layer_, outer_;
  Collective place_;
  std::vector<Collective> all_;
};

}  // namespace

std::vector<Collective> step_collectives(const StepSettings& step) { return Lister(step).take(); }

RankTraffic rank_traffic(const StepSettings& step) {
  RankTraffic traffic;
  for (const Collective& each : step_collectives(step)) {
    Bytes& sum = each.phase == Phase::kForward    ? traffic.forward
                 : each.phase == Phase::kBackward ? traffic.backward
                                                  : traffic.update;
    sum += record::sent_bytes(each);
  }
  return traffic;
}

Bytes sent_per_step(const StaticMemory& whole, const ParallelSettings& parallel, std::int64_t micro_batches) {
  const auto sent = [](CollectiveKind kind, Bytes bytes, std::int64_t ranks) {
    return record::sent_bytes({.bytes = bytes, .ranks = static_cast<std::uint16_t>(ranks), .kind = kind});
  };
  const std::int64_t shards = parallel.shards();
  const std::int64_t gathers = parallel.shares(Zero::kWeights) ? 2 * micro_batches : 1;
  const std::int64_t reductions = parallel.shares(Zero::kGradients) ? micro_batches : 1;
  return gathers * sent(CollectiveKind::kAllGather, whole.weights, shards) +
         reductions * sent(CollectiveKind::kReduceScatter, whole.gradients, shards) +
         sent(CollectiveKind::kAllReduce, whole.gradients / shards, parallel.copies());
}

}  // namespace headroom::predict
