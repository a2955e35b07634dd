// Places layers and sums one after the other.
#include "demos/predict/time/overlap.h"

#include <algorithm>
#include <map>
#include <utility>

#include "demos/predict/forms/rank_traffic.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/time/step_bound.h"
#include "demos/predict/time/step_flops.h"

namespace headroom::predict {
namespace {

// Gradients that backward sums, by layer. kNoLayer: of the embedding and the head.
std::map<std::uint16_t, record::Bytes> summed_bytes(const StepSettings& step) {
  std::map<std::uint16_t, record::Bytes> bytes;
  for (const record::Collective& each : step_collectives(step))
    if (each.phase == record::Phase::kBackward && each.kind == record::CollectiveKind::kAllReduce)
      bytes[each.layer] += each.bytes;
  return bytes;
}

// Gives layers to buckets, and buckets to the link.
class Clock {
 public:
  Clock(const StepSettings& step, const Link& link) : step_(step), link_(link) {}

  void compute(std::uint16_t layer, double seconds) {
    overlap_.backward.push_back({.layer = layer, .begin = now_, .end = now_ + seconds});
    now_ += seconds;
    overlap_.alone += seconds;
  }
  // The layer's gradients are complete.
  void add(std::uint16_t layer, record::Bytes bytes) {
    waiting_.layers.push_back(layer);
    waiting_.bytes += bytes;
    if (waiting_.bytes >= step_.parallel.bucket) start();
  }
  // All other gradients are complete.
  Overlap end(record::Bytes outer) {
    waiting_.bytes += outer;
    waiting_.outer = true;
    start();
    return std::move(overlap_);
  }

 private:
  void start() {
    if (waiting_.bytes == 0) return;
    if (!overlap_.sums.empty()) now_ = std::max(now_, overlap_.sums.back().end);
    const record::Collective sum{.bytes = waiting_.bytes, .ranks = static_cast<std::uint16_t>(step_.parallel.ranks)};
    waiting_.begin = now_;
    waiting_.end = now_ + ring_seconds(sum, link_);
    overlap_.sent += record::sent_bytes(sum);
    overlap_.sums.push_back(std::exchange(waiting_, {}));
  }

  const StepSettings& step_;
  const Link& link_;
  double now_ = 0;
  GradientSum waiting_;
  Overlap overlap_;
};

}  // namespace

std::optional<BackwardTimes> backward_times(const StepSettings& step, const Card& card) {
  const std::optional<double> peak = head_peak(step, card), in_layers = products_peak(step, card);
  if (!peak || !in_layers || !card.bandwidth) return std::nullopt;
  const StepBound bound = step_bound(step);
  double head = 0, layers = 0;
  for (const StepProduct& product : bound.products) {
    const bool of_head = product.layer == kHeadProduct, forward = product.kind == ProductKind::kOutput;
    if (of_head && (forward || loss_in_chunks(step))) continue;
    const double once = product.flops() / (of_head ? *peak : *in_layers);
    (of_head ? head : layers) += once * static_cast<double>(forward ? product.again : product.times);
  }
  const auto bytes = [&](record::Phase phase) {
    return static_cast<double>(bound.bytes[static_cast<std::size_t>(phase)]) / *card.bandwidth;
  };
  layers += bytes(record::Phase::kBackward) + bytes(record::Phase::kRecompute);
  return BackwardTimes{.head = head, .layer = layers / static_cast<double>(step.model.num_layers)};
}

double Overlap::summing() const {
  double seconds = 0;
  for (const GradientSum& sum : sums) seconds += sum.end - sum.begin;
  return seconds;
}

Overlap overlap(const StepSettings& step, const BackwardTimes& times, const Link& link) {
  std::map<std::uint16_t, record::Bytes> bytes = summed_bytes(step);
  Clock clock(step, link);
  if (times.head > 0) clock.compute(record::kNoLayer, times.head);
  for (std::int64_t i = step.model.num_layers; i-- > 0;) {
    const auto layer = static_cast<std::uint16_t>(i);
    clock.compute(layer, times.layer);
    clock.add(layer, bytes[layer]);
  }
  return clock.end(bytes[record::kNoLayer]);
}

}  // namespace headroom::predict
