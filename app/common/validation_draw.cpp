// Draws random configurations from the schema and rejects those that cannot run.
#include "app/common/validation_draw.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "app/common/plan/predictions.h"
#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/llama/config.h"
#include "demos/predict/allocator/placed.h"
#include "demos/predict/forms/step_moments.h"
#include "demos/predict/step_settings.h"

namespace headroom::app {

using record::Bytes;
using record::ParamKind;
using record::Params;
using record::ParamSpec;

namespace {

// For example checkpointing=selective.
struct Technique {
  const ParamSpec* spec = nullptr;
  std::string_view value;
};

bool runs_on(const ParamSpec& spec, std::string_view value, bool on_gpu) {
  const bool of_gpu = spec.key == "cuda_graph" || spec.key == predict::kExpandableSegments;
  return on_gpu || (!of_gpu && !record::is_one_of(value, "cudnn"));
}

// All values of techniques other than their defaults. ZeRO is drawn separately.
std::vector<Technique> techniques(bool on_gpu) {
  std::vector<Technique> all;
  const Params defaults(experiments::training_step().schema);
  for (const ParamSpec& spec : experiments::training_step().schema) {
    const bool chosen = spec.kind == ParamKind::kChoice || spec.kind == ParamKind::kSwitch;
    if (!chosen || spec.role != record::ParamRole::kTechnique || spec.group == experiments::kRanksGroup) continue;
    for (const record::Choice& choice : record::choices_of(spec))
      if (choice.key != defaults.as_text(spec.key) && runs_on(spec, choice.key, on_gpu))
        all.push_back({&spec, choice.key});
  }
  return all;
}

class Draw {
 public:
  explicit Draw(const DrawOptions& options)
      : options_(options), random_(options.seed), techniques_(techniques(options.on_gpu)) {}

  // Draws a configuration with the next technique value in turn, paired with a value further down the list if the two
  // can be combined.
  Params one(int number) {
    constexpr int kTries = 10'000, kTriesForPair = 40;
    const std::size_t all = techniques_.size(), turn = static_cast<std::size_t>(number) % all;
    const std::size_t round = static_cast<std::size_t>(number) / all;
    const Technique &first = techniques_[turn], &second = techniques_[(turn + 5 + 11 * round) % all];
    for (int attempt = 0; attempt < kTries; ++attempt) {
      Params params(experiments::training_step().schema);
      draw_shape(params);
      (void)params.set("device", record::setting_of(device()));
      if (options_.ranks > 1) draw_scheme(params, number);
      const bool pair = attempt < kTriesForPair;
      if (draw() < 0.5) set(params, techniques_[random_() % all]);
      if (pair) set(params, second);
      set(params, first);
      if (!holds(params, first) || (pair && !holds(params, second)) || !runs(params)) continue;
      if (draw() < options_.part_that_runs_out) cap(params);
      return with_every_kind_of_step(std::move(params));
    }
    throw std::logic_error("no configuration can be drawn");
  }

  // Sets a cap under which some batch fits and a larger one does not; empty if there is no such cap.
  std::optional<Params> border(Params params) {
    const double part = options_.on_gpu ? 1 : 0.01;
    const auto limit = log_uniform(8 * part * record::kGiB, 24 * part * record::kGiB);
    put(params, "cap", 0);
    std::int64_t fits = 0, fails = kLargestBatch + 1;
    while (fits + 1 < fails) {
      const std::int64_t middle = fits + (fails - fits) / 2;
      put(params, "batch", middle);
      (closed_form_bytes(params) <= limit ? fits : fails) = middle;
    }
    put(params, "batch", fails);
    if (fits == 0 || fails > kLargestBatch || !runs(params)) return std::nullopt;
    put(params, "batch", 1);
    put(params, "cap", limit);
    return params;
  }

 private:
  static constexpr std::int64_t kLargestBatch = 64;

