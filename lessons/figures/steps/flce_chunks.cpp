// Fused linear cross entropy chunk by chunk: a few tokens' logits, their gradient in place, and the head's two
// gradients (Hsu et al. 2024, arXiv:2410.10989, figure 1).
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::Category;

constexpr std::array kFlceChunksSchema{frame_param(2)};

// X [BT × H], W [V × H]. A part is C tokens or, if the vocabulary is sliced, C columns.
struct ChunkShape {
  std::int64_t tokens, vocab, hidden, part;
  Bytes element, input_gradient_element, head_gradient_element;
  bool by_columns;

  std::int64_t whole() const { return by_columns ? vocab : tokens; }
  std::int64_t parts() const { return (whole() + part - 1) / part; }
  // Length of part i; the last may be short.
  std::int64_t length(std::int64_t i) const { return std::min(part, whole() - i * part); }
  std::int64_t rows(std::int64_t i) const { return by_columns ? tokens : length(i); }
  std::int64_t columns(std::int64_t i) const { return by_columns ? length(i) : vocab; }
  Bytes inputs() const { return tokens * hidden * element; }
  Bytes input_gradient() const { return tokens * hidden * input_gradient_element; }
  Bytes head() const { return vocab * hidden * element; }
  Bytes head_gradient() const { return vocab * hidden * head_gradient_element; }
  Bytes logits(std::int64_t i) const { return rows(i) * columns(i) * element; }
  Bytes alive(std::int64_t i) const { return input_gradient() + head_gradient() + logits(i); }  // dX + dW + C · V
  Bytes all_logits() const { return tokens * vocab * 4; }
  ShownUnit unit() const { return byte_unit(static_cast<double>(std::max(all_logits(), alive(0)))); }
};

// Treats every loss as FLCE.
ChunkShape shape_of(const predict::StepSettings& step) {
  const bool lean = step.loss.mode == kernels::FlceMode::kLean;
  return {.tokens = step.tokens(),
          .vocab = step.model.vocab_size,
          .hidden = step.model.hidden_size,
          .part = predict::loss_chunk(step),
          .element = step.element_bytes(),
          .input_gradient_element = lean ? 4 : step.element_bytes(),
          .head_gradient_element = step.loss.fp32_weight_gradient ? 4 : step.element_bytes(),
          .by_columns = lean};
}

std::string by(std::int64_t a, std::int64_t b) {
  return fmt::format("{} × {}", record::format_count(a), record::format_count(b));
}

class ChunkDiagram {
 public:
  ChunkDiagram(const ChunkShape& shape, std::int64_t index) : shape_(shape), index_(index) {
    const auto done = static_cast<double>(index + 1) / static_cast<double>(shape.parts());
    diagram_.title = fmt::format("{} {} of {}: {} {}", shape.by_columns ? "Slice" : "Chunk", index + 1, shape.parts(),
                                 record::format_count(shape.length(index)), shape.by_columns ? "columns" : "tokens");
    diagram_.width = 30;
    diagram_.height = kTop + 13;
    diagram_.unit = "bytes";
    const std::size_t inputs = add("X", "hidden states X", 0.5, kTop, 5, 12, Category::kActivations, shape.inputs(), 1);
    const std::size_t head = add("W", "head W", 8, kTop, 5, 4, Category::kWeights, shape.head(), 1);
    const std::size_t logits =
        add("Z", "logits, then dZ", 8, kTop + 7.5, 6.5, 2.5, Category::kLogits, shape.logits(index), 1);
    const std::size_t dx = add("dX", "dX", 24, kTop, 5, 12, Category::kGradients, shape.input_gradient(), 1);
    const std::size_t dw = add("dW", "dW", 16.5, kTop, 5, 4, Category::kGradients, shape.head_gradient(), 1);
    // One gradient is summed over the parts, the other is filled part by part.
    DiagramBox &sum = diagram_.boxes[shape.by_columns ? dx : dw], &filled = diagram_.boxes[shape.by_columns ? dw : dx];
    sum.note = fmt::format("sum of {}", index + 1);
    filled.filled = done;
    filled.tip += fmt::format(", {:.0f} % filled", 100 * done);
    diagram_.boxes[logits].note = by(shape.rows(index), shape.columns(index));
    for (const std::size_t tall : {inputs, dx}) name_above(tall);  // they are partly marked or filled
    const std::size_t strip = add_strip(diagram_.boxes[shape.by_columns ? head : inputs]);
    const std::size_t x = shape.by_columns ? inputs : strip, w = shape.by_columns ? strip : head;
    arrow(x, logits, false);
    arrow(w, logits, false);
    arrow(logits, dw, false);
    arrow(logits, dx, false);
    arrow(x, dw, true);  // each gradient needs the other factor
    arrow(w, dx, true);
  }

  Diagram take() { return std::move(diagram_); }

