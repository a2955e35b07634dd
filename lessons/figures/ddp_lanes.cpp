// The backward pass of one GPU in data parallelism: which sums of gradients the link carries while it runs, and what
// sticks out.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "demos/predict/time/overlap.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::GradientSum;
using predict::Overlap;

constexpr std::array kDdpLanesSchema{
    experiments::number("link", "Link", "GB/s",
                        "Bytes per second that a GPU sends, and receives at the same time: NVLink 4 of an H100 450, "
                        "PCIe 5.0 with 16 lanes 63, a network of 400 Gbit/s 50",
                        1, 10000, 450),
    experiments::number("latency", "Latency", "µs", "Time that each message takes besides its bytes; an assumption", 1,
                        10000, 10),
    experiments::unset("by the card",
                       experiments::number("layer_time", "Layer", "µs",
                                           "Backward time of one layer, such as a measured one; 0: the least time that "
                                           "the card needs",
                                           0, 1e6, 0)),
};

constexpr std::int64_t kRanksByDefault = 4;  // without a reader's settings; those of a step are one GPU's

// "layers 12 to 15", "layers 0 to 3, embedding"
std::string name_of(const GradientSum& sum) {
  std::string name;
  if (sum.layers.size() == 1) name = fmt::format("layer {}", sum.layers.front());
  if (sum.layers.size() > 1) name = fmt::format("layers {} to {}", sum.layers.back(), sum.layers.front());
  if (sum.outer) name += name.empty() ? "embedding" : ", embedding";
  return name;
}

// "15", "12–15", "emb."
std::string label_of(const GradientSum& sum) {
  constexpr const char* kOuter = "emb.";
  if (sum.layers.empty()) return kOuter;
  std::string label = std::to_string(sum.layers.back());
  if (sum.layers.size() > 1) label += fmt::format("–{}", sum.layers.front());
  return sum.outer ? label + ", " + kOuter : label;
}

class DdpLanes {
 public:
  DdpLanes(const Overlap& overlap, const ShownUnit& time, const ShownUnit& bytes)
      : overlap_(overlap), time_(time), bytes_(bytes) {}

  Lanes panel(bool all) const {
    const double afterwards = overlap_.alone + overlap_.summing();
    Lanes panel{.x = {.unit = AxisUnit::kNanoseconds, .high = 1e9 * std::max(afterwards, overlap_.end())}};
    panel.lanes = {backward(), sums("Link", 0)};
    if (all) panel.lanes.push_back(sums("Link, after backward", overlap_.alone));
    panel.lanes.back().thin = all;
    return panel;
  }

 private:
  std::string text(double seconds) const { return amount_text(1e9 * seconds, time_); }

  Lane backward() const {
    Lane lane{.label = "Backward"};
    for (const predict::BackwardPart& part : overlap_.backward) {
      const bool head = part.layer == record::kNoLayer;
      lane.boxes.push_back({.begin = 1e9 * part.begin,
                            .end = 1e9 * part.end,
                            .work = Work::kZone,
                            .label = head ? "head" : std::to_string(part.layer),
                            .tip = fmt::format("Backward of {}: {}",
                                               head ? std::string("the head") : fmt::format("layer {}", part.layer),
                                               text(part.end - part.begin))});
    }
    return lane;
  }

  // `from`: when the first sum begins, with all others right after it; 0: as backward delivers gradients.
  Lane sums(std::string label, double from) const {
    Lane lane{.label = std::move(label)};
    double next = from;
    for (const GradientSum& sum : overlap_.sums) {
      const double begin = from > 0 ? next : sum.begin, length = sum.end - sum.begin;
      next += length;
      lane.boxes.push_back({.begin = 1e9 * begin,
                            .end = 1e9 * (begin + length),
                            .work = Work::kSum,
                            .bytes = sum.bytes,
                            .label = label_of(sum),
                            .tip = fmt::format("Sum of the gradients of {}: {}, {}", name_of(sum),
                                               bytes_text(sum.bytes, bytes_), text(length))});
    }
    return lane;
  }

  const Overlap& overlap_;
  const ShownUnit& time_;
  const ShownUnit& bytes_;
};

