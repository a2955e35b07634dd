// GPT-2 XL and three Llamas block by block, with changes marked, and the numbers of one block.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/block_model.h"
#include "demos/llama/architecture.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"

namespace headroom::lessons {
namespace {

using llama::Architecture;
using llama::Block;

constexpr std::array<record::Choice, llama::kNumBlocks + 1> kBlockChoices{{{"embedding", "Embedding"},
                                                                           {"positions", "Positions"},
                                                                           {"norms", "Norms of the layers"},
                                                                           {"attention", "Attention"},
                                                                           {"mlp", "MLP"},
                                                                           {"dropout", "Dropout"},
                                                                           {"final_norm", "Final norm"},
                                                                           {"head", "Output head"},
                                                                           {"all", "The whole model"}}};

constexpr std::array kArchitectureSchema{
    experiments::choice("block", "Block", "Block whose numbers the table shows; you can also click one", kBlockChoices,
                        "all"),
};
constexpr std::array<std::string_view, 3> kLlamas{"llama-2-7b", "llama-3-8b", "llama-3.2-1b"};
constexpr std::string_view kFirst = "gpt2-xl", kChangedName = "GPT-2 XL, changed";
constexpr std::int64_t kSharing = 5;  // query heads per key and value head
constexpr double kGiga = 1e9;

// GPT-2 XL with the changes of the reader's block, then the Llamas.
std::vector<Architecture> models_of(const Architecture& block) {
  Architecture first = *llama::find_architecture(kFirst);
  const bool shared = block.shape.num_kv_heads < block.shape.num_heads;
  if (!block.learned_positions || !block.layer_norm || !block.gelu || !block.dropout || !block.biases || shared)
    first.name = kChangedName;
  first.learned_positions = block.learned_positions;
  first.layer_norm = block.layer_norm;
  first.gelu = block.gelu;
  first.dropout = block.dropout;
  first.biases = block.biases;
  if (shared) first.shape.num_kv_heads /= kSharing;
  std::vector<Architecture> models{first};
  for (const std::string_view id : kLlamas) models.push_back(*llama::find_architecture(id));
  return models;
}

std::string words_of(const Architecture& model, Block block) {
  const llama::Config& c = model.shape;
  switch (block) {
    case Block::kEmbedding:
      return fmt::format("Embedding, {}", record::format_count(c.vocab_size));
    case Block::kPositions:
      return model.learned_positions ? "Learned positions" : "RoPE: Q, K";
    case Block::kNorms:
    case Block::kFinalNorm:
      return model.layer_norm ? "LayerNorm" : "RMSNorm";
    case Block::kAttention:
      return c.num_heads == c.num_kv_heads ? fmt::format("{} heads", c.num_heads)
                                           : fmt::format("{} heads, {} K and V", c.num_heads, c.num_kv_heads);
    case Block::kMlp:
      return model.gelu ? "MLP, GELU" : "MLP, SwiGLU";
    case Block::kDropout:
      return "dropout";
    case Block::kHead:
      return c.tie_word_embeddings ? "Head: the embedding" : "Separate head";
  }
  return {};
}

// True if the block differs from GPT-2 XL's. Sizes and the vocabulary do not count.
bool is_changed(const Architecture& model, Block block) {
  if (block == Block::kAttention) return model.shape.num_heads != model.shape.num_kv_heads;
  if (block == Block::kEmbedding) return false;
  return words_of(model, block) != words_of(*llama::find_architecture(kFirst), block);
}

std::string_view key_of(Block block) { return kBlockChoices[static_cast<std::size_t>(block)].key; }

std::string title_of(const Architecture& model) {
  if (model.name == kChangedName) return std::string(model.name);
  return fmt::format("{}: {} layers", model.name, model.shape.num_layers);
}

// Sizes in units of the diagram. The stream runs left of the blocks.
constexpr std::string_view kStreamName = "residual stream";
constexpr double kColumn = 10, kApart = 1.2, kRow = 1, kBlock = 2, kBetween = 0.28, kFrame = 0.25;
constexpr double kStream = 1.4, kBesideStream = 3.2, kMark = 0.9, kDropout = 2.75, kRope = 3.6;

// A model from embedding to head, with one layer drawn for all. Attention and MLP add their results to the residual
// stream. Marks show RoPE on queries and keys, and dropout on the embedding and on the results of attention and MLP.
class ModelColumn {
 public:
  ModelColumn(Diagram& diagram, const Architecture& model, double x, std::string_view chosen, bool hidden)
      : diagram_(diagram), model_(model), x_(x), chosen_(chosen), hidden_(hidden) {}

