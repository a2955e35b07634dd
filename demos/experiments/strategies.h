// Named settings of the training step: where a ladder starts, what other codes use, and the report's strategies.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/schema.h"

namespace headroom::experiments {

// Assignments such as "precision=bf16", padded with empty strings.
using Settings = std::array<std::string_view, 8>;
void apply(record::Params& params, const Settings& settings);
// An unknown setting is a bug and throws.
void apply_one(record::Params& params, std::string_view setting);

// Start of a ladder: fp32, composed from plain operators, everything kept.
inline constexpr Settings kNaive{"attention=eager", "steps=5"};

// `settings` are in addition to OtherCode::settings.
struct Compared {
  Settings settings;
  std::string_view seen;  // "ours took up to 0.3 % less for Llama 3.2 1B …"; empty: end of list
};
// Other code, whose step allocates as ours does with `settings`.
struct OtherCode {
  std::string_view id, name;  // "hf", "Hugging Face Transformers 5.17"
  Settings settings;
  std::array<Compared, 4> compared;
};
std::span<const OtherCode> other_codes();
// Half a sentence on the measured difference, or that nothing was compared.
std::string nearness(const OtherCode& code, const record::Params& train_step);

// PEFT's extra memory; empty without fp32 adapters.
std::string peft_takes_more(const record::Params& train_step);

struct ReportStrategy {
  std::string_view series;
  Settings settings;
};
std::span<const ReportStrategy> report_strategies();
// Shared by all strategies. Quick: the tiny model on the CPU, with a cap so small that the first strategy runs out of
// memory.
const Settings& report_settings(bool quick);

}  // namespace headroom::experiments
