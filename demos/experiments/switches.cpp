// Turns switches on and off.
#include "demos/experiments/switches.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <string>
#include <vector>

#include "demos/experiments/demo.h"

namespace headroom::experiments {

using predict::MemorySwitch;
using record::Params;

namespace {

enum class Turn { kOn, kOff };

// Fills in "batch={batch/2}"; nullopt if it does not divide.
std::optional<std::string> filled(std::string setting, const Params& params) {
  const std::size_t open = setting.find('{');
  const std::size_t sign = setting.find_first_of("/*", open);
  const std::int64_t own = params.integer(setting.substr(open + 1, sign - open - 1)), by = setting[sign + 1] - '0';
  if (setting[sign] == '/' && own % by != 0) return std::nullopt;
  return setting.substr(0, open) + std::to_string(setting[sign] == '/' ? own / by : own * by);
}

// Merges micro-batches into one batch: multiplies a divided value back and resets a multiplied one to 1.
std::string whole_again(const std::string& key, std::string_view setting, const Params& params) {
  if (setting.find('/') == std::string_view::npos) return key + "=1";
  return key + "=" + std::to_string(params.integer(key) * params.integer("accumulate"));
}

std::optional<Params> turned(const MemorySwitch& what, const Params& params, Turn turn) {
  Params now = params;
  const Params first(params.schema());
  for (const std::string_view setting : what.settings) {
    if (setting.empty()) continue;
    const std::string key(setting.substr(0, setting.find('=')));
    std::optional<std::string> assignment = std::string(setting);
    const bool computed = setting.find('{') != std::string_view::npos;
    if (turn == Turn::kOff)
      assignment = computed ? whole_again(key, setting, params) : key + "=" + first.as_text(key);
    else if (computed)
      assignment = filled(*assignment, params);
    if (!assignment || !now.set_assignment(*assignment)) return std::nullopt;
    if (!(turn == Turn::kOn ? now : params).in_use(key)) return std::nullopt;  // would change no step
  }
  return now == params ? std::nullopt : std::optional(now);
}

const record::ParamSpec* spec_of(const MemorySwitch& single) {
  const auto schema = training_step().schema;
  const auto found = std::ranges::find(schema, single.id, &record::ParamSpec::key);
  return found == schema.end() ? nullptr : &*found;
}

bool is_memory_switch(const std::string& setting) {
  return std::ranges::any_of(predict::memory_switches(), [&](const MemorySwitch& each) {
    return each.settings[0] == setting && each.settings[1].empty();
  });
}

// "Fused RMSNorm" becomes "fused RMSNorm"; abbreviations stay.
std::string as_a_chip(std::string label) {
  const bool word = label.size() > 1 && std::islower(static_cast<unsigned char>(label[1])) != 0;
  if (word) label[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(label[0])));
  return label;
}

// Saves no memory, and applies only to fp32.
constexpr MemorySwitch kTf32Products{"tf32",
                                     "products in tf32",
                                     "tf32 products",
                                     {"precision=fp32", "gemm=tf32"},
                                     /*costs_speed=*/false,
                                     /*costs_exactness=*/true,
                                     "Products read 10 bits of the fraction: faster, and as large."};

std::vector<MemorySwitch> make_single_switches() {
  static std::deque<std::string> words;  // storage for the switches' views
  std::vector<MemorySwitch> all{kTf32Products};
  for (const record::ParamSpec& spec : training_step().schema) {
    const std::string setting = std::string(spec.key) + "=on";
    const bool technique = spec.kind == record::ParamKind::kSwitch && spec.role == record::ParamRole::kTechnique;
    if (!technique || spec.default_number != 0 || is_memory_switch(setting)) continue;
    MemorySwitch& single = all.emplace_back();
    single.id = spec.key;
    single.label = spec.label;
    single.short_label = words.emplace_back(as_a_chip(std::string(spec.label)));
    single.settings[0] = words.emplace_back(setting);
    single.reason = words.emplace_back(std::string(spec.help) + ".");
  }
  return all;
}

}  // namespace

std::span<const MemorySwitch> single_switches() {
  static const std::vector<MemorySwitch> all = make_single_switches();
  return all;
}

bool is_kernel(const MemorySwitch& single) {
  const record::ParamSpec* const spec = spec_of(single);
  return spec != nullptr && spec->own_kernels.composed;
}

bool is_on(const MemorySwitch& what, const Params& params) {
  return std::ranges::all_of(what.settings, [&](std::string_view setting) {
    const std::size_t equals = setting.find('='), times = setting.find('*');
    if (setting.empty()) return true;
    if (times != std::string_view::npos)
      return params.integer(setting.substr(0, equals)) % (setting[times + 1] - '0') == 0;
    if (setting.find('{') != std::string_view::npos) return true;
    return params.as_text(setting.substr(0, equals)) == setting.substr(equals + 1);
  });
}

std::optional<Params> turned_on(const MemorySwitch& what, const Params& params) {
  return turned(what, params, Turn::kOn);
}

std::optional<Params> turned_off(const MemorySwitch& what, const Params& params) {
  return turned(what, params, Turn::kOff);
}

}  // namespace headroom::experiments