  // Returns the column's height.
  double draw() {
    diagram_.boxes.push_back(
        {.id = id("name"), .x = x_, .y = y_, .width = kColumn, .height = kRow, .label = title_of(model_)});
    y_ += kRow + kBetween;
    across(Block::kEmbedding);
    stream_ = node(y_ - kBetween);
    positions();
    const std::size_t frame = diagram_.boxes.size();
    diagram_.boxes.push_back({.id = id("layer"),
                              .x = x_ - kFrame,
                              .y = y_,
                              .width = kColumn + 2 * kFrame,
                              .state = BoxState::kSame,
                              .tip = fmt::format("{}: one of {} layers", model_.name, model_.shape.num_layers)});
    y_ += kFrame;
    norm();
    branch(Block::kAttention);
    norm();
    branch(Block::kMlp);
    y_ += kFrame - kBetween;
    diagram_.boxes[frame].height = y_ - diagram_.boxes[frame].y;
    y_ += kBetween;
    stream_to(node(y_));
    across(Block::kFinalNorm);
    across(Block::kHead);
    return y_;
  }

 private:
  std::string id(std::string_view part) const { return fmt::format("{}.{}", model_.shape.id, part); }

  std::size_t add(Block block, double x, double y, double width, double height) {
    const llama::BlockNumbers numbers = llama::numbers_of(model_, block, 0);
    DiagramBox box{.id = id(key_of(block)),
                   .x = x_ + x,
                   .y = y,
                   .width = width,
                   .height = height,
                   .label = words_of(model_, block),
                   .state = is_changed(model_, block) ? BoxState::kChanged : BoxState::kSame,
                   .marked = !hidden_ && key_of(block) == chosen_,
                   .tip = fmt::format("{}, {}: {}", model_.name, words_of(model_, block), numbers.shape),
                   .action = SetParam{"block", std::string(key_of(block))}};
    if (!hidden_) {
      const std::int64_t parameters = numbers.parameters / (block == Block::kNorms ? 2 : 1);  // one of two norms
      box.value = static_cast<double>(parameters);
      box.tip += fmt::format(", {} parameters", record::format_count(parameters));
    }
    diagram_.boxes.push_back(std::move(box));
    return diagram_.boxes.size() - 1;
  }

  void across(Block block) {
    add(block, 0, y_, kColumn, kRow);
    y_ += kRow + kBetween;
  }
  std::size_t beside_stream(Block block) { return add(block, kBesideStream, y_, kColumn - kBesideStream, kRow); }

  // Moves a label into the part of its box above `y1`.
  void words_in(std::size_t box, double y1) {
    DiagramBox words = diagram_.boxes[box];
    diagram_.boxes[box].label.clear();
    words.id += ".words";
    words.height = y1 - words.y;
    words.state = BoxState::kPlain;
    words.marked = false;
    words.value.reset();
    diagram_.boxes.push_back(std::move(words));
  }

  std::size_t dropout(double x, double row) {
    const std::size_t box = add(Block::kDropout, x, row + (kRow - kMark) / 2, kDropout, kMark);
    diagram_.boxes[box].id += fmt::format("{}", ++dropouts_);
    return box;
  }

  // The position table is added to the embedding; dropout acts on the sum.
  void positions() {
    if (model_.learned_positions || model_.dropout) {
      const std::size_t sum = model_.dropout ? dropout(kStream - kDropout / 2, y_) : plus(y_ + kRow / 2);
      if (model_.learned_positions) arrow(beside_stream(Block::kPositions), sum);
      stream_to(sum);
    } else {
      name_stream();
    }
    y_ += kRow + kBetween;
  }

  void name_stream() {
    const auto named = [](const DiagramBox& box) { return box.label == kStreamName; };
    if (std::ranges::any_of(diagram_.boxes, named)) return;
    diagram_.boxes.push_back({.id = id("stream.words"),
                              .x = x_ + kStream + kFrame,
                              .y = y_,
                              .width = kColumn - kStream - kBesideStream,
                              .height = kRow,
                              .label = std::string(kStreamName),
                              .tip = "Every block reads the stream and adds its result to it"});
  }

  void norm() {
    const std::size_t box = beside_stream(Block::kNorms);
    diagram_.boxes[box].id += fmt::format("{}", ++norms_);
    arrow(node(y_ + kRow / 2), box);
    y_ += kRow + kBetween;
  }

  // Draws attention or MLP, with marks in the lower half.
  void branch(Block block) {
    const std::size_t box = add(block, kBesideStream, y_, kColumn - kBesideStream, kBlock);
    const double half = y_ + kBlock / 2, inside = kFrame / 2;
    const bool has_rope = block == Block::kAttention && !model_.learned_positions;
    if (model_.dropout || has_rope) words_in(box, half);
    if (has_rope) add(Block::kPositions, kColumn - kRope - inside, half + (kRow - kMark) / 2, kRope, kMark);
    if (model_.dropout) dropout(kBesideStream + inside, half);
    const std::size_t sum = plus(y_ + kBlock / 2);
    arrow(box, sum);
    stream_to(sum);
    y_ += kBlock + kBetween;
  }

