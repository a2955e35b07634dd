// Rows of the table of formulas.
#include "lessons/formulas.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "demos/predict/step_bytes.h"

namespace headroom::lessons {
namespace {

using predict::AdapterKind;
using predict::LossPath;
using predict::OptimizerKind;
using predict::StateOffload;
using record::Bytes;
using record::Category;

constexpr std::int64_t kFp32 = 4;

std::string count(std::int64_t n) { return record::format_count(n); }

// Collects the rows for one set of settings.
class Terms {
 public:
  explicit Terms(const predict::StepSettings& step)
      : step_(step),
        parameters_(llama::num_parameters(step.model)),
        layer_(predict::layer_parameters(step.model)),
        outer_(predict::outer_parameters(step.model)),
        adapters_(predict::adapter_parameters(step)) {}

  std::vector<FormulaTerm> take() {
    weights();
    optimizer_state();
    gradients();
    checkpoints();
    loss();
    return std::move(terms_);
  }

 private:
  void add(Category category, std::string name, std::string symbols, std::string numbers, Bytes bytes,
           Measured measured, bool on_host = false) {
    terms_.push_back({category, std::move(name), std::move(symbols), std::move(numbers), bytes, measured, on_host});
  }

  // What is on the device is one term, so that it can be compared with what is measured; adapters are part of it.
  void weights() {
    const std::int64_t s = step_.element_bytes(), a = step_.trained_bytes();
    const std::string and_adapters = adapters_ > 0 ? fmt::format(" + {} · adapters", a) : "",
                      their_number = adapters_ > 0 ? fmt::format(" + {} × {}", a, count(adapters_)) : "";
    const Bytes all = s * parameters_, of_adapters = a * adapters_;
    if (step_.adapters.kind == AdapterKind::kQlora) {
      const std::int64_t quantised = predict::projection_parameters(step_.model), rest = parameters_ - quantised;
      add(Category::kWeights, "Weights, projections in 4 bits",
          fmt::format("4.127 bits · P₄ + {} · (P − P₄){}", s, and_adapters),
          fmt::format("0.516 × {} + {} × {}{}", count(quantised), s, count(rest), their_number),
          predict::nf4_bytes(step_.model) + s * rest + of_adapters, Measured::kAtEnd);
    } else if (step_.offload_parameters) {
      const Bytes near = s * (2 * layer_ + outer_);
      add(Category::kWeights, "Weights on the device, at most", fmt::format("{} · (2 layers + all outside them)", s),
          fmt::format("{} × (2 × {} + {})", s, count(layer_), count(outer_)), near, Measured::kHighest);
      add(Category::kWeights, "Weights on the host", fmt::format("{} · P", s),
          fmt::format("{} × {}", s, count(parameters_)), all, Measured::kNothing, true);
    } else {
      add(Category::kWeights, adapters_ > 0 ? "Weights and adapters" : "Weights",
          fmt::format("{} · P{}", s, and_adapters), fmt::format("{} × {}{}", s, count(parameters_), their_number),
          all + of_adapters, Measured::kAtEnd);
    }
  }

  std::int64_t trained() const { return predict::trained_parameters(step_); }

  void optimizer_state() {
    const bool host = step_.offload_state != StateOffload::kOff;
    const std::string p = adapters_ > 0 ? "adapters" : "P",
                      name = host ? "Optimizer state on the host" : "Optimizer state";
    const Measured measured = host ? Measured::kNothing : Measured::kAtEnd;
    const std::int64_t masters = step_.masters() ? kFp32 : 0, moment = step_.moment_bytes();
    const Bytes bytes = predict::optimizer_state_bytes(step_);
    if (predict::has_8bit_moments(step_)) {
      add(Category::kOptimizerState, name, fmt::format("(1 + 1 + 8/256{}) · {}", masters > 0 ? " + 4" : "", p),
          fmt::format("{:.3f} × {}", 2 + 8.0 / 256 + static_cast<double>(masters), count(trained())), bytes, measured,
          host);
    } else if (step_.optimizer == OptimizerKind::kGaLore) {
      const std::int64_t rest = parameters_ - predict::projection_parameters(step_.model);
      add(Category::kOptimizerState, name,
          fmt::format("4 · Σ (2 r · long + r · short) + {} · rest{}", 2 * moment, masters > 0 ? " + 4 · P" : ""),
          fmt::format("r = {}: 4 × {} + {} × {}{}", step_.low_rank(), count(predict::galore_elements(step_)),
                      2 * moment, count(rest), masters > 0 ? fmt::format(" + {} × {}", masters, count(trained())) : ""),
          bytes, measured, host);
    } else if (masters > 0) {
      add(Category::kOptimizerState, name, fmt::format("(4 + {0} + {0}) · {1}", moment, p),
          fmt::format("{} × {}", masters + 2 * moment, count(trained())), bytes, measured, host);
    } else {
      add(Category::kOptimizerState, name, fmt::format("({0} + {0}) · {1}", moment, p),
          fmt::format("{} × {}", 2 * moment, count(trained())), bytes, measured, host);
    }
  }

