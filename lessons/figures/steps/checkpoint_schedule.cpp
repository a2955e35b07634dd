// Gradient checkpointing frame by frame: the nodes in memory and the forward evaluations so far. Also plots both counts
// against k, where every k-th node is kept.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/theory/schedule.h"

namespace headroom::lessons {
namespace {

constexpr int kMostNodes = 32;
constexpr std::array<record::Choice, 3> kKeeps{
    {{"chosen", "chosen nodes"}, {"every", "every k-th node"}, {"all", "all nodes"}}};
constexpr std::array kCheckpointScheduleSchema{
    whole_param("nodes", "Nodes", "Forward nodes of the chain, including the input", 2, kMostNodes, 5),
    experiments::choice("keep", "Keep", "Forward nodes that stay in memory until backward has used them", kKeeps,
                        "chosen"),
    experiments::needs(
        whole_param("checkpoints", "Checkpoints",
                    "Kept nodes as a sum of 2^i: 4 keeps f2, 6 keeps f1 and f2; the input is always kept", 0,
                    4'294'967'295, 4),
        "keep", "chosen"),
    experiments::needs(whole_param("k", "k", "Every k-th node is kept", 1, kMostNodes, 2), "keep", "every"),
    frame_param(12),
};

using Kept = std::vector<bool>;

Kept every(std::size_t nodes, std::size_t k) {
  Kept kept(nodes, false);
  for (std::size_t i = 0; i < nodes; i += k) kept[i] = true;
  return kept;
}

// Bit i of `mask`: node i is kept.
Kept chosen(std::size_t nodes, std::uint64_t mask) {
  Kept kept(nodes, false);
  for (std::size_t i = 0; i < nodes; ++i) kept[i] = i == 0 || (mask >> i & 1) != 0;
  return kept;
}

Kept kept_by(const record::Params& params, std::size_t nodes) {
  if (params.text("keep") == "all") return Kept(nodes, true);
  if (params.text("keep") == "every") return every(nodes, static_cast<std::size_t>(params.integer("k")));
  return chosen(nodes, static_cast<std::uint64_t>(params.integer("checkpoints")));
}

BoxState state_of(NodeState state) {
  if (state == NodeState::kNotYet) return BoxState::kNotYet;
  if (state == NodeState::kAlive) return BoxState::kAlive;
  return state == NodeState::kRecomputed ? BoxState::kRecomputed : BoxState::kFreed;
}

bool appears(NodeState before, NodeState now) {
  const auto alive = [](NodeState state) { return state == NodeState::kAlive || state == NodeState::kRecomputed; };
  return alive(now) && !alive(before);
}

// Forward nodes above, left to right; backward nodes below, right to left.
class ScheduleDiagram {
 public:
  ScheduleDiagram(const std::vector<ScheduleFrame>& frames, std::size_t index, const Kept& kept,
                  std::optional<std::uint64_t> mask)
      : now_(frames[index]),
        before_(index == 0 ? nothing(kept.size()) : frames[index - 1]),
        kept_(kept),
        n_(kept.size()),
        mask_(mask) {
    diagram_.title = fmt::format("Step {}: {}", index + 1, now_.action);
    diagram_.width = 3.0 * static_cast<double>(n_);
    diagram_.height = 6;
    diagram_.unit = "nodes";
    for (std::size_t i = 0; i < n_; ++i) forward(i);
    for (std::size_t i = 1; i <= n_; ++i) backward(i);
    arrows();
  }

  Diagram take() { return std::move(diagram_); }

 private:
  static ScheduleFrame nothing(std::size_t n) {
    return {.forward = std::vector(n, NodeState::kNotYet), .backward = std::vector(n, NodeState::kNotYet)};
  }

  void add(std::string name, double row, std::size_t column, NodeState state, record::Category category) {
    DiagramBox box{.id = name,
                   .x = 3.0 * static_cast<double>(column) + 0.5,
                   .y = row,
                   .width = 2,
                   .height = 1.6,
                   .label = name,
                   .state = state_of(state),
                   .category = category};
    box.value = box.state == BoxState::kAlive || box.state == BoxState::kRecomputed ? 1 : 0;
    box.tip = fmt::format("{}: {}", name, label_of(box.state));
    diagram_.boxes.push_back(std::move(box));
  }

  void forward(std::size_t i) {
    add(fmt::format("f{}", i), 0.5, i, now_.forward[i], record::Category::kActivations);
    DiagramBox& box = diagram_.boxes.back();
    box.marked = kept_[i];
    if (box.marked) box.tip += i == 0 ? ", the input" : ", a checkpoint";
    if (!mask_ || i == 0 || i + 1 == n_) return;  // the last node is used at once
    box.action = SetParam{"checkpoints", std::to_string(*mask_ ^ (std::uint64_t{1} << i))};
    box.tip += kept_[i] ? ". Click: no checkpoint" : ". Click: a checkpoint";
  }

  void backward(std::size_t i) {
    add(fmt::format("b{}", i), 3.8, i - 1, now_.backward[i - 1], record::Category::kGradients);
  }

  void arrows() {
    const auto b = [&](std::size_t i) { return n_ + i - 1; };  // index of backward node i
    const auto new_forward = [&](std::size_t i) { return appears(before_.forward[i], now_.forward[i]); };
    const auto new_backward = [&](std::size_t i) { return appears(before_.backward[i - 1], now_.backward[i - 1]); };
    for (std::size_t i = 1; i < n_; ++i) diagram_.arrows.push_back({.from = i - 1, .to = i, .active = new_forward(i)});
    diagram_.arrows.push_back({.from = n_ - 1, .to = b(n_), .active = new_backward(n_)});
    for (std::size_t i = 1; i < n_; ++i) {
      diagram_.arrows.push_back({.from = b(i + 1), .to = b(i), .active = new_backward(i)});
      diagram_.arrows.push_back({.from = i, .to = b(i), .active = new_backward(i), .dashed = true});
    }
  }

  const ScheduleFrame& now_;
  ScheduleFrame before_;
  const Kept& kept_;
  std::size_t n_;
  std::optional<std::uint64_t> mask_;  // a click changes it
  Diagram diagram_;
};

TableRow count_row(std::string name, std::size_t now, std::size_t all, std::size_t without) {
  return {.name = name,
          .cells = {std::to_string(now), std::to_string(all), std::to_string(without)},
          .tip = fmt::format("{}: {} now, {} in all, {} with every node kept", name, now, all, without)};
}

Table counts(const std::vector<ScheduleFrame>& frames, std::size_t index, std::size_t nodes) {
  const auto without = checkpoint_frames(nodes, Kept(nodes, true));
  return {.head = "Counted in nodes",
          .columns = {"at this step", "over the step", "every node kept"},
          .rows = {count_row("In memory, at most over the step", frames[index].alive, most_alive(frames),
                             most_alive(without)),
                   count_row("Forward evaluations", frames[index].evaluations, frames.back().evaluations,
                             without.back().evaluations)}};
}

// Counts for each k, and memory by closed form. Counted and closed-form memory agree if k ≥ 3 divides n: n / k nodes
// are kept, k − 2 of a segment are recomputed, and there are two gradients.
void add_curves(FigureData& figure, std::size_t nodes) {
  Chart memory{.title = "Most in memory, every k-th node kept"},
      time{.title = "Forward evaluations, every k-th node kept"};
  ChartSeries alive{.label = "counted", .kind = SeriesKind::kFused}, evaluated = alive;
  ChartReference form{.label = "n/k + k"};
  const auto n = static_cast<double>(nodes);
  for (std::size_t k = 1; k <= nodes; ++k) {
    const auto frames = checkpoint_frames(nodes, every(nodes, k));
    const auto x = static_cast<double>(k), most = static_cast<double>(most_alive(frames)),
               count = static_cast<double>(frames.back().evaluations);
    alive.points.push_back(exact_point(x, most, fmt::format("k = {}: {} nodes in memory", k, most)));
    evaluated.points.push_back(exact_point(x, count, fmt::format("k = {}: {} evaluations", k, count)));
    form.x.push_back(x);
    form.y.push_back(n / x + x);
  }
  memory.x = time.x = number_axis(0, n + 0.5, "k");
  memory.y = number_axis(0, std::ceil((n + 2) * 1.15), "nodes");
  time.y = number_axis(0, std::ceil(2 * n * 1.1), "evaluations");
  memory.references.push_back(std::move(form));
  memory.series.push_back(std::move(alive));
  time.series.push_back(std::move(evaluated));
  figure.add(std::move(memory));
  figure.add(std::move(time));
}

// Number of frames while the answer is hidden: up to the loss's gradient.
std::size_t known(const std::vector<ScheduleFrame>& frames) {
  const auto loss = std::ranges::find_if(
      frames, [](const ScheduleFrame& frame) { return frame.backward.back() == NodeState::kAlive; });
  return static_cast<std::size_t>(loss - frames.begin()) + 1;
}

void add_checkpoint_schedule_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const auto nodes = static_cast<std::size_t>(params.integer("nodes"));
  const Kept kept = kept_by(params, nodes);
  const std::vector<ScheduleFrame> frames = checkpoint_frames(nodes, kept);
  const std::size_t index = show_frame(figure.head, params, input.view.hidden ? known(frames) : frames.size());
  figure.head.provenance_line = fmt::format("{} forward and {} backward nodes", nodes, nodes);
  std::optional<std::uint64_t> mask;
  if (params.text("keep") == "chosen") mask = static_cast<std::uint64_t>(params.integer("checkpoints"));
  figure.add(ScheduleDiagram(frames, index, kept, mask).take());
  if (input.view.hidden) return;
  figure.add(counts(frames, index, nodes));
  add_curves(figure, nodes);
}

}  // namespace

extern const Figure kCheckpointSchedule;
constinit const Figure kCheckpointSchedule{
    .id = "checkpoint_schedule",
    .title = "What is in memory, step by step",
    .caption =
        "Forward and backward nodes of a chain with checkpoints, in memory or not, and what keeping every k-th costs",
    .schema = kCheckpointScheduleSchema,
    .basis = Basis::kParameters,
    .add_panels = add_checkpoint_schedule_panels,
};

}  // namespace headroom::lessons
