#include "lessons/theory/activation_line.h"

#include <algorithm>
#include <string>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/step_moments.h"

namespace headroom::lessons {

namespace {

constexpr std::int64_t kMostLinePlaces = 256;

bool of_a_step(const record::Params& settings) {
  return settings.schema().data() == experiments::training_step().schema.data();
}

std::string symbols(const predict::StepSettings& step) {
  if (!step.keeps_layer_inputs()) return "activations by closed form: L layers";
  return "activations by closed form: L/k inputs + k layers";
}

}  // namespace

std::optional<record::Bytes> closed_activation_bytes(const record::Params& settings) {
  if (!of_a_step(settings)) return std::nullopt;
  const predict::StepSettings step = predict::step_settings(settings);
  if (!step.files.weights.empty()) return std::nullopt;  // its shape is in the checkpoint
  return predict::activation_bytes(step);
}

bool same_bytes(const record::Params& a, const record::Params& b) {
  if (!of_a_step(a) || !of_a_step(b)) return a.schema().data() == b.schema().data();
  return closed_activation_bytes(a) == closed_activation_bytes(b) &&
         predict::step_moments(predict::step_settings(a)) == predict::step_moments(predict::step_settings(b));
}

void set_formula(FigureHead& head, const record::Params& settings) {
  head.provenance = {{"formulas", "closed form"}};
  for (const auto& [key, value] : settings.to_map())
    if (!settings.overruled(key)) head.provenance["setting." + key] = value;
}

void add_activation_line(Chart& chart, const record::Params& settings, const record::ParamSpec& swept) {
  if (swept.kind != record::ParamKind::kInteger || !closed_activation_bytes(settings)) return;
  const auto last = static_cast<std::int64_t>(std::min(chart.x.high, swept.maximum));
  const auto first = static_cast<std::int64_t>(std::max(chart.x.low, swept.minimum));
  const std::int64_t stride = std::max<std::int64_t>(1, (last - first) / kMostLinePlaces);
  ChartReference line{.label = symbols(predict::step_settings(settings))};
  record::Params params = settings;
  for (std::int64_t x = first; x <= last; x += stride) {
    (void)params.set(swept.key, record::ParamValue(x));
    const auto bytes = closed_activation_bytes(params);
    if (!bytes) continue;
    line.x.push_back(static_cast<double>(x));
    line.y.push_back(static_cast<double>(*bytes));
  }
  if (line.x.size() > 1) chart.references.push_back(std::move(line));
}

}  // namespace headroom::lessons
