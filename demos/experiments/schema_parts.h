// Choices and parameters that several demos share.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "demos/record/schema.h"

namespace headroom::experiments {

inline constexpr std::array kDevices{record::Choice{"auto", "automatic"}, record::Choice{"cpu", "CPU"},
                                     record::Choice{"cuda", "GPU"}};
// The first is small enough for any machine.
inline constexpr std::array kModels{
    record::Choice{"tiny", "Tiny, 4 M"},
    record::Choice{"llama-3.2-1b", "Llama 3.2 1B"},
    record::Choice{"llama-3.2-3b", "Llama 3.2 3B"},
    record::Choice{"llama-3-8b", "Llama 3 8B"},
    record::Choice{"custom", "Custom"},
};
inline constexpr std::array kStorages{
    record::Choice{"auto", "bf16, CPU: fp32"},
    record::Choice{"bf16", "bf16"},
    record::Choice{"fp16", "fp16"},
    record::Choice{"fp32", "fp32"},
};

constexpr record::ParamSpec choice(std::string_view key, std::string_view label, std::string_view help,
                                   std::span<const record::Choice> choices, std::string_view default_text = {}) {
  return {.key = key,
          .label = label,
          .help = help,
          .kind = record::ParamKind::kChoice,
          .default_text = default_text.empty() ? choices.front().key : default_text,
          .choices = choices};
}

constexpr record::ParamSpec on_off(std::string_view key, std::string_view label, std::string_view help,
                                   bool on = false) {
  return {.key = key,
          .label = label,
          .help = help,
          .kind = record::ParamKind::kSwitch,
          .maximum = 1,
          .default_number = on ? 1.0 : 0.0};
}

// The slider's steps double the value.
constexpr record::ParamSpec number(std::string_view key, std::string_view label, std::string_view unit,
                                   std::string_view help, double minimum, double maximum, double default_number) {
  return {.key = key,
          .label = label,
          .unit = unit,
          .help = help,
          .kind = record::ParamKind::kInteger,
          .minimum = minimum,
          .maximum = maximum,
          .default_number = default_number,
          .logarithmic = true};
}

// The slider's steps double the value.
constexpr record::ParamSpec real(std::string_view key, std::string_view label, std::string_view help, double minimum,
                                 double maximum, double default_number) {
  record::ParamSpec spec = number(key, label, {}, help, minimum, maximum, default_number);
  spec.kind = record::ParamKind::kReal;
  return spec;
}

constexpr record::ParamSpec size_in_bytes(std::string_view key, std::string_view label, std::string_view help,
                                          double minimum, double maximum, double default_number) {
  record::ParamSpec spec = number(key, label, "bytes", help, minimum, maximum, default_number);
  spec.kind = record::ParamKind::kBytes;
  return spec;
}

// A slider whose steps are equal.
constexpr record::ParamSpec linear(record::ParamSpec spec) {
  spec.logarithmic = false;
  return spec;
}

// Shown and used only while `key` has `value` or one of "a|b".
constexpr record::ParamSpec needs(record::ParamSpec spec, std::string_view key, std::string_view value) {
  spec.needs_key = key;
  spec.needs_value = value;
  return spec;
}

// Hidden under "More".
constexpr record::ParamSpec advanced(record::ParamSpec spec) {
  spec.advanced = true;
  return spec;
}

constexpr record::ParamSpec in(std::string_view group, record::ParamRole role, record::ParamSpec spec) {
  spec.group = group;
  spec.role = role;
  return spec;
}

constexpr record::ParamSpec shape(record::ParamSpec spec) { return in({}, record::ParamRole::kShape, spec); }
constexpr record::ParamSpec technique(record::ParamSpec spec) { return in({}, record::ParamRole::kTechnique, spec); }

constexpr record::ParamSpec file(std::string_view key, std::string_view label, std::string_view help,
                                 record::FileUse use) {
  return {.key = key, .label = label, .help = help, .kind = record::ParamKind::kFile, .advanced = true, .file = use};
}

// Shows `words` for 0 or for no file.
constexpr record::ParamSpec unset(std::string_view words, record::ParamSpec spec) {
  spec.unset = words;
  return spec;
}

constexpr record::ParamSpec own(record::ParamSpec spec, std::string_view values, std::string_view instead) {
  spec.own_kernels = {.values = values, .instead = instead};
  return spec;
}
// Like own(), but PyTorch's operators compute the same with `instead`.
constexpr record::ParamSpec composed(record::ParamSpec spec, std::string_view values, std::string_view instead) {
  spec.own_kernels = {.values = values, .instead = instead, .composed = true};
  return spec;
}

constexpr record::ParamSpec seed(std::string_view help) {
  return advanced(linear(number("seed", "Seed", {}, help, 0, 1e9, 0)));
}

constexpr record::ParamSpec device_choice(std::string_view help) { return choice("device", "Run on", help, kDevices); }

constexpr record::ParamSpec trace_switch(std::string_view help, bool on = false) {
  return advanced(on_off("trace", "Trace kernels", help, on));
}
inline bool trace_is_on(const record::Params& params) { return params.on("trace"); }

constexpr record::ParamSpec storage_choice(std::string_view help) {
  return choice("storage", "Storage", help, kStorages);
}

}  // namespace headroom::experiments
