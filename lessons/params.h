// Parameters of figures, a line each. Those whose sliders double the value are experiments::number() and real().
#pragma once

#include <span>
#include <string_view>

#include "demos/experiments/schema_parts.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"

namespace headroom::lessons {

constexpr record::ParamSpec whole_param(std::string_view key, std::string_view label, std::string_view help,
                                        double minimum, double maximum, double default_number) {
  return experiments::linear(experiments::number(key, label, {}, help, minimum, maximum, default_number));
}

constexpr record::ParamSpec real_param(std::string_view key, std::string_view label, std::string_view help,
                                       double minimum, double maximum, double default_number) {
  return experiments::linear(experiments::real(key, label, help, minimum, maximum, default_number));
}

// A switch with its own words for on and off.
constexpr record::ParamSpec switch_param(std::string_view key, std::string_view label, std::string_view help,
                                         std::span<const record::Choice> words, bool on) {
  return {.key = key,
          .label = label,
          .help = help,
          .kind = record::ParamKind::kSwitch,
          .default_number = on ? 1.0 : 0.0,
          .choices = words};
}

// Figures of a run with this parameter show that rank.
inline constexpr record::ParamSpec kRankParam = whole_param(
    "rank", "Shown rank", "Number of the rank, from 0, if the run has several; the last one if there are fewer", 0, 1023, 0);

constexpr record::ParamSpec frame_param(double default_number) {
  return whole_param(kFrameKey, "Step", "Number of the step that is shown, from 1; the last one if there are fewer", 1,
                     1'000'000, default_number);
}

}  // namespace headroom::lessons
