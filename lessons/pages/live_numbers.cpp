// Numbers in a page's words that follow what is looked at.
#include "lessons/pages/live_numbers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "demos/predict/step_bytes.h"
#include "demos/predict/step_settings.h"
#include "lessons/pages/answers.h"

namespace headroom::lessons {

namespace {

using predict::StepSettings;
using record::Bytes;

std::string bytes_of(const NumberInput& input, Bytes (*formula)(const StepSettings&)) {
  return input.settings == nullptr ? std::string()
                                   : record::format_bytes(formula(predict::step_settings(*input.settings)));
}

std::string count_of(const NumberInput& input, std::int64_t (*formula)(const StepSettings&)) {
  return input.settings == nullptr ? std::string()
                                   : record::format_count(formula(predict::step_settings(*input.settings)));
}

// Of the last whole step.
std::string peak(const NumberInput& input) {
  const double bytes = input.run == nullptr ? -1 : find_answer("peak_of_step")->of(*input.run);
  return bytes < 0 ? std::string() : record::format_bytes(static_cast<Bytes>(bytes));
}

constexpr std::array kNumbers{
    LiveNumber{"flce.chunk", "tokens in a chunk of the fused loss",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return predict::loss_chunk(step); });
               }},
    LiveNumber{"inputs.bytes", "the inputs of all layers",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) { return predict::checkpoint_bytes(step); });
               }},
    LiveNumber{"logits.bytes", "one tensor of logits in fp32",
               [](const NumberInput& input) {
                 return bytes_of(input,
                                 [](const StepSettings& step) { return 4 * step.tokens() * step.model.vocab_size; });
               }},
    LiveNumber{"model.parameters", "parameters of the model",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return llama::num_parameters(step.model); });
               }},
    LiveNumber{"peak.bytes", "the peak of the last whole step", peak},
    LiveNumber{"step.tokens", "tokens of a step",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return step.tokens(); });
               }},
    LiveNumber{"weights.bytes", "the weights, in the format that the layers use",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) {
                   return step.element_bytes() * llama::num_parameters(step.model);
                 });
               }},
};

bool is_name(std::string_view text) {
  return text.find('.') != std::string_view::npos && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; });
}

}  // namespace

std::span<const LiveNumber> live_numbers() { return kNumbers; }

const LiveNumber* find_number(std::string_view name) {
  const auto found =
      std::find_if(kNumbers.begin(), kNumbers.end(), [&](const LiveNumber& each) { return each.name == name; });
  return found == kNumbers.end() ? nullptr : &*found;
}

std::vector<NumberPlace> numbers_in(std::string_view markdown) {
  std::vector<NumberPlace> places;
  bool formula = false;
  for (std::size_t at = 0; at < markdown.size(); ++at) {
    if (markdown[at] == '$') {
      formula = !formula;
      if (markdown.substr(at).starts_with("$$")) ++at;
    }
    if (formula || markdown[at] != '{') continue;
    const std::size_t end = markdown.find('}', at);
    if (end == std::string_view::npos) break;
    const std::string_view name = markdown.substr(at + 1, end - at - 1);
    if (is_name(name)) places.push_back({std::string(name), at, end + 1});
  }
  return places;
}

std::string with_numbers(std::string_view markdown, const NumberInput& input) {
  std::string text;
  std::size_t done = 0;
  for (const NumberPlace& place : numbers_in(markdown)) {
    const LiveNumber* number = find_number(place.name);
    const std::string value = number == nullptr ? std::string() : number->text(input);
    text += markdown.substr(done, place.begin - done);
    text += value.empty() ? "…" : value;
    done = place.end;
  }
  text += markdown.substr(done);
  return text;
}

}  // namespace headroom::lessons
