// Fused linear cross entropy chunk by chunk: the logits of a few tokens, their gradient in the same place, and the two
// gradients of the head that fill (Hsu et al. 2024, arXiv:2410.10989, figure 1).
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/fused_linear_cross_entropy/chunk.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

extern const Figure kFlceChunks;

namespace {

using record::Bytes;
using record::Category;

constexpr std::array<record::Choice, 2> kChunks{{{"rule", "by the rule"}, {"fixed", "chosen"}}};
constexpr std::array<record::Choice, 2> kFormats{{{"16", "16 bits"}, {"32", "32 bits"}}};
constexpr std::array kSchema{
    record::ParamSpec{.key = "tokens",
                      .label = "Tokens",
                      .help = "Tokens of a batch, B · T",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 1,
                      .maximum = 1'048'576,
                      .default_number = 8192,
                      .logarithmic = true},
    record::ParamSpec{.key = "vocab",
                      .label = "Vocabulary",
                      .help = "Entries of the vocabulary, V",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 256,
                      .maximum = 1'048'576,
                      .default_number = 128'256,
                      .logarithmic = true},
    record::ParamSpec{.key = "hidden",
                      .label = "Hidden size",
                      .help = "Width of the hidden states, H",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 64,
                      .maximum = 65'536,
                      .default_number = 2048,
                      .logarithmic = true},
    record::ParamSpec{.key = "chunk",
                      .label = "Chunk",
                      .help = "Tokens per chunk: the rule makes its logits about as large as the hidden states",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "rule",
                      .choices = kChunks},
    record::ParamSpec{.key = "rows",
                      .label = "Tokens per chunk",
                      .help = "Tokens of a chunk, C",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 1,
                      .maximum = 1'048'576,
                      .default_number = 1024,
                      .logarithmic = true,
                      .needs_key = "chunk",
                      .needs_value = "fixed"},
    record::ParamSpec{.key = "head_gradient",
                      .label = "Head's gradient",
                      .help = "The format in which dW is summed over the chunks",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "16",
                      .choices = kFormats},
    frame_param(12),
};

constexpr Bytes kElement = 2;  // bf16 or fp16

// Everything in the figure's letters: X [BT × H], W [V × H], a chunk of C tokens.
struct Shape {
  std::int64_t tokens, vocab, hidden, chunk;
  Bytes head_element;

  std::int64_t chunks() const { return (tokens + chunk - 1) / chunk; }
  // Of the i-th chunk, from 0: the last may be short.
  std::int64_t rows(std::int64_t i) const { return std::min(chunk, tokens - i * chunk); }
  Bytes inputs() const { return tokens * hidden * kElement; }
  Bytes head() const { return vocab * hidden * kElement; }
  Bytes head_gradient() const { return vocab * hidden * head_element; }
  Bytes logits(std::int64_t i) const { return rows(i) * vocab * kElement; }
  Bytes alive(std::int64_t i) const { return inputs() + head_gradient() + logits(i); }  // dX + dW + C · V
  Bytes all_logits() const { return tokens * vocab * 4; }
  ShownUnit unit() const { return byte_unit(static_cast<double>(std::max(all_logits(), alive(0)))); }
};

Shape shape_of(const record::Params& params) {
  Shape shape{.tokens = params.integer("tokens"),
              .vocab = params.integer("vocab"),
              .hidden = params.integer("hidden"),
              .chunk = params.integer("rows"),
              .head_element = params.text("head_gradient") == "32" ? 4 : 2};
  if (params.text("chunk") == "rule")
    shape.chunk = kernels::flce_default_chunk(kernels::FlceMode::kReport, shape.tokens, shape.hidden, shape.vocab,
                                              kElement, false);
  shape.chunk = std::min(shape.chunk, shape.tokens);
  return shape;
}

std::string by(std::int64_t a, std::int64_t b) {
  return fmt::format("{} × {}", record::format_count(a), record::format_count(b));
}

class ChunkDiagram {
 public:
  ChunkDiagram(const Shape& shape, std::int64_t index) : shape_(shape), index_(index) {
    const auto done = static_cast<double>(index + 1) / static_cast<double>(shape.chunks());
    diagram_.title =
        fmt::format("Chunk {} of {}: {} tokens", index + 1, shape.chunks(), record::format_count(shape.rows(index)));
    diagram_.width = 30;
    diagram_.height = 14;
    diagram_.unit = "bytes";
    add("X", "hidden states X", 0.5, 1, 5, 12, Category::kActivations, shape.inputs(), 1);
    const std::size_t rows = strip();
    const std::size_t head = add("W", "head W", 8, 1, 5, 4, Category::kWeights, shape.head(), 1);
    const std::size_t logits = add("Z", "logits, then dZ", 8, 8.5, 6.5, 2.5, Category::kLogits, shape.logits(index), 1);
    const std::size_t dx = add("dX", "dX", 24, 1, 5, 12, Category::kGradients, shape.inputs(), done);
    const std::size_t dw = add("dW", "dW", 16.5, 1, 5, 4, Category::kGradients, shape.head_gradient(), 1);
    diagram_.boxes[dw].note = fmt::format("sum of {}", index + 1);
    diagram_.boxes[dx].tip += fmt::format(", {:.0f} % filled", 100 * done);
    diagram_.boxes[logits].note = by(shape.rows(index), shape.vocab);
    arrow(rows, logits, false);
    arrow(head, logits, false);
    arrow(logits, dw, false);
    arrow(logits, dx, false);
    arrow(rows, dw, true);  // each gradient needs the other factor
    arrow(head, dx, true);
  }