  void gradients() {
    const std::int64_t s = step_.trained_bytes();
    // A tied table has two gradients, of the head and of the embedding, both alive until they are added.
    const bool twice = step_.model.tie_word_embeddings && adapters_ == 0 && !step_.fused.embedding;
    const bool apart = twice && predict::sums_tied_apart(step_);
    const std::int64_t table = (twice ? 1 + apart : 0) * step_.model.vocab_size * step_.model.hidden_size;
    const std::string_view tables = apart ? "2 · V · H" : "V · H";
    if (step_.optimizer_in_backward && adapters_ == 0) {
      const bool of_table = table > layer_;
      const std::int64_t more = std::max(table, layer_);
      add(Category::kGradients, "Gradients, at most",
          fmt::format("{} · ({} + all outside layers)", s, of_table ? tables : "1 layer"),
          fmt::format("{} × ({} + {})", s, count(more), count(outer_)), s * (more + outer_), Measured::kHighest);
      return;
    }
    if (step_.offload_parameters) {
      add(Category::kGradients, "Gradients on the host", fmt::format("{} · P", s),
          fmt::format("{} × {}", s, count(trained())), s * trained(), Measured::kNothing, true);
      return;
    }
    if (twice) {
      add(Category::kGradients,
          apart ? "Gradients, the tied embedding's and their sum" : "Gradients, the tied embedding's twice",
          fmt::format("{} · (P + {})", s, tables), fmt::format("{} × ({} + {})", s, count(trained()), count(table)),
          s * (trained() + table), Measured::kHighest);
      return;
    }
    add(Category::kGradients, "Gradients", fmt::format("{} · {}", s, adapters_ > 0 ? "adapters" : "P"),
        fmt::format("{} × {}", s, count(trained())), s * trained(), Measured::kHighest);
  }

  void checkpoints() {
    if (!step_.keeps_layer_inputs()) return;  // what else is kept has no short form
    const std::int64_t every = step_.checkpoint_every;
    const Bytes single = predict::layer_input_bytes(step_), all = predict::checkpoint_bytes(step_);
    const Bytes norm = predict::final_norm_bytes(step_);
    const std::int64_t kept = all / single, of_norm = norm * step_.element_bytes() / single;  // bytes per number
    const std::string width =
        fmt::format("{} × {} × {}", count(step_.batch), count(step_.sequence), count(step_.model.hidden_size));
    const auto numbers = [&](std::int64_t inputs) {
      return fmt::format("{} × ({} × {} + {})", width, step_.element_bytes(), inputs, of_norm);
    };
    if (step_.offload_checkpoints) {
      add(Category::kActivations, "Inputs on the device and the final norm, at most",
          fmt::format("B · T · H · (s · 2 + {})", of_norm), numbers(2), 2 * single + norm, Measured::kAfterForward);
      add(Category::kActivations, "Inputs on the host", "B · T · H · s · L",
          fmt::format("{} × {} × {}", width, step_.element_bytes(), kept), all, Measured::kNothing, true);
      return;
    }
    add(Category::kActivations,
        every == 1 ? "Inputs of all layers, and the final norm"
                   : fmt::format("Inputs of each {} layers, and the final norm", every),
        fmt::format("B · T · H · (s · {} + {})", every == 1 ? "L" : "⌈L / k⌉", of_norm), numbers(kept), all + norm,
        Measured::kAfterForward);
  }

  void loss() {
    const std::int64_t n = step_.tokens(), v = step_.model.vocab_size, s = step_.element_bytes();
    const Bytes bytes = predict::loss_bytes(step_);
    if (step_.loss == LossPath::kFlce) {
      // Rows of logits begin at multiples of 8 columns: V or C as it is laid out.
      const bool lean = step_.loss_mode == kernels::FlceMode::kLean;
      const std::int64_t rows = lean ? n : predict::loss_chunk(step_), columns = rows > 0 ? bytes / (rows * s) : v;
      add(Category::kLogits, lean ? "Logits of a slice" : "Logits of a chunk", lean ? "B · T · C · s" : "C · V · s",
          fmt::format("{} × {} × {}", count(rows), count(columns), s), bytes, Measured::kHighest);
    } else if (step_.loss == LossPath::kHf2024) {
      const std::int64_t whole = step_.keep_output ? 8 : 4;
      add(Category::kLogits, "Logits and loss", fmt::format("{} · V · B · T + 8 · V · B · (T − 1)", whole),
          fmt::format("{0} × {1} × {2} + 8 × {1} × {3}", whole, count(v), count(n), count(n - step_.batch)), bytes,
          Measured::kHighest);
    } else {
      const std::int64_t each = n > 0 && v > 0 ? bytes / (n * v) : 0;
      add(Category::kLogits, "Logits and loss", fmt::format("{} · V · B · T", each),
          fmt::format("{} × {} × {}", each, count(v), count(n)), bytes, Measured::kHighest);
    }
  }

  const predict::StepSettings& step_;
  std::int64_t parameters_, layer_, outer_;  // of the model, of one layer, of what belongs to no layer
  std::int64_t adapters_;                    // trained weights beside the frozen ones; 0: all weights are trained
  std::vector<FormulaTerm> terms_;
};

}  // namespace

std::vector<FormulaTerm> step_formulas(const predict::StepSettings& step) { return Terms(step).take(); }

}  // namespace headroom::lessons
