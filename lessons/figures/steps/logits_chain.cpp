// The loss's code as steps, each tensor as a bar over the steps in which it is in memory, with the bytes of logits
// below; and the peaks of four loss paths.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"
#include "lessons/theory/loss_chain.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::StepSettings;
using record::Bytes;

constexpr auto kCodes = predict::kChoicesOf<predict::kLossPaths>;
constexpr auto kPaths = [] {
  std::array<record::Choice, kCodes.size() + 1> choices{{{"settings", "as set"}}};
  std::ranges::copy(kCodes, choices.begin() + 1);
  return choices;
}();
constexpr std::array kLogitsChainSchema{
    experiments::choice("path", "Code", "Code that computes the loss", kPaths, "settings"),
    frame_param(6),
};

// If the settings' path returns no output, the other paths keep their outputs, as training loops do.
StepSettings on_path(StepSettings step, std::string_view path) {
  step.loss.keep_output = step.loss.keep_output || !predict::loss_code(step).returns_output;
  for (const auto& each : predict::kLossPaths)
    if (each.choice.key == path) step.loss.path = each.meaning;
  return step;
}

// Steps from left to right. A tensor is a bar over its steps in memory, in the first free row.
class ChainDiagram {
 public:
  ChainDiagram(const LossChain& chain, std::size_t index, const ShownUnit& unit, bool hidden)
      : chain_(chain), index_(index), unit_(unit), hidden_(hidden) {
    diagram_.title = fmt::format("{}. {}", index + 1, chain.steps[index]);
    diagram_.unit = "bytes";
    diagram_.width = kWidth + 2 * kEdge;
    for (std::size_t i = 0; i < chain.steps.size(); ++i) add_step(i);
    for (std::size_t i = 0; i < chain.tensors.size(); ++i) add_tensor(i);
    const double below = kHead + kRow * static_cast<double>(free_.size());
    diagram_.height = below + (hidden ? 0 : kSums);
    if (!hidden) add_sums(below);
  }

  Diagram take() { return std::move(diagram_); }

 private:
  static constexpr double kWidth = 55, kHead = 1.9, kRow = 1.65, kSums = 4, kNumbers = 1.5, kAir = 0.15, kEdge = 0.4;

  double x_of(std::size_t step) const {
    return kEdge + kWidth * static_cast<double>(step) / static_cast<double>(chain_.steps.size());
  }

  DiagramBox over(std::size_t first, std::size_t last, double y, double height) const {
    return {.x = x_of(first) + kAir, .y = y, .width = x_of(last + 1) - x_of(first) - 2 * kAir, .height = height};
  }
  // A click shows this step.
  DiagramBox column(std::size_t i, double y, double height) const {
    DiagramBox box = over(i, i, y, height);
    box.marked = i == index_;
    box.tip = fmt::format("{}. {}", i + 1, chain_.steps[i]);
    box.action = SetParam{std::string(kFrameKey), std::to_string(i + 1)};
    return box;
  }

  void add_step(std::size_t i) {
    DiagramBox box = column(i, 0.1, kHead - 0.3);
    box.id = fmt::format("step_{}", i + 1);
    box.label = std::to_string(i + 1);
    diagram_.boxes.push_back(std::move(box));
  }

  // The first row free at the tensor's first step.
  std::size_t row_of(const ChainTensor& tensor) {
    const auto found = std::ranges::find_if(free_, [&](std::size_t from) { return from <= tensor.first; });
    if (found == free_.end()) {
      free_.push_back(tensor.last + 1);
      return free_.size() - 1;
    }
    *found = tensor.last + 1;
    return static_cast<std::size_t>(found - free_.begin());
  }

  BoxState state_of(const ChainTensor& tensor) const {
    if (index_ < tensor.first) return BoxState::kNotYet;
    return index_ > tensor.last ? BoxState::kFreed : BoxState::kAlive;
  }

  void add_tensor(std::size_t i) {
    const ChainTensor& tensor = chain_.tensors[i];
    DiagramBox box =
        over(tensor.first, tensor.last, kHead + kRow * static_cast<double>(row_of(tensor)), kRow - 2 * kAir);
    box.id = fmt::format("tensor_{}", i + 1);
    box.label = tensor.name;
    box.state = state_of(tensor);
    box.category = tensor.category;
    if (!hidden_) box.value = static_cast<double>(tensor.bytes);
    box.tip = fmt::format("{}: {}{}, {}", tensor.name, tensor.shape,
                          hidden_ ? "" : " = " + bytes_text(tensor.bytes, unit_), label_of(box.state));
    diagram_.boxes.push_back(std::move(box));
  }

