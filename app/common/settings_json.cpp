#include "app/common/settings_json.h"

#include <optional>

#include <nlohmann/json.hpp>

#include "demos/experiments/demo.h"
#include "demos/predict/step_settings.h"

namespace headroom::app {

using nlohmann::json;
using record::ParamKind;
using record::Params;
using record::ParamSpec;

namespace {

using Facts = std::map<std::string, std::string>;

json value_of(const Params& params, const ParamSpec& spec) {
  if (spec.kind == ParamKind::kInteger || spec.kind == ParamKind::kBytes) return params.integer(spec.key);
  if (spec.kind == ParamKind::kReal) return params.real(spec.key);
  return params.as_text(spec.key);
}

// Empty if unknown. `params` may contain only the settings that a sweep's points share.
std::optional<llama::Config> model_of(const Facts& params, const Facts& provenance) {
  const std::string model = record::fact_of(params, "model");
  if (model.empty()) return std::nullopt;
  if (const llama::Config* const published = llama::find_config(model)) return *published;
  return predict::taken_shape(provenance);
}

// Only model=custom reads these parameters.
bool is_length(const ParamSpec& spec) { return spec.needs_key == "model" && spec.needs_value == "custom"; }

}  // namespace

json settings_json(std::string_view demo, const Facts& params, const Facts& provenance) {
  const experiments::DemoInfo* const known_demo = experiments::find_demo(demo);
  const record::Schema schema = known_demo == nullptr ? record::Schema() : known_demo->schema;
  const Params known = Params::known_of(schema, params);
  const auto model = model_of(params, provenance);
  const Facts facts = model ? predict::shape_facts(*model) : Facts();
  json settings = params;
  for (const ParamSpec& spec : schema) {
    const std::string key(spec.key);
    const auto said = params.find(key);
    if (said == params.end()) continue;
    if (is_length(spec) && !known.in_use(key)) {
      const auto fact = facts.find("model." + key);
      settings[key] = fact == facts.end() ? json() : json(std::stoll(fact->second));
    } else if (said->second == known.as_text(key)) {
      settings[key] = value_of(known, spec);
    }
  }
  return settings;
}

}  // namespace headroom::app