  record::DeviceKind device() const { return options_.on_gpu ? record::DeviceKind::kGpu : record::DeviceKind::kCpu; }
  double draw() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::int64_t log_uniform(double low, double high) {
    return static_cast<std::int64_t>(std::llround(std::exp(std::log(low) + draw() * (std::log(high) - std::log(low)))));
  }
  static std::int64_t rounded(std::int64_t value, std::int64_t step) {
    return std::max(step, (value + step / 2) / step * step);
  }
  static void put(Params& params, const char* key, std::int64_t value) {
    (void)params.set(key, record::ParamValue(value));
  }

  static bool holds(const Params& params, const Technique& technique) {
    return params.in_use(technique.spec->key) && params.as_text(technique.spec->key) == technique.value;
  }

  void draw_shape(Params& params) {
    (void)params.set("model", "custom");
    const std::int64_t head_dim = draw() < 0.5 ? 64 : 128;
    const std::int64_t kv_heads = std::int64_t{1} << (random_() % 4);
    const std::int64_t sharing = std::int64_t{1} << (random_() % 3);
    // Some widths suit no kernel; the others are like those of published models.
    const std::int64_t step = draw() < 0.2 ? 8 : 128;
    const bool gpu = options_.on_gpu;
    const std::int64_t hidden = rounded(log_uniform(gpu ? 768 : 64, gpu ? 4096 : 320), step);
    put(params, "hidden_size", hidden);
    put(params, "intermediate_size",
        rounded(static_cast<std::int64_t>(static_cast<double>(hidden) * (2.5 + 2 * draw())), step));
    put(params, "num_layers", log_uniform(gpu ? 8 : 2, gpu ? 40 : 6));
    put(params, "head_dim", gpu ? head_dim : head_dim / 2);
    put(params, "num_kv_heads", kv_heads);
    put(params, "num_heads", kv_heads * sharing * (gpu ? 2 : 1));
    put(params, "vocab_size", log_uniform(gpu ? 16'000 : 256, gpu ? 160'000 : 8'000));
    put(params, "batch", log_uniform(1, gpu ? 64 : 8));
    put(params, "seq", log_uniform(gpu ? 128 : 16, gpu ? 32'768 : 256));
    const auto& precision = *record::find_spec(params.schema(), "precision");
    const auto formats = record::choices_of(precision);
    (void)params.set("precision", formats[random_() % formats.size()].key);
  }

  void draw_scheme(Params& params, int number) {
    put(params, "ranks", options_.ranks);
    const auto set_choice = [&](std::string_view key, std::size_t place) {
      const auto values = record::choices_of(*record::find_spec(params.schema(), key));
      (void)params.set(key, values[place % values.size()].key);
    };
    set_choice("zero", static_cast<std::size_t>(number));
    set_choice("reduce", random_());
    put(params, "prefetch", static_cast<std::int64_t>(random_() % 3));
    if (options_.ranks % 2 == 0 && draw() < 0.25) put(params, "zero_group", options_.ranks / 2);
    if (draw() < 0.25) put(params, "bucket", 32 * record::kMiB);
    if (number % 5 < 2) put(params, "accumulate", 2 + static_cast<std::int64_t>(random_() % 3));
  }

  void set(Params& params, const Technique& technique) {
    const ParamSpec& spec = *technique.spec;
    if (!spec.needs_key.empty() && !params.in_use(spec.key)) {
      const std::string_view needed = spec.needs_value.substr(0, spec.needs_value.find('|'));
      (void)params.set(spec.needs_key, needed);
    }
    (void)params.set(spec.key, technique.value);
    // Some techniques need others, which the table of combinations names.
    for (int fixes = 0; fixes < 4; ++fixes) {
      const experiments::Conflict* const conflict = experiments::conflict_in(params);
      if (conflict == nullptr) return;
      const bool ours = conflict->key == spec.key;
      fix(params, ours ? conflict->other : conflict->key, ours ? conflict->other_value : conflict->value);
    }
  }
  void fix(Params& params, std::string_view key, std::string_view refused) {
    const ParamSpec& spec = *record::find_spec(params.schema(), key);
    const bool all_but = refused.starts_with('!');
    for (const record::Choice& choice : record::choices_of(spec)) {
      const bool goes = all_but == record::is_one_of(choice.key, refused.substr(all_but ? 1 : 0));
      if (goes) return (void)params.set(key, choice.key);
    }
    if (spec.kind == ParamKind::kInteger) (void)params.set(key, "1");
  }

  bool runs(const Params& params) const {
    if (experiments::refused_combination(params)) return false;
    const predict::StepSettings step = predict::step_settings(params);
    if (!llama::check(step.model)) return false;
    const double parameters = static_cast<double>(llama::num_parameters(step.model));
    const bool suits = options_.on_gpu ? parameters >= 0.1e9 && parameters <= 8.2e9 : parameters <= 30e6;
    const double tokens = static_cast<double>(step.tokens() * step.micro_batches);
    // FLOPs per token: 6 P, plus 12 L Q T / 2 for attention to half of all pairs (Kaplan et al. 2020,
    // arXiv:2001.08361).
    const double attention =
        6.0 * static_cast<double>(step.model.num_layers * step.model.num_heads * step.model.head_dim * step.sequence);
    const bool fp32 = step.precision == predict::Precision::kFp32;
    const double rate = fp32 ? options_.fp32_flops_per_second : options_.flops_per_second;
    const double seconds = tokens * (6 * parameters + attention) * 4 / 3 / rate + host_seconds(step, parameters);
    if (!suits || seconds > options_.longest_step) return false;
    return closed_form_bytes(params) < options_.memory / 10 * 9;
  }

  // Masters and moments move through host memory or a file, and weights cross the bus three times.
  static double host_seconds(const predict::StepSettings& step, double parameters) {
    constexpr double kHostRate = 50e9, kFileRate = 4e9, kBusRate = 20e9;  // bytes per second
    constexpr double kStateBytes = 12;                                    // per parameter
    double seconds = 0;
    if (step.offload.state == predict::StateOffload::kHost) seconds += 2 * kStateBytes * parameters / kHostRate;
    if (step.offload.state == predict::StateOffload::kFile) seconds += 2 * kStateBytes * parameters / kFileRate;
    if (step.offload.parameters) seconds += 3 * static_cast<double>(step.element_bytes()) * parameters / kBusRate;
    return seconds;
  }

  Bytes closed_form_bytes(const Params& params) const {
    return record::total(predict::highest_of(predict::step_moments(predict::step_settings(params), device())).bytes);
  }

  void cap(Params& params) {
    const auto bytes = static_cast<double>(closed_form_bytes(params));
    put(params, "cap", static_cast<Bytes>(bytes * (0.5 + 0.45 * draw())));
  }

  DrawOptions options_;
  std::mt19937 random_;
  std::vector<Technique> techniques_;
};

}  // namespace

std::vector<Params> draw_configurations(const DrawOptions& options) {
  Draw draw(options);
  std::vector<Params> drawn;
  for (int number = 0; number < options.count; ++number) drawn.push_back(draw.one(number));
  return drawn;
}

std::vector<Params> draw_borders(const DrawOptions& options, int count) {
  std::vector<Params> borders;
  Draw limits(options);
  for (const Params& params : draw_configurations(options)) {
    if (static_cast<int>(borders.size()) == count) break;
    if (auto border = limits.border(params)) borders.push_back(*std::move(border));
  }
  return borders;
}

std::string as_line(const Params& params) {
  const Params defaults(params.schema());
  std::string line;
  for (const ParamSpec& spec : params.schema()) {
    const std::string value = params.as_text(spec.key);
    if (value != defaults.as_text(spec.key)) line += fmt::format("{}{}={}", line.empty() ? "" : " ", spec.key, value);
  }
  return line;
}

record::Result<Params> from_line(std::string_view line) {
  Params params(experiments::training_step().schema);
  std::istringstream words{std::string(line)};
  for (std::string word; words >> word;)
    if (auto set = params.set_assignment(word); !set) return set.error();
  return params;
}

}  // namespace headroom::app
