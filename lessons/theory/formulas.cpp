// Builds the table of formulas.
#include "lessons/theory/formulas.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/optimizers.h"
#include "demos/record/timeline.h"

namespace headroom::lessons {
namespace {

using predict::AdapterKind;
using predict::LossPath;
using predict::OptimizerKind;
using predict::Place;
using predict::StateOffload;
using predict::StepMoment;
using record::Bytes;
using record::Category;

constexpr std::int64_t kFp32 = 4;

std::string count(std::int64_t n) { return record::format_count(n); }

struct Value {
  std::string symbols;
  std::string numbers;
  Bytes bytes = 0;
};

// A sum of tensors, by their element counts.
class Sum {
 public:
  void add(std::int64_t times, std::string_view symbol, std::int64_t elements) {
    if (times == 0) return;
    const std::string_view plus = elements_ > 0 ? " + " : "";
    symbols_ += fmt::format("{}{}{}", plus, times > 1 ? fmt::format("{} · ", times) : "", symbol);
    numbers_ += fmt::format("{}{}{}", plus, times > 1 ? fmt::format("{} × ", times) : "", count(elements));
    elements_ += times * elements;
    ++terms_;
  }
  Value times(std::int64_t bytes) const {
    const char* form = terms_ > 1 || symbols_.find(' ') != std::string::npos ? "{} {} ({})" : "{} {} {}";
    return {.symbols = fmt::format(fmt::runtime(form), bytes, "·", symbols_),
            .numbers = fmt::format(fmt::runtime(form), bytes, "×", numbers_),
            .bytes = bytes * elements_};
  }

 private:
  std::string symbols_, numbers_;
  std::int64_t elements_ = 0;
  int terms_ = 0;
};

// Short formulas per kind of memory. A cell shows a formula only if it gives exactly the cell's bytes.
class Formulas {
 public:
  explicit Formulas(const predict::StepSettings& step)
      : step_(step),
        parameters_(llama::num_parameters(step.model)),
        layer_(predict::layer_parameters(step.model)),
        outer_(predict::outer_parameters(step.model)),
        adapters_(predict::adapter_parameters(step)) {}

  std::string at(Place place, Category category, Bytes bytes) const {
    if (bytes == 0) return {};
    switch (category) {
      case Category::kWeights:
        return shown(weights(bytes), bytes);
      case Category::kOptimizerState:
        return shown(optimizer_state(), bytes);
      case Category::kGradients:
        return gradients(bytes);
      case Category::kActivations:
        return activations(place, bytes);
      case Category::kLogits:
        return logits(place, bytes);
      default:
        return {};
    }
  }

  // An optimizer on the host also has copies of weights and gradients there.
  std::vector<FormulaRow> on_host(std::size_t moments) const {
    std::vector<FormulaRow> rows;
    const auto add = [&](const char* name, Category category, const Value& value) {
      rows.push_back({.name = name,
                      .category = category,
                      .on_host = true,
                      .cells = std::vector<FormulaCell>(moments, {value.bytes, shown(value, value.bytes)})});
    };
    if (step_.offload.checkpoints) {
      const std::int64_t s = step_.element_bytes(), h = step_.model.hidden_size;
      const Bytes all = predict::checkpoint_bytes(step_);
      add("Inputs on the host", Category::kActivations,
          {step_.checkpoint_every == 1 ? "B · T · H · s · L" : "B · T · H · s · ⌈L / k⌉",
           fmt::format("{} × {} × {} × {} × {}", count(step_.batch), count(step_.sequence), count(h), s,
                       all / predict::layer_input_bytes(step_)),
           all});
    }
    if (predict::form_of(step_.optimizer.kind).paged)
      add("Optimizer state in managed memory", Category::kOptimizerState, optimizer_state());
    if (step_.offload.state != StateOffload::kOff) {
      Sum trained;
      trained.add(1, trained_symbol(), trained_parameters());
      add("Weights on the host", Category::kWeights, trained.times(step_.trained_bytes()));
      add(step_.offload.state == StateOffload::kFile ? "Optimizer state in a file" : "Optimizer state on the host",
          Category::kOptimizerState, optimizer_state());
      add("Gradients on the host", Category::kGradients, trained.times(step_.trained_bytes()));
    }
    return rows;
  }

 private:
  static std::string shown(const Value& value, Bytes bytes) {
    return value.bytes == bytes ? value.symbols + " = " + value.numbers : std::string();
  }

  std::int64_t trained_parameters() const { return predict::trained_parameters(step_); }
  std::string_view trained_symbol() const { return adapters_ > 0 ? "adapters" : "P"; }