  // Numbers are below the bars, because low bars have no room.
  void add_sums(double top) {
    const auto most = static_cast<double>(std::max<Bytes>(chain_.peak(), 1));
    for (std::size_t i = 0; i < chain_.steps.size(); ++i) {
      const Bytes bytes = chain_.logits(i);
      if (bytes == 0) continue;
      const double foot = top + kSums - kNumbers, height = (kSums - kNumbers - 0.5) * static_cast<double>(bytes) / most;
      DiagramBox box = column(i, foot - height, height), number = over(i, i, foot, kNumbers);
      box.id = fmt::format("sum_{}", i + 1);
      box.marked = false;  // the box's outline would cross the number
      box.state = BoxState::kAlive;
      box.category = record::Category::kLogits;
      box.value = static_cast<double>(bytes);
      box.tip += ": " + bytes_text(bytes, unit_) + " of logits";
      number.id = box.id + "_number";
      number.label = bytes_text(bytes, unit_);
      diagram_.boxes.push_back(std::move(box));
      diagram_.boxes.push_back(std::move(number));
    }
  }

  const LossChain& chain_;
  std::size_t index_;
  const ShownUnit& unit_;
  bool hidden_;
  std::vector<std::size_t> free_;  // first free step of each row
  Diagram diagram_;
};

std::string symbols(const StepSettings& step) {
  const predict::LossCode code = predict::loss_code(step);
  const std::int64_t element = step.element_bytes(), kept = code.returns_output && step.loss.keep_output ? 1 : 0;
  if (code.in_chunks)
    return fmt::format("{} · {}", element, step.loss.mode == kernels::FlceMode::kLean ? "B · T · C" : "C · V");
  if (code.in_place) return fmt::format("{} · V · B · T", element);
  if (code.shifts_logits) return fmt::format("{} · V · B · T − 8 · V · B", 12 + 4 * kept);
  return fmt::format("{} · V · B · T", 12 + element * kept);
}

Table peaks(const StepSettings& step, const ShownUnit& unit) {
  Table table{.head = "Most logits at once", .columns = {"symbols", "per token", "bytes"}};
  for (const record::Choice& path : kCodes) {
    const StepSettings each = on_path(step, path.key);
    const Bytes bytes = loss_chain(each).peak();
    table.rows.push_back(
        {.name = std::string(path.label),
         .cells = {symbols(each), record::format_count(bytes / each.tokens()) + " B", bytes_text(bytes, unit)},
         .tip = fmt::format("{}: {} B", path.label, record::format_count(bytes))});
  }
  return table;
}

void add_logits_chain_panels(FigureData& figure, const FigureInput& input) {
  const StepSettings set = predict::step_settings(reader_step(input)), step = on_path(set, input.params->text("path"));
  const bool hidden = input.view.hidden;
  const LossChain chain = loss_chain(step);
  const std::size_t index = show_frame(figure.head, *input.params, chain.steps.size());
  Bytes most = 0;
  for (const record::Choice& path : kCodes) most = std::max(most, loss_chain(on_path(set, path.key)).peak());
  const ShownUnit unit = byte_unit(static_cast<double>(most));
  std::string path;
  for (const auto& each : predict::kLossPaths)
    if (each.meaning == step.loss.path) path = each.choice.label;
  figure.head.provenance_line =
      fmt::format("{}, {} × {} tokens, V = {}, {}", path, step.batch, record::format_count(step.sequence),
                  record::format_count(step.model.vocab_size), step.element_bytes() == 4 ? "fp32" : "16 bits");
  figure.add(ChainDiagram(chain, index, unit, hidden).take());
  if (!hidden) figure.add(peaks(set, unit));
}

}  // namespace

extern const Figure kLogitsChain;
constinit const Figure kLogitsChain{
    .id = "logits_chain",
    .title = "Logits, step by step of the code",
    .caption = "Tensors that four ways to compute the loss allocate and free, and the most bytes at once",
    .schema = kLogitsChainSchema,
    .basis = Basis::kFormula,
    .add_panels = add_logits_chain_panels,
};

}  // namespace headroom::lessons