 private:
  static constexpr double kTop = 1.6;  // top of the boxes; their names are above

  std::size_t add(std::string id, std::string label, double x, double y, double width, double height, Category category,
                  Bytes bytes, double filled) {
    diagram_.boxes.push_back({.id = std::move(id),
                              .x = x,
                              .y = y,
                              .width = width,
                              .height = height,
                              .label = label,
                              .state = BoxState::kAlive,
                              .filled = filled,
                              .category = category,
                              .value = static_cast<double>(bytes),
                              .tip = fmt::format("{}: {}", label, bytes_text(bytes, shape_.unit()))});
    return diagram_.boxes.size() - 1;
  }

  void name_above(std::size_t index) {
    DiagramBox& box = diagram_.boxes[index];
    DiagramBox name{.id = box.id + "_name", .x = box.x - 0.5, .y = 0, .width = box.width + 1, .height = kTop};
    name.label = std::exchange(box.label, {});
    diagram_.boxes.push_back(std::move(name));
  }

  // Adds this part's slice of X or W.
  std::size_t add_strip(const DiagramBox& of) {
    const double share = of.height / static_cast<double>(shape_.parts());
    const std::int64_t length = shape_.length(index_);
    diagram_.boxes.push_back({.id = of.id + "_c",
                              .x = of.x,
                              .y = of.y + share * static_cast<double>(index_),
                              .width = of.width,
                              .height = share,
                              .state = BoxState::kPlain,
                              .marked = true,
                              .value = static_cast<double>(length * shape_.hidden * shape_.element),
                              .tip = fmt::format("{} of this {}: {}", shape_.by_columns ? "columns" : "rows",
                                                 shape_.by_columns ? "slice" : "chunk", by(length, shape_.hidden))});
    return diagram_.boxes.size() - 1;
  }

  void arrow(std::size_t from, std::size_t to, bool dashed) {
    diagram_.arrows.push_back({.from = from, .to = to, .active = !dashed, .dashed = dashed});
  }

  const ChunkShape& shape_;
  std::int64_t index_;
  Diagram diagram_;
};

TableRow bytes_row(const ChunkShape& shape, std::optional<Category> category, std::string name, std::string note,
                   Bytes bytes) {
  std::string tip = fmt::format("{}: {} B", name, record::format_count(bytes));
  return {.category = category,
          .name = std::move(name),
          .note = std::move(note),
          .cells = {bytes_text(bytes, shape.unit())},
          .tip = std::move(tip)};
}

Table bytes_of(const ChunkShape& shape, std::int64_t index) {
  const std::string part = shape.by_columns ? "slice" : "chunk";
  Table table{.head = "In memory for the loss",
              .columns = {"bytes"},
              .foot = "All logits at once, in fp32: " + bytes_text(shape.all_logits(), shape.unit()) + "."};
  table.rows = {
      bytes_row(shape, Category::kGradients, "dX",
                fmt::format("BT · H · {0} = {1} · {0}", shape.input_gradient_element, by(shape.tokens, shape.hidden)),
                shape.input_gradient()),
      bytes_row(shape, Category::kGradients, "dW",
                fmt::format("V · H · {0} = {1} · {0}", shape.head_gradient_element, by(shape.vocab, shape.hidden)),
                shape.head_gradient()),
      bytes_row(shape, Category::kLogits, fmt::format("Logits of the {}, and their gradient in place", part),
                fmt::format("{} · {} = {} · {}", shape.by_columns ? "BT · C" : "C · V", shape.element,
                            by(shape.rows(index), shape.columns(index)), shape.element),
                shape.logits(index)),
      bytes_row(shape, std::nullopt, "Together", "dX + dW + logits", shape.alive(index))};
  return table;
}

void add_flce_chunks_panels(FigureData& figure, const FigureInput& input) {
  const ChunkShape shape = shape_of(predict::step_settings(reader_step(input)));
  const auto index =
      static_cast<std::int64_t>(show_frame(figure.head, *input.params, static_cast<std::size_t>(shape.parts())));
  figure.head.provenance_line = fmt::format("BT = {}, V = {}, H = {}, C = {}", record::format_count(shape.tokens),
                                            record::format_count(shape.vocab), record::format_count(shape.hidden),
                                            record::format_count(shape.part));
  figure.add(ChunkDiagram(shape, index).take());
  figure.add(bytes_of(shape, index));
}

}  // namespace

extern const Figure kFlceChunks;
constinit const Figure kFlceChunks{
    .id = "flce_chunks",
    .title = "The loss, chunk by chunk",
    .caption = "Logits of a few tokens at a time, their gradient in the same place, and what is in memory meanwhile",
    .schema = kFlceChunksSchema,
    .basis = Basis::kFormula,
    .add_panels = add_flce_chunks_panels,
};

}  // namespace headroom::lessons