  // Includes adapters. Streamed weights count only the layers in memory.
  Value weights(Bytes bytes) const {
    const std::int64_t s = step_.element_bytes(), a = step_.trained_bytes();
    const Bytes of_adapters = a * adapters_;
    const std::string and_adapters = adapters_ > 0 ? fmt::format(" + {} · adapters", a) : "",
                      their_number = adapters_ > 0 ? fmt::format(" + {} × {}", a, count(adapters_)) : "";
    if (step_.adapters.kind == AdapterKind::kQlora) {
      const std::int64_t quantised = predict::projection_parameters(step_.model), rest = parameters_ - quantised;
      return {fmt::format("4.127 bits · P₄ + {} · (P − P₄){}", s, and_adapters),
              fmt::format("0.516 × {} + {} × {}{}", count(quantised), s, count(rest), their_number),
              predict::nf4_bytes(step_.model) + s * rest + of_adapters};
    }
    if (step_.offload.parameters) {
      Sum sum;
      sum.add((bytes / s - outer_) / layer_, "layer", layer_);
      sum.add(1, "all outside layers", outer_);
      return sum.times(s);
    }
    return {fmt::format("{} · P{}", s, and_adapters), fmt::format("{} × {}{}", s, count(parameters_), their_number),
            s * parameters_ + of_adapters};
  }

  Value optimizer_state() const {
    const std::string_view p = trained_symbol();
    const std::int64_t masters = step_.masters() ? kFp32 : 0, moment = step_.moment_bytes(),
                       trained = trained_parameters();
    const Bytes bytes = predict::optimizer_state_bytes(step_);
    if (predict::form_of(step_.optimizer.kind).one_byte)
      return {fmt::format("(1 + 1 + 8/256{}) · {}", masters > 0 ? " + 4" : "", p),
              fmt::format("{:.3f} × {}", 2 + 8.0 / 256 + static_cast<double>(masters), count(trained)), bytes};
    if (predict::form_of(step_.optimizer.kind).low_rank) {
      const std::int64_t rest = parameters_ - predict::projection_parameters(step_.model);
      return {
          fmt::format("4 · Σ (2 r · long + r · short) + {} · rest{}", 2 * moment, masters > 0 ? " + 4 · P" : ""),
          fmt::format("r = {}: 4 × {} + {} × {}{}", step_.low_rank(), count(predict::galore_elements(step_)),
                      2 * moment, count(rest), masters > 0 ? fmt::format(" + {} × {}", masters, count(trained)) : ""),
          bytes};
    }
    if (masters > 0)
      return {fmt::format("(4 + {0} + {0}) · {1}", moment, p),
              fmt::format("{} × {}", masters + 2 * moment, count(trained)), bytes};
    return {fmt::format("({0} + {0}) · {1}", moment, p), fmt::format("{} × {}", 2 * moment, count(trained)), bytes};
  }

  // Tries sums of: all gradients, the vocabulary tables', one layer's and the final norm's.
  std::string gradients(Bytes bytes) const {
    const std::int64_t s = step_.trained_bytes(), h = step_.model.hidden_size;
    for (const std::int64_t all : {0, 1})
      for (const std::int64_t tables : {0, 1, 2, 3})
        for (const std::int64_t layers : {0, 1})
          for (const std::int64_t norms : {0, 1}) {
            if (all + layers > 1) continue;
            Sum sum;
            sum.add(all, trained_symbol(), trained_parameters());
            sum.add(tables, "V · H", step_.model.vocab_size * h);
            sum.add(layers, "layer", adapters_ > 0 ? adapters_ / step_.model.num_layers : layer_);
            sum.add(norms, "H", h);
            if (std::string formula = shown(sum.times(s), bytes); !formula.empty()) return formula;
          }
    return {};
  }

  // At the loss, all activations; at the end of the backward pass, a multiple of B · T · H.
  std::string activations(Place place, Bytes bytes) const {
    const std::int64_t tokens = step_.tokens(), s = step_.element_bytes(), layers = step_.model.num_layers;
    const Bytes rows = predict::layer_input_bytes(step_), norm = predict::final_norm_at_loss(step_);
    if (rows == 0) return {};
    if (place != Place::kLoss) {
      if (place != Place::kEmbedding || bytes % rows != 0) return {};
      Sum sum;
      sum.add(bytes / rows, "B · T · H", rows / s);
      return shown(sum.times(s), bytes);
    }
    if (step_.keeps_layer_inputs()) {
      const std::int64_t inputs = (bytes - norm) / rows, of_norm = norm * s / rows;  // of_norm: bytes per number
      const std::string_view symbol = step_.offload.checkpoints ? "1" : step_.checkpoint_every == 1 ? "L" : "⌈L / k⌉";
      return shown({fmt::format("B · T · H · (s · {} + {})", symbol, of_norm),
                    fmt::format("{} × {} × {} × ({} × {} + {})", count(step_.batch), count(step_.sequence),
                                count(step_.model.hidden_size), s, inputs, of_norm),
                    rows * inputs + norm},
                   bytes);
    }
    const Bytes each = (bytes - norm) / layers / tokens;
    return shown({"B · T · (L · layer + final norm)",
                  fmt::format("{} × ({} × {} + {})", count(tokens), layers, count(each), count(norm / tokens)),
                  tokens * (layers * each + norm / tokens)},
                 bytes);
  }

