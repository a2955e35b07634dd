// Named sets of settings of the training step: the switches of the ladder and the strategies of the report. The plans
// that run them are in app/common.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/schema.h"

namespace headroom::experiments {

// Assignments such as "precision=bf16"; empty behind the last.
using Settings = std::array<std::string_view, 8>;
void apply(record::Params& params, const Settings& settings);

struct LadderSwitch {
  std::string_view id;     // "adamw_8bit", as in --order
  std::string_view label;  // "8-bit AdamW", as a rung is called
  Settings settings;
  bool by_default = true;  // else it is off until it is asked for
};
// In the order in which a ladder takes them.
std::span<const LadderSwitch> ladder_switches();
// The label of a rung: of a switch, else the id itself ("naive").
std::string ladder_label(std::string_view id);
// What a ladder begins with: fp32, composed from plain operators, everything kept.
inline constexpr Settings kNaive{"attention=eager", "steps=5"};

// A setting that a later switch of the ladder turns off again.
struct TurnedOff {
  std::string_view key, value, words;  // "optimizer", "adamw_8bit", "8-bit moments"
};
std::span<const TurnedOff> turned_off_later();

// A measurement of other code beside ours: with which settings, apart from that code's own, and what was seen.
struct Compared {
  Settings settings;
  std::string_view seen;  // "ours took up to 0.3 % less for Llama 3.2 1B …"; empty behind the last
};
// Other code, whose steps allocate as ours does with these settings.
struct OtherCode {
  std::string_view id, name;  // "hf", "Hugging Face Transformers 5.17"
  Settings settings;
  std::array<Compared, 4> compared;
};
std::span<const OtherCode> other_codes();
// What was seen of that code with these techniques of `train_step`, as half a sentence, or that nothing was compared.
std::string nearness(const OtherCode& code, const record::Params& train_step);

// What PEFT takes beyond our step for adapters in fp32: a sentence. Empty: these settings have none.
std::string peft_takes_more(const record::Params& train_step);

// The report's strategies: how the loss and the elementwise operations are computed.
struct ReportStrategy {
  std::string_view series;  // "liger_all"
  Settings settings;
};
std::span<const ReportStrategy> report_strategies();
// What all its points share. Quick: the tiny model on the CPU, under a cap that is small enough for the first strategy to
// run out.
const Settings& report_settings(bool quick);

}  // namespace headroom::experiments
