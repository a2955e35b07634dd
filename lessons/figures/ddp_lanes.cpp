// The backward pass of one GPU in data parallelism: which sums of gradients the link carries while it runs, and what
// sticks out.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "demos/experiments/schemas.h"
#include "demos/predict/meaning.h"
#include "demos/predict/time/overlap.h"
#include "demos/record/find.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {
namespace {

using predict::GradientSum;
using predict::Overlap;

constexpr std::array<record::Choice, 4> kOverlapCards{
    {{"h200", "H200 SXM"}, {"h100", "H100 80 GB SXM"}, {"a100", "A100 80 GB SXM"}, {"rtx_4090", "GeForce RTX 4090"}}};
constexpr std::array<record::Choice, 3> kOverlapModels{
    {{"llama-3.2-1b", "Llama 3.2 1B"}, {"llama-3.2-3b", "Llama 3.2 3B"}, {"llama-3-8b", "Llama 3 8B"}}};
constexpr std::array kDdpLanesSchema{
    experiments::choice("model", "Model", "Model that each GPU trains, with gradients in 16 bits", kOverlapModels),
    experiments::number("batch", "Batch", "sequences", "B: sequences of 1,024 tokens per micro-batch and GPU", 1, 1024,
                        4),
    experiments::number("accumulate", "Micro-batches", "per step",
                        "Micro-batches whose gradients accumulate before the optimizer step", 1, 256, 4),
    experiments::number("ranks", "GPUs", {}, "N: GPUs that train together, each on sequences of its own", 2, 1024, 4),
    experiments::unset(
        "one layer",
        experiments::number("bucket", "Bucket", "MiB",
                            "Least size of gradients that are summed together; 0: one layer's", 0, 16384, 0)),
    experiments::number("link", "Link", "GB/s",
                        "Bytes per second that a GPU sends, and receives at the same time: NVLink 4 of an H100 450, "
                        "PCIe 5.0 with 16 lanes 63, a network of 400 Gbit/s 50",
                        1, 10000, 450),
    experiments::number("latency", "Latency", "µs", "Time that each message takes besides its bytes; an assumption", 1,
                        10000, 10),
    experiments::choice("card", "GPU", "Card whose peaks give the least time of backward", kOverlapCards, "h200"),
    experiments::unset("by the card",
                       experiments::number("layer_time", "Layer", "µs",
                                           "Backward time of one layer, such as a measured one; 0: the least time that "
                                           "the card needs",
                                           0, 1e6, 0)),
};

predict::StepSettings step_of(const record::Params& params) {
  record::Params settings(experiments::shape_schema().schema);
  for (const char* key : {"model", "batch", "accumulate", "ranks"})
    (void)settings.set(key, std::string_view(params.as_text(key)));
  (void)settings.set("bucket", params.integer("bucket") * record::kMiB);
  return predict::step_settings(experiments::step_params(settings));
}

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

const predict::Card& card_of(const record::Params& params) {
  const std::string_view name = record::label_of(*record::find_spec(kDdpLanesSchema, "card"), params.text("card"));
  return *record::find_in(predict::cards(), name, &predict::Card::name);
}

std::string overlap_line(const record::Params& params) {
  std::string line = fmt::format("{}, {} × {}", record::label_of(kDdpLanesSchema.front(), params.text("model")),
                                 params.integer("ranks"), card_of(params).name);
  line += fmt::format(", batch {}, 1,024 tokens, mixed precision", params.integer("batch"));
  if (const std::int64_t m = params.integer("accumulate"); m > 1) line += fmt::format(", {} micro-batches", m);
  if (const std::int64_t bucket = params.integer("bucket"); bucket > 0) line += fmt::format(", {} MiB buckets", bucket);
  return line + fmt::format(", {} GB/s each way", params.integer("link"));
}

void add_ddp_lanes_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const predict::StepSettings step = step_of(params);
  const predict::Card& card = card_of(params);
  figure.head.provenance_line = overlap_line(params);
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
    .basis = Basis::kParameters,
    .add_panels = add_ddp_lanes_panels,
};

}  // namespace headroom::lessons