  Diagram take() { return std::move(diagram_); }

 private:
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

  // The rows of X that this chunk takes.
  std::size_t strip() {
    const double share = 12.0 / static_cast<double>(shape_.chunks());
    diagram_.boxes.push_back({.id = "X_c",
                              .x = 0.5,
                              .y = 1 + share * static_cast<double>(index_),
                              .width = 5,
                              .height = share,
                              .state = BoxState::kPlain,
                              .marked = true,
                              .value = static_cast<double>(shape_.rows(index_) * shape_.hidden * kElement),
                              .tip = fmt::format("rows of this chunk: {}", by(shape_.rows(index_), shape_.hidden))});
    return diagram_.boxes.size() - 1;
  }

  void arrow(std::size_t from, std::size_t to, bool dashed) {
    diagram_.arrows.push_back({.from = from, .to = to, .active = !dashed, .dashed = dashed});
  }

  const Shape& shape_;
  std::int64_t index_;
  Diagram diagram_;
};

TableRow bytes_row(const Shape& shape, std::optional<Category> category, std::string name, std::string note,
                   Bytes bytes) {
  std::string tip = fmt::format("{}: {} B", name, record::format_count(bytes));
  return {.category = category,
          .name = std::move(name),
          .note = std::move(note),
          .cells = {bytes_text(bytes, shape.unit())},
          .tip = std::move(tip)};
}

Table bytes_of(const Shape& shape, std::int64_t index) {
  const std::string rows = record::format_count(shape.rows(index)), vocab = record::format_count(shape.vocab);
  Table table{.head = "In memory for the loss",
              .columns = {"bytes"},
              .rows = {},
              .foot = "All logits at once, in fp32: " + bytes_text(shape.all_logits(), shape.unit()) + "."};
  table.rows = {bytes_row(shape, Category::kGradients, "dX",
                          fmt::format("BT · H · 2 = {} · 2", by(shape.tokens, shape.hidden)), shape.inputs()),
                bytes_row(shape, Category::kGradients, "dW",
                          fmt::format("V · H · {0} = {1} · {0}", shape.head_element, by(shape.vocab, shape.hidden)),
                          shape.head_gradient()),
                bytes_row(shape, Category::kLogits, "Logits of the chunk, and their gradient in place",
                          fmt::format("C · V · 2 = {} × {} · 2", rows, vocab), shape.logits(index)),
                bytes_row(shape, std::nullopt, "Together", "dX + dW + logits", shape.alive(index))};
  return table;
}

void add_panels(FigureData& figure, const FigureInput& input) {
  const Shape shape = shape_of(*input.params);
  const auto index =
      static_cast<std::int64_t>(show_frame(figure.head, *input.params, static_cast<std::size_t>(shape.chunks())));
  figure.head.provenance_line =
      fmt::format("BT = {}, V = {}, H = {}, C = {}, {} chunks", record::format_count(shape.tokens),
                  record::format_count(shape.vocab), record::format_count(shape.hidden),
                  record::format_count(shape.chunk), record::format_count(shape.chunks()));
  figure.panels.emplace_back(ChunkDiagram(shape, index).take());
  figure.panels.emplace_back(bytes_of(shape, index));
}

}  // namespace

constinit const Figure kFlceChunks{
    .id = "flce_chunks",
    .title = "The loss, chunk by chunk",
    .caption = "Logits of a few tokens at a time, their gradient in the same place, and what is in memory meanwhile",
    .schema = kSchema,
    .basis = Basis::kParameters,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