  std::string logits(Place place, Bytes bytes) const {
    const std::int64_t n = step_.tokens(), v = step_.model.vocab_size, s = step_.element_bytes();
    if (n == 0 || v == 0) return {};
    const bool at_loss = place == Place::kLoss;
    if (at_loss && step_.loss.path == LossPath::kFlce) {
      // V or C, padded to multiples of 8 columns.
      const bool lean = step_.loss.mode == kernels::FlceMode::kLean;
      const Bytes chunk = predict::loss_bytes(step_), more = bytes - chunk;  // `more`: gradient of normed rows
      const std::int64_t rows = lean ? n : predict::loss_chunk(step_), columns = rows > 0 ? chunk / (rows * s) : v;
      const std::string sum = fmt::format("{} × {} × {}", count(rows), count(columns), s);
      if (!lean) return shown({"C · V · s", sum, rows * columns * s}, bytes);
      return shown({fmt::format("B · T · (C · s + {} · H)", kFp32),
                    fmt::format("{} + {} × {} × {}", sum, kFp32, count(n), count(step_.model.hidden_size)),
                    rows * columns * s + more},
                   bytes);
    }
    if (at_loss && step_.loss.path == LossPath::kHf2024) {
      const std::int64_t whole = step_.loss.keep_output ? 8 : 4;
      return shown({fmt::format("{} · V · B · T + 8 · V · B · (T − 1)", whole),
                    fmt::format("{0} × {1} × {2} + 8 × {1} × {3}", whole, count(v), count(n), count(n - step_.batch)),
                    whole * v * n + 8 * v * (n - step_.batch)},
                   bytes);
    }
    const std::int64_t each = bytes / (n * v);
    return shown(
        {fmt::format("{} · V · B · T", each), fmt::format("{} × {} × {}", each, count(v), count(n)), each * v * n},
        bytes);
  }

