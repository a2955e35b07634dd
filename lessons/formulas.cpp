// What a training step takes, in closed form.
#include "lessons/formulas.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::Category;

constexpr std::int64_t kFp32 = 4;
constexpr std::int64_t kMomentBlock = 256;  // moments that share an absmax
constexpr std::int64_t kNf4Block = 64, kNf4ScaleBlock = 256;
constexpr std::int64_t kChunk = 1024, kWideChunk = 2048;  // tokens of the chunked loss unless it is told otherwise

std::int64_t parts(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }
std::string count(std::int64_t n) { return record::format_count(n); }

struct Matrix {
  std::int64_t out = 0, in = 0;
  bool attention = false;
};

// Of one layer: queries, keys, values, output; gate, up, down.
std::array<Matrix, 7> projections(const llama::Config& c) {
  const std::int64_t queries = c.num_heads * c.head_dim, keys = c.num_kv_heads * c.head_dim;
  return {{{queries, c.hidden_size, true},
           {keys, c.hidden_size, true},
           {keys, c.hidden_size, true},
           {c.hidden_size, queries, true},
           {c.intermediate_size, c.hidden_size},
           {c.intermediate_size, c.hidden_size},
           {c.hidden_size, c.intermediate_size}}};
}

std::int64_t projection_weights(const llama::Config& config) {
  std::int64_t sum = 0;
  for (const Matrix& each : projections(config)) sum += each.out * each.in;
  return sum * config.num_layers;
}

bool is(const record::Params& params, std::string_view key, std::string_view value) {
  return params.has(key) && params.in_use(key) && params.as_text(key) == value;
}

// Collects the rows for one set of settings.
class Terms {
 public:
  explicit Terms(const record::Params& params) : params_(params), step_(step_numbers(params)) {
    const std::string adapters = params.text("adapters");
    quantised_ = adapters == "qlora";
    if (adapters != "off")
      adapters_ = lora_parameters(step_.config, params.integer("lora_rank"), params.text("lora_targets"));
  }

  std::vector<FormulaTerm> take() {
    weights();
    optimizer_state();
    gradients();
    checkpoints();
    loss();
    return std::move(terms_);
  }

 private:
  bool set(std::string_view key, std::string_view value) const { return is(params_, key, value); }

  void add(Category category, std::string name, std::string symbols, std::string numbers, Bytes bytes,
           Measured measured, bool on_host = false) {
    terms_.push_back({category, std::move(name), std::move(symbols), std::move(numbers), bytes, measured, on_host});
  }

  // What lies on the device is one term, so that it can be compared with what is measured; adapters are part of it.
  void weights() {
    const std::int64_t s = step_.element;
    const std::string and_adapters = adapters_ > 0 ? fmt::format(" + {} · adapters", s) : "",
                      their_number = adapters_ > 0 ? fmt::format(" + {} × {}", s, count(adapters_)) : "";
    const Bytes all = s * step_.parameters, of_adapters = s * adapters_;
    if (quantised_) {
      const std::int64_t quantised = projection_weights(step_.config), rest = step_.parameters - quantised;
      add(Category::kWeights, "Weights, projections in 4 bits",
          fmt::format("4.127 bits · P₄ + {} · (P − P₄){}", s, and_adapters),
          fmt::format("0.516 × {} + {} × {}{}", count(quantised), s, count(rest), their_number),
          nf4_bytes(quantised) + s * rest + of_adapters, Measured::kStanding);
    } else if (set("offload.parameters", "on")) {
      const Bytes near = s * (2 * step_.layer_parameters + step_.outer_parameters);
      add(Category::kWeights, "Weights on the device, at most", fmt::format("{} · (2 layers + all outside them)", s),
          fmt::format("{} × (2 × {} + {})", s, count(step_.layer_parameters), count(step_.outer_parameters)), near,
          Measured::kHighest);
      add(Category::kWeights, "Weights on the host", fmt::format("{} · P", s),
          fmt::format("{} × {}", s, count(step_.parameters)), all, Measured::kNothing, true);
    } else {
      add(Category::kWeights, adapters_ > 0 ? "Weights and adapters" : "Weights",
          fmt::format("{} · P{}", s, and_adapters), fmt::format("{} × {}{}", s, count(step_.parameters), their_number),
          all + of_adapters, Measured::kStanding);
    }
  }

  std::int64_t trained() const { return adapters_ > 0 ? adapters_ : step_.parameters; }