// A step of m micro-batches: in how many gradients are summed, and how long backward waits for it.
TableRow row_of(std::string name, std::string note, const Overlap& overlap, std::int64_t times, double waits,
                std::int64_t micro_batches, const ShownUnit& time, const ShownUnit& bytes) {
  const double backward = static_cast<double>(micro_batches) * overlap.alone;
  return {
      .name = std::move(name),
      .note = std::move(note),
      .cells = {bytes_text(times * overlap.sent, bytes), amount_text(1e9 * static_cast<double>(times) * waits, time),
                amount_text(1e9 * (backward + static_cast<double>(times) * waits), time)}};
}

Table table_of(const Overlap& overlap, std::int64_t micro_batches, const ShownUnit& time, const ShownUnit& bytes) {
  Table table{.head = micro_batches > 1 ? fmt::format("A step of {} micro-batches", micro_batches) : "A step",
              .columns = {"a GPU sends", "not hidden", "backward with sums"},
              .foot = "By formula, without the multiprocessors that sums take from backward."};
  table.rows.push_back(row_of("Sums while backward runs",
                              micro_batches > 1 ? "in the last micro-batch: this is what the program does" : "",
                              overlap, 1, overlap.waits(), micro_batches, time, bytes));
  if (micro_batches > 1)
    table.rows.push_back(row_of("The same in every micro-batch", "only the last sum is needed", overlap, micro_batches,
                                overlap.waits(), micro_batches, time, bytes));
  table.rows.push_back(
      row_of("Sums after backward", "nothing is hidden", overlap, 1, overlap.summing(), micro_batches, time, bytes));
  return table;
}

std::optional<predict::BackwardTimes> times_of(const predict::StepSettings& step, const predict::Card& card,
                                               std::int64_t layer_time) {
  auto times = predict::backward_times(step, card);
  if (!times || layer_time == 0) return times;
  const double factor = 1e-6 * static_cast<double>(layer_time) / times->layer;
  return predict::BackwardTimes{.head = factor * times->head, .layer = factor * times->layer};
}

// Says why there are no sums to draw; empty if there are.
std::string why_no_sums(const predict::ParallelSettings& parallel) {
  if (parallel.ranks < 2) return "One GPU has nothing to sum: set GPUs to 2 or more.";
  if (parallel.zero != predict::Zero::kOff) return "This figure shows data parallelism: set ZeRO to off.";
  return {};
}

void add_ddp_lanes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  record::Params settings = reader_step(input);
  if (input.settings == nullptr) (void)settings.set("ranks", kRanksByDefault);
  const predict::StepSettings step = predict::step_settings(settings);
  const predict::Card& card = timed_card(input.view);
  figure.head.provenance_line = fmt::format("{}; {} × {}, {} GB/s each way", settings_line(run_with(settings)),
                                            step.parallel.ranks, card.name, params.integer("link"));
  add_settings(figure.head, settings);
  if (const std::string why = why_no_sums(step.parallel); !why.empty()) return figure.leave_empty(why);
  const auto times = times_of(step, card, params.integer("layer_time"));
  if (!times) return figure.leave_empty(fmt::format("The {} has no peak for this number format.", card.name));
  const predict::Link link{.bandwidth = 1e9 * static_cast<double>(params.integer("link")),
                           .latency = 1e-6 * static_cast<double>(params.integer("latency"))};
  const Overlap overlap = predict::overlap(step, *times, link);
  const ShownUnit time = time_unit(1e9 * overlap.end()),
                  bytes = byte_unit(static_cast<double>(step.micro_batches * overlap.sent));
  const bool hidden = input.view.hidden;
  Lanes lanes = DdpLanes(overlap, time, bytes).panel(!hidden);
  lanes.lanes.front().note = fmt::format("Backward {}, sums {}", amount_text(1e9 * overlap.alone, time),
                                         amount_text(1e9 * overlap.summing(), time));
  if (!hidden) lanes.lanes.front().note += fmt::format("; {} stick out", amount_text(1e9 * overlap.waits(), time));
  figure.add(std::move(lanes));
  if (!hidden) figure.add(table_of(overlap, step.micro_batches, time, bytes));
}

}  // namespace

extern const Figure kDdpLanes;
constinit const Figure kDdpLanes{
    .id = "ddp_lanes",
    .title = "Backward, and the sums of its gradients",
    .caption =
        "One GPU's backward pass by layer, the sums of gradients on its link while it runs, and the part of them "
        "that it cannot hide",
    .schema = kDdpLanesSchema,
    .basis = Basis::kFormula,
    .on_card = true,
    .add_panels = add_ddp_lanes_panels,
};

}  // namespace headroom::lessons