  const predict::StepSettings& step_;
  std::int64_t parameters_, layer_, outer_;  // parameters of the model, of one layer, outside layers
  std::int64_t adapters_;                    // parameters trained next to frozen weights; 0: all weights are trained
};

struct Words {
  std::string name, brief;
};

// Moments other than the loss and the end of the backward pass are the step's peak.
Words words_of(const StepMoment& moment) {
  const std::string layer = fmt::format("layer {}", moment.layer + 1);
  switch (moment.place) {
    case Place::kForward:
      return {fmt::format("forward, {}", layer), "forward"};
    case Place::kLoss:
      return {"at the loss", "loss"};
    case Place::kHead:
      return {"backward, head", "head"};
    case Place::kFinalNorm:
      return {"backward, final norm", "norm"};
    case Place::kRecompute:
      return {fmt::format("recompute, {}", layer), layer};
    case Place::kLayer:
      return {fmt::format("backward, {}", layer), layer};
    case Place::kLayerStep:
      return {fmt::format("step of {}", layer), "step"};
    case Place::kEmbedding:
      return {"end of backward", "end"};
    case Place::kOptimizer:
      return {"optimizer step", "step"};
  }
  return {};
}

Bytes sum_of(const StepMoment& moment) { return record::total(moment.bytes); }

bool lower(const StepMoment* a, const StepMoment* b) { return sum_of(*a) < sum_of(*b); }

// The loss, the end of the backward pass, and the peak if it is neither, in step order.
std::vector<const StepMoment*> columns_of(const std::vector<StepMoment>& moments) {
  std::vector<const StepMoment*> columns;
  for (const Place place : {Place::kLoss, Place::kEmbedding}) {
    std::vector<const StepMoment*> there;
    for (const StepMoment& moment : moments)
      if (moment.place == place) there.push_back(&moment);
    if (!there.empty()) columns.push_back(*std::ranges::max_element(there, lower));
  }
  const StepMoment& peak = predict::highest_of(moments);
  if (columns.empty() || sum_of(peak) > sum_of(**std::ranges::max_element(columns, lower))) columns.push_back(&peak);
  std::ranges::stable_sort(columns, {}, &StepMoment::place);
  return columns;
}

struct Kind {
  const char* name;
  Category category;
};
constexpr std::array<Kind, 6> kKinds{{{"Weights", Category::kWeights},
                                      {"Optimizer state", Category::kOptimizerState},
                                      {"Gradients", Category::kGradients},
                                      {"Activations", Category::kActivations},
                                      {"Logits and loss", Category::kLogits},
                                      {"Workspace, ids, tables", Category::kWorkspace}}};

Bytes bytes_of(Category category, const record::ByCategory& bytes) {
  const auto of = [&](Category each) { return bytes[static_cast<std::size_t>(each)]; };
  return of(category) + (category == Category::kWorkspace ? of(Category::kOther) : 0);
}

// The event at which a mark's events end.
std::uint64_t end_of(const std::vector<record::Mark>& marks, std::size_t mark, const record::StepRange& step) {
  return mark + 1 < step.last_mark && mark + 1 < marks.size() ? marks[mark + 1].event_index : step.last;
}

record::Totals higher(const std::optional<record::Totals>& a, const record::Totals& b) {
  return a && a->allocated >= b.allocated ? *a : b;
}

// Highest totals over all micro-batches, as the last one has the others' gradients. The backward pass begins with the
// loss's own gradient, whose logits belong to the loss.
std::optional<record::Totals> at_loss(const record::Ledger& run, const record::StepRange& step) {
  const record::Recording& recording = run.recording();
  const auto& marks = recording.marks();
  std::optional<record::Totals> highest;
  for (std::size_t i = step.first_mark; i < std::min(step.last_mark, marks.size()); ++i) {
    const std::uint64_t first = marks[i].event_index, last = end_of(marks, i, step);
    if (marks[i].phase == record::Phase::kLoss) highest = higher(highest, run.extremes(first, last).high);
    const bool begins = i > 0 && marks[i - 1].phase == record::Phase::kLoss;
    if (!begins || marks[i].phase != record::Phase::kBackward) continue;
    for (std::uint64_t event = first; event < last; ++event) {
      const record::MemEvent& each = recording.events()[event];
      if (each.kind == record::EventKind::kAlloc && each.category == Category::kLogits)
        highest = higher(highest, run.at(event));
    }
  }
  return highest;
}

// The embedding has the backward pass's last mark outside the layers.
std::optional<record::Totals> at_end_of_backward(const record::Ledger& run, const record::StepRange& step) {
  const auto& marks = run.recording().marks();
  for (std::size_t i = std::min(step.last_mark, marks.size()); i-- > step.first_mark;)
    if (marks[i].phase == record::Phase::kBackward && marks[i].layer == record::kNoLayer)
      return run.extremes(marks[i].event_index, end_of(marks, i, step)).high;
  return std::nullopt;
}

}  // namespace

StepFormulas step_formulas(const predict::StepSettings& step, record::DeviceKind device) {
  const std::vector<StepMoment> moments = predict::step_moments(step, device);
  const Formulas formulas(step);
  const std::vector<const StepMoment*> columns = columns_of(moments);
  StepFormulas table;
  for (const StepMoment* moment : columns) {
    Words words = words_of(*moment);
    table.moments.push_back({moment->place, std::move(words.name), std::move(words.brief), sum_of(*moment)});
  }
  const auto highest = std::ranges::max_element(columns, lower);
  table.peak = static_cast<std::size_t>(highest - columns.begin());
  for (const Kind& kind : kKinds) {
    FormulaRow row{.name = kind.name, .category = kind.category};
    for (const StepMoment* moment : columns) {
      const Bytes bytes = bytes_of(kind.category, moment->bytes);
      row.cells.push_back({bytes, formulas.at(moment->place, kind.category, bytes)});
    }
    const bool there = std::ranges::any_of(row.cells, [](const FormulaCell& cell) { return cell.bytes > 0; });
    if (there) table.rows.push_back(std::move(row));
  }
  for (FormulaRow& row : formulas.on_host(columns.size())) table.rows.push_back(std::move(row));
  return table;
}

std::optional<record::Totals> totals_at(const record::Ledger& run, const FormulaMoment& moment) {
  const auto step = record::last_whole_step(run.recording());
  if (!step || step->first == step->last) return std::nullopt;
  if (moment.place == Place::kLoss) return at_loss(run, *step);
  if (moment.place == Place::kEmbedding) return at_end_of_backward(run, *step);
  return run.peak(step->first, step->last).totals;
}

Bytes bytes_of(const FormulaRow& row, const record::Totals& totals) {
  return bytes_of(row.category, totals.by_category);
}

}  // namespace headroom::lessons