  void optimizer_state() {
    const bool host = !set("offload.optimizer", "off");
    const std::string p = adapters_ > 0 ? "adapters" : "P",
                      name = host ? "Optimizer state on the host" : "Optimizer state";
    const Measured measured = host ? Measured::kNothing : Measured::kStanding;
    const std::int64_t masters = step_.masters ? kFp32 : 0;
    if (set("optimizer", "adamw_8bit")) {
      add(Category::kOptimizerState, name, fmt::format("(1 + 1 + 8/256{}) · {}", masters > 0 ? " + 4" : "", p),
          fmt::format("{:.3f} × {}", 2 + 8.0 / 256 + static_cast<double>(masters), count(trained())),
          moments_8bit_bytes(trained()) + masters * trained(), measured, host);
    } else if (set("optimizer", "galore")) {
      galore(name, measured, host);
    } else if (masters > 0) {
      add(Category::kOptimizerState, name, fmt::format("(4 + {0} + {0}) · {1}", step_.moment, p),
          fmt::format("{} × {}", masters + 2 * step_.moment, count(trained())),
          (masters + 2 * step_.moment) * trained(), measured, host);
    } else {
      add(Category::kOptimizerState, name, fmt::format("({0} + {0}) · {1}", step_.moment, p),
          fmt::format("{} × {}", 2 * step_.moment, count(trained())), 2 * step_.moment * trained(), measured, host);
    }
  }

  void galore(const std::string& name, Measured measured, bool host) {
    const std::int64_t asked = params_.integer("galore_rank");
    const std::int64_t rank = asked > 0 ? asked : std::max<std::int64_t>(1, step_.config.hidden_size / 4);
    std::int64_t low = 0;
    for (const Matrix& each : projections(step_.config)) low += galore_elements(each.out, each.in, rank);
    low *= step_.config.num_layers;
    const std::int64_t rest = step_.parameters - projection_weights(step_.config);
    const std::int64_t masters = step_.masters ? kFp32 * step_.parameters : 0;
    add(Category::kOptimizerState, name, "4 · Σ (2 r · long + r · short) + 8 · rest",
        fmt::format("r = {}: 4 × {} + {} × {}", rank, count(low), 2 * step_.moment, count(rest)),
        kFp32 * low + 2 * step_.moment * rest + masters, measured, host);
  }

  void gradients() {
    const std::int64_t s = step_.element;
    // A tied table has two gradients, of the head and of the embedding, that stand side by side until they are added.
    const bool twice = step_.config.tie_word_embeddings && adapters_ == 0 && !set("fused.embedding", "on");
    const std::int64_t table = twice ? step_.config.vocab_size * step_.config.hidden_size : 0;
    if (set("optimizer_in_backward", "on") && adapters_ == 0) {
      const bool of_table = table > step_.layer_parameters;
      const std::int64_t more = std::max(table, step_.layer_parameters);
      add(Category::kGradients, "Gradients, at most",
          fmt::format("{} · ({} + all outside layers)", s, of_table ? "V · H" : "1 layer"),
          fmt::format("{} × ({} + {})", s, count(more), count(step_.outer_parameters)),
          s * (more + step_.outer_parameters), Measured::kHighest);
      return;
    }
    if (set("offload.parameters", "on")) {
      add(Category::kGradients, "Gradients on the host", fmt::format("{} · P", s),
          fmt::format("{} × {}", s, count(trained())), s * trained(), Measured::kNothing, true);
      return;
    }
    if (twice) {
      add(Category::kGradients, "Gradients, the tied embedding's twice", fmt::format("{} · (P + V · H)", s),
          fmt::format("{} × ({} + {})", s, count(trained()), count(table)), s * (trained() + table),
          Measured::kHighest);
      return;
    }
    add(Category::kGradients, "Gradients", fmt::format("{} · {}", s, adapters_ > 0 ? "adapters" : "P"),
        fmt::format("{} × {}", s, count(trained())), s * trained(), Measured::kHighest);
  }

  void checkpoints() {
    const std::string how = params_.text("checkpointing");
    if (how != "layer" && how != "every") return;  // what else is kept has no short form
    const std::int64_t every = how == "every" ? params_.integer("checkpoint_every") : 1;
    const std::int64_t kept = parts(step_.config.num_layers, every);
    const std::string one = fmt::format("{} × {} × {} × {}", count(step_.batch), count(step_.sequence),
                                        count(step_.config.hidden_size), step_.element);
    if (set("offload.checkpoints", "on")) {
      const Bytes single = checkpoint_bytes(step_, step_.config.num_layers);
      add(Category::kActivations, "Inputs on the device, at most", "2 · B · T · H · s", "2 × " + one, 2 * single,
          Measured::kAfterForward);
      add(Category::kActivations, "Inputs on the host", "B · T · H · s · L", fmt::format("{} × {}", one, kept),
          checkpoint_bytes(step_, every), Measured::kNothing, true);
      return;
    }
    add(Category::kActivations, every == 1 ? "Inputs of all layers" : fmt::format("Inputs of each {} layers", every),
        every == 1 ? "B · T · H · s · L" : "B · T · H · s · ⌈L / k⌉", fmt::format("{} × {}", one, kept),
        checkpoint_bytes(step_, every), Measured::kAfterForward);
  }

