// Memory left on a card by batch and sequence, with the settings' model and techniques. All cells are by closed form,
// so that they are comparable.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "demos/experiments/demo.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/predict/fits.h"
#include "demos/predict/forms/closed_form.h"
#include "lessons/card_limit.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"
#include "lessons/sources.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using predict::Verdict;
using record::Bytes;

constexpr std::array<std::int64_t, 7> kMapBatches{1, 2, 4, 8, 16, 32, 64};
constexpr std::array<std::int64_t, 6> kSequences{256, 512, 1024, 2048, 4096, 8192};

// `values` with the settings' own value inserted.
template <std::size_t kCount>
std::vector<std::int64_t> with_own(const std::array<std::int64_t, kCount>& values, std::int64_t own) {
  std::vector<std::int64_t> all(values.begin(), values.end());
  if (std::ranges::find(all, own) == all.end()) all.insert(std::ranges::upper_bound(all, own), own);
  return all;
}

// The settings' step at any batch and sequence, by closed form.
class MapSteps {
 public:
  explicit MapSteps(const record::Params& settings) : step_(predict::step_settings(settings)) {
    const auto model = experiments::described_model(step_);
    if (!model) return;
    step_.model = model.value().config;
    step_.extension = model.value().extension;
    beyond_ = !model.value().beyond_step.empty();
  }

  predict::Fit fit(std::int64_t batch, std::int64_t sequence, const CardLimit& limit) {
    step_.batch = batch;
    step_.sequence = sequence;
    const Bytes bytes = record::total(predict::closed_form(step_).peak().bytes);
    return predict::fit_of_closed_form(bytes, limit.memory, limit.process, beyond_);
  }

 private:
  predict::StepSettings step_;
  bool beyond_ = false;
};

std::string words_of(std::int64_t batch, std::int64_t sequence, const predict::Fit& fit) {
  const ShownUnit unit = byte_unit(double{2 * record::kGiB});
  const Bytes left = fit.limit - fit.reserved;
  return fmt::format("{} × {} tokens: {}, {} {} of {}", record::format_count(batch), record::format_count(sequence),
                     predict::label_of(fit.verdict), bytes_text(std::abs(left), unit), left >= 0 ? "left" : "missing",
                     bytes_text(fit.limit, unit));
}

// "up to 4 sequences of 1,024 tokens, by closed form"
std::string largest_words(MapSteps& steps, std::int64_t sequence, const CardLimit& limit) {
  // Bytes grow with the batch, so bisection finds the largest batch that fits.
  std::int64_t low = 0, high = 1 << 20;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (steps.fit(middle, sequence, limit).verdict == Verdict::kFits ? low : high) = middle;
  }
  const std::string most = low == 0
                               ? "not even one sequence"
                               : fmt::format("up to {} sequence{}", record::format_count(low), low == 1 ? "" : "s");
  return fmt::format("{} of {} tokens, by closed form", most, record::format_count(sequence));
}

// `predicted`: the exact border is known and shown elsewhere.
HeatMap map_of(const record::Params& settings, const CardLimit& limit, bool predicted) {
  const std::int64_t own_batch = settings.integer("batch"), own_sequence = settings.integer("seq");
  const auto batches = with_own(kMapBatches, own_batch), sequences = with_own(kSequences, own_sequence);
  MapSteps steps(settings);
  HeatMap map;
  map.low = 0;
  map.high_text = "GiB left by closed form; negative: missing";
  map.x_name = "sequences in a batch";
  for (const std::int64_t batch : batches) map.columns.push_back(record::format_count(batch));
  for (const std::int64_t sequence : sequences) {
    map.rows.push_back(record::format_count(sequence) + " tokens");
    map.cells.emplace_back();
    map.states.emplace_back();
    map.tips.emplace_back();
    map.settings.emplace_back();
    for (const std::int64_t batch : batches) {
      const bool own = batch == own_batch && sequence == own_sequence;
      const predict::Fit fit = steps.fit(batch, sequence, limit);
      if (own) map.chosen = MapCell{map.cells.size() - 1, map.cells.back().size()};
      map.cells.back().push_back(static_cast<double>(fit.limit - fit.reserved) / static_cast<double>(record::kGiB));
      map.states.back().push_back(fit.verdict);
      map.tips.back().push_back(words_of(batch, sequence, fit));
      map.settings.back().push_back({{"batch", std::to_string(batch)}, {"seq", std::to_string(sequence)}});
    }
  }
  map.title = fmt::format("On {}: {}", limit.name,
                          predicted ? "what is left, by closed form" : largest_words(steps, own_sequence, limit));
  return map;
}

void add_fit_map_panels(FigureData& figure, const FigureInput& input) {
  const bool of_run = input.settings == nullptr && input.run != nullptr && is_one_step(input.run->recording());
  if (const std::string unknown = of_run ? unknown_settings(input.run->recording().info()) : ""; !unknown.empty())
    return figure.leave_empty(fmt::format("This version has no formula for the run's {}.", unknown));
  const record::Params settings = of_run ? step_params_of(input.run->recording().info()) : reader_step(input);
  if (!begin_on_card(figure.head, input.view, settings)) return;
  const CardLimit limit = card_limit(input.view, settings);
  figure.head.provenance["card.memory_bytes"] = std::to_string(limit.memory);
  figure.head.provenance["card.process_bytes"] = std::to_string(limit.process.bytes);
  figure.add(map_of(settings, limit, input.predicted != nullptr));
}

}  // namespace

extern const Figure kFitMap;
constinit const Figure kFitMap{
    .id = "fit_map",
    .title = "Which steps fit",
    .caption = "What is left of a card for each batch and sequence, by closed form, and where steps stop fitting",
    .schema = {},
    .basis = Basis::kSettings,
    .on_card = true,
    .add_panels = add_fit_map_panels,
};

}  // namespace headroom::lessons