  // Adds a point of the stream.
  std::size_t node(double y) {
    diagram_.boxes.push_back(
        {.id = id("stream"), .x = x_ + kStream, .y = y, .width = 0, .height = 0, .tip = "The residual stream"});
    return diagram_.boxes.size() - 1;
  }
  std::size_t plus(double y) {
    diagram_.boxes.push_back({.id = id("sum"),
                              .x = x_ + kStream - kMark / 2,
                              .y = y - kMark / 2,
                              .width = kMark,
                              .height = kMark,
                              .label = "+",
                              .state = BoxState::kSame,
                              .tip = "Added to the residual stream"});
    return diagram_.boxes.size() - 1;
  }
  void arrow(std::size_t from, std::size_t to) { diagram_.arrows.push_back({.from = from, .to = to}); }
  void stream_to(std::size_t box) {
    diagram_.arrows.push_back({.from = stream_, .to = box, .active = true});
    stream_ = box;
  }

  Diagram& diagram_;
  const Architecture& model_;
  double x_ = 0, y_ = 0;
  std::size_t stream_ = 0;  // where the stream's next piece begins
  std::string_view chosen_;
  bool hidden_;
  int norms_ = 0, dropouts_ = 0;
};

Diagram diagram_of(const std::vector<Architecture>& models, std::string_view chosen, bool hidden) {
  Diagram diagram;
  diagram.width = static_cast<double>(models.size()) * (kColumn + kApart) - kApart + 2 * kFrame;
  diagram.unit = "parameters";
  for (std::size_t i = 0; i < models.size(); ++i) {
    ModelColumn column(diagram, models[i], kFrame + static_cast<double>(i) * (kColumn + kApart), chosen, hidden);
    diagram.height = column.draw();
  }
  return diagram;
}

// The chosen block's numbers, or the sum of all blocks.
llama::BlockNumbers numbers_of(const Architecture& model, std::string_view chosen, std::int64_t sequence) {
  llama::BlockNumbers all{.shape = fmt::format("H {}, F {}", record::format_count(model.shape.hidden_size),
                                               record::format_count(model.shape.intermediate_size))};
  for (std::size_t i = 0; i < llama::kNumBlocks; ++i) {
    llama::BlockNumbers each = llama::numbers_of(model, static_cast<Block>(i), sequence);
    if (kBlockChoices[i].key == chosen) return each;
    all.parameters += each.parameters;
    all.flops += each.flops;
    all.kept += each.kept;
  }
  return all;
}

Table table_of(const std::vector<Architecture>& models, const record::Params& params, const record::Params& settings) {
  const std::int64_t seq = settings.integer("seq"), tokens = settings.integer("batch") * seq;
  std::vector<llama::BlockNumbers> numbers;
  record::Bytes most = 1;
  for (const Architecture& each : models) {
    numbers.push_back(numbers_of(each, params.text("block"), seq));
    most = std::max(most, tokens * numbers.back().kept);
  }
  const ShownUnit unit = byte_unit(static_cast<double>(most));
  Table table{.head = std::string(record::label_of(kArchitectureSchema[0], params.text("block"))),
              .columns = {"shape", "parameters", "of all", "GFLOP per token", "kept"},
              .foot = fmt::format("In all layers. GFLOP: GEMMs in forward. Kept for backward: {} tokens, 16 bits.",
                                  record::format_count(tokens))};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const llama::BlockNumbers& n = numbers[i];
    const double share = static_cast<double>(n.parameters) / static_cast<double>(llama::num_parameters(models[i]));
    table.rows.push_back({.name = std::string(models[i].name),
                          .cells = {n.shape, record::format_count(n.parameters), fmt::format("{:.2f} %", 100 * share),
                                    n.flops > 0 ? fmt::format("{:.3f}", n.flops / kGiga) : "–",
                                    n.kept > 0 ? bytes_text(tokens * n.kept, unit) : "–"},
                          .tip = fmt::format("{}, {}: {} B per token for backward", models[i].name, n.shape,
                                             record::format_count(n.kept))});
  }
  return table;
}

// Settings of a block: the reader's or the run's, with defaults for what those of a training step lack.
record::Params block_of(const FigureInput& input) {
  const record::Schema schema = experiments::find_demo("block")->schema;
  if (input.settings != nullptr) return record::Params::known_of(schema, input.settings->to_map());
  if (input.run == nullptr) return record::Params(schema);
  return record::Params::known_of(schema, input.run->recording().info().params);
}

void add_architecture_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const record::Params settings = block_of(input);
  const bool hidden = input.view.hidden;
  const auto block = experiments::block_model(settings);
  if (!block) return figure.leave_empty(block.error().message);
  const std::vector<Architecture> models = models_of(block.value());
  figure.head.provenance_line = "from the models' published configurations";
  for (const char* key : {"batch", "seq", "positions", "norm", "mlp", "dropout", "num_kv_heads", "biases"})
    figure.head.provenance[fmt::format("setting.{}", key)] = settings.as_text(key);
  figure.add(diagram_of(models, params.text("block"), hidden));
  if (!hidden) figure.add(table_of(models, params, settings));
}

}  // namespace

extern const Figure kArchitecture;
constinit const Figure kArchitecture{
    .id = "architecture",
    .title = "From GPT-2 to Llama 3",
    .caption =
        "The blocks of four models, what changed between them, and one block's shape, parameters, operations and kept "
        "bytes",
    .schema = kArchitectureSchema,
    .basis = Basis::kFormula,
    .add_panels = add_architecture_panels,
};

}  // namespace headroom::lessons