  void loss() {
    const std::string path = params_.text("loss");
    const std::int64_t n = step_.tokens(), v = step_.config.vocab_size, s = step_.element;
    const bool keep = set("keep_output", "on"), fused = set("fused.cross_entropy", "on");
    const Bytes bytes = loss_bytes(step_, path, keep, fused);
    if (path == "flce") {
      if (params_.text("loss_mode") == "lean") return;  // slices by the device
      const std::int64_t chunk = chunk_tokens();
      add(Category::kLogits, "Logits of a chunk", "C · V · s", fmt::format("{} × {} × {}", count(chunk), count(v), s),
          chunk * v * s, Measured::kHighest);
    } else if (path == "hf_2024") {
      const std::int64_t whole = keep ? 8 : 4;
      add(Category::kLogits, "Logits and loss", fmt::format("{} · V · B · T + 8 · V · B · (T − 1)", whole),
          fmt::format("{0} × {1} × {2} + 8 × {1} × {3}", whole, count(v), count(n), count(n - step_.batch)), bytes,
          Measured::kHighest);
    } else {
      const std::int64_t each = n > 0 && v > 0 ? bytes / (n * v) : 0;
      add(Category::kLogits, "Logits and loss", fmt::format("{} · V · B · T", each),
          fmt::format("{} × {} × {}", each, count(v), count(n)), bytes, Measured::kHighest);
    }
  }

  std::int64_t chunk_tokens() const {
    if (const std::int64_t asked = params_.integer("loss_chunk"); asked > 0) return std::min(asked, step_.tokens());
    if (params_.text("loss_mode") == "report") return report_chunk(step_.tokens(), step_.config);
    return std::min(step_.tokens(), params_.text("weight_gradient") == "fp32" ? kWideChunk : kChunk);
  }

  const record::Params& params_;
  StepNumbers step_;
  std::int64_t adapters_ = 0;  // trained weights; 0: all are trained
  bool quantised_ = false;
  std::vector<FormulaTerm> terms_;
};

}  // namespace

StepNumbers step_numbers(const record::Params& params) {
  StepNumbers step;
  if (const llama::Config* published = llama::find_config(params.text("model"))) {
    step.config = *published;
  } else {
    step.config = {.id = "custom",
                   .hidden_size = params.integer("hidden_size"),
                   .intermediate_size = params.integer("intermediate_size"),
                   .num_layers = params.integer("num_layers"),
                   .num_heads = params.integer("num_heads"),
                   .num_kv_heads = params.integer("num_kv_heads"),
                   .head_dim = params.integer("head_dim"),
                   .vocab_size = params.integer("vocab_size")};
  }
  const llama::Config& c = step.config;
  step.parameters = llama::num_parameters(c);
  step.outer_parameters = (c.tie_word_embeddings ? 1 : 2) * c.vocab_size * c.hidden_size + c.hidden_size;
  step.layer_parameters = (step.parameters - step.outer_parameters) / c.num_layers;
  step.micro_batches = params.integer("accumulate");
  step.batch = params.integer("batch");
  step.sequence = params.integer("seq");
  const std::string& precision = params.text("precision");
  step.element = precision == "fp32" ? kFp32 : 2;
  step.masters = precision.ends_with("_mixed");
  const std::string& moments = params.text("moments");
  step.moment = moments == "fp32" || step.masters ? kFp32 : moments == "bf16" ? 2 : step.element;
  if (moments == "bf16" && params.in_use("moments")) step.moment = 2;
  return step;
}

std::int64_t lora_parameters(const llama::Config& config, std::int64_t rank, std::string_view targets) {
  std::int64_t sum = 0;
  for (const Matrix& each : projections(config))
    if (targets == "all" || (targets == "attention") == each.attention) sum += rank * (each.out + each.in);
  return sum * config.num_layers;
}

Bytes nf4_bytes(std::int64_t weights) {
  const std::int64_t blocks = parts(weights, kNf4Block);
  return parts(weights, 2) + blocks + kFp32 * parts(blocks, kNf4ScaleBlock);
}

Bytes moments_8bit_bytes(std::int64_t parameters) {
  return 2 * parameters + 2 * kFp32 * parts(parameters, kMomentBlock);
}

std::int64_t galore_elements(std::int64_t rows, std::int64_t columns, std::int64_t rank) {
  const std::int64_t r = std::min({rank, rows, columns});
  return 2 * r * std::max(rows, columns) + r * std::min(rows, columns);
}

Bytes checkpoint_bytes(const StepNumbers& step, std::int64_t every) {
  return step.tokens() * step.config.hidden_size * step.element *
         parts(step.config.num_layers, std::max<std::int64_t>(1, every));
}

Bytes loss_bytes(const StepNumbers& step, std::string_view path, bool keep_output, bool fused_cross_entropy) {
  const std::int64_t v = step.config.vocab_size, tokens = step.tokens(), shifted = tokens - step.batch;
  if (path == "hf_2024") return (keep_output ? 8 : 4) * v * tokens + 8 * v * shifted;
  if (path == "hf_2025") return (12 + (keep_output ? step.element : 0)) * v * tokens;
  if (path == "flce") return report_chunk(tokens, step.config) * v * step.element;
  return (fused_cross_entropy ? step.element : 12) * v * tokens;
}

std::int64_t report_chunk(std::int64_t tokens, const llama::Config& config) {
  const std::int64_t part = parts(std::max<std::int64_t>(1, tokens), parts(config.vocab_size, config.hidden_size));
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(part)));
}

std::vector<FormulaTerm> step_formulas(const record::Params& params) { return Terms(params).take(); }

}  // namespace headroom::lessons
