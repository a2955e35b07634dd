// Computes the numbers in a page's words.
#include "lessons/pages/numbers/live_numbers.h"

#include <algorithm>
#include <array>

#include "demos/experiments/schemas.h"
#include "demos/predict/forms/attention_work.h"
#include "demos/predict/forms/kept_tensors.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/optimizers.h"
#include "demos/predict/step_settings.h"
#include "demos/record/find.h"
#include "lessons/pages/answers.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/run_lines.h"

namespace headroom::lessons {

namespace {

using predict::StepSettings;
using record::Bytes;
using record::Category;

StepSettings step_of(const NumberInput& input) {
  return predict::step_settings(experiments::step_params(*input.settings));
}

// The run's peak; negative without a run or a whole step.
double peak_of(const record::Ledger* run) { return run == nullptr ? -1 : find_answer("peak_of_step")->of(*run); }

// Uses the unit of the highest peak, as the figure does.
std::string bytes_in_words(const NumberInput& input, Bytes bytes) {
  const double highest = std::max(peak_of(input.run), peak_of(input.baseline));
  return highest > 0 ? bytes_text(bytes, byte_unit(highest)) : record::format_bytes(bytes);
}

std::string bytes_of(const NumberInput& input, Bytes (*formula)(const StepSettings&)) {
  return input.settings == nullptr ? std::string() : bytes_in_words(input, formula(step_of(input)));
}

std::string count_of(const NumberInput& input, std::int64_t (*formula)(const StepSettings&)) {
  return input.settings == nullptr ? std::string() : record::format_count(formula(step_of(input)));
}

// Peak of the last whole step.
template <const record::Ledger* NumberInput::*kRun>
std::string peak(const NumberInput& input) {
  const double bytes = peak_of(input.*kRun);
  return bytes < 0 ? std::string() : bytes_in_words(input, static_cast<Bytes>(bytes));
}

// Bytes of one kind at the peak of the last whole step.
template <const record::Ledger* NumberInput::*kRun, record::Category kCategory>
std::string kind_at_peak(const NumberInput& input) {
  const record::Ledger* run = input.*kRun;
  if (run == nullptr) return {};
  const auto step = record::last_whole_step(run->recording());
  if (!step) return {};
  return bytes_in_words(input,
                        run->peak(step->first, step->last).totals.by_category[static_cast<std::size_t>(kCategory)]);
}

// Optimizer time of the last whole step. A prediction has no times.
std::string optimizer_time(const NumberInput& input) {
  if (input.run == nullptr || is_predicted(input.run->recording())) return {};
  const record::Recording& recording = input.run->recording();
  const auto step = record::last_whole_step(recording);
  if (!step) return {};
  const record::TimeMap map(recording, record::TimeAxis::kDevice, step->first, step->last);
  double time = 0;
  for (const record::PhaseSpan& span : record::phase_spans(recording, map, *step, true))
    if (span.phase == record::Phase::kOptimizer) time += span.end - span.begin;
  return time > 0 ? amount_text(time, time_unit(time)) : std::string();
}

// Bytes of one part in all layers; with checkpoints, in the layers recomputed at a time.
template <predict::KeptPart kPart>
std::string kept_of(const NumberInput& input) {
  return bytes_of(input, [](const StepSettings& step) {
    Bytes sum = 0;
    for (const predict::KeptTensor& tensor : predict::kept_tensors(step))
      if (tensor.part == kPart) sum += tensor.bytes;
    return sum * step.layers_at_once();
  });
}

std::string model_name(const NumberInput& input) {
  if (input.settings == nullptr) return {};
  const std::string& model = input.settings->text("model");
  for (const record::ParamSpec& spec : input.settings->schema())
    if (spec.key == "model" && model != "custom") return std::string(record::label_of(spec, model));
  return "This model";
}

constexpr auto kRun = &NumberInput::run;
constexpr auto kRunA = &NumberInput::baseline;

constexpr std::array kNumbers{
    LiveNumber{"a.peak.activations", kind_at_peak<kRunA, Category::kActivations>},
    LiveNumber{"a.peak.bytes", peak<kRunA>},
    LiveNumber{"a.peak.logits", kind_at_peak<kRunA, Category::kLogits>},
    LiveNumber{"a.peak.optimizer_state", kind_at_peak<kRunA, Category::kOptimizerState>},
    LiveNumber{"a.peak.weights", kind_at_peak<kRunA, Category::kWeights>},
    LiveNumber{"activations.bytes",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) { return predict::activation_bytes(step); });
               }},
    LiveNumber{"flce.chunk",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return predict::loss_chunk(step); });
               }},
    LiveNumber{"inputs.bytes",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) { return predict::checkpoint_bytes(step); });
               }},
    LiveNumber{"log_sum_exp.bytes",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) {
                   return step.model.num_layers * predict::log_sum_exp_bytes(step);
                 });
               }},
    LiveNumber{"kept.attention", kept_of<predict::KeptPart::kAttention>},
    LiveNumber{"kept.mlp", kept_of<predict::KeptPart::kMlp>},
    LiveNumber{"kept.norms", kept_of<predict::KeptPart::kNorms>},
    LiveNumber{"logits.bytes",
               [](const NumberInput& input) {
                 return bytes_of(input,
                                 [](const StepSettings& step) { return 4 * step.tokens() * step.model.vocab_size; });
               }},
    LiveNumber{"model.hidden_size",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return std::int64_t{step.model.hidden_size}; });
               }},
    LiveNumber{"model.name", model_name},
    LiveNumber{"model.parameters",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return llama::num_parameters(step.model); });
               }},
    LiveNumber{"model.vocab_over_hidden",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) {
                   return (2 * std::int64_t{step.model.vocab_size} / step.model.hidden_size + 1) / 2;
                 });
               }},
    LiveNumber{"model.vocab_size",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return std::int64_t{step.model.vocab_size}; });
               }},
    LiveNumber{"optimizer_state.bytes",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) { return predict::optimizer_state_bytes(step); });
               }},
    LiveNumber{"optimizer.time", optimizer_time},
    LiveNumber{"peak.activations", kind_at_peak<kRun, Category::kActivations>},
    LiveNumber{"peak.bytes", peak<kRun>},
    LiveNumber{"peak.logits", kind_at_peak<kRun, Category::kLogits>},
    LiveNumber{"peak.optimizer_state", kind_at_peak<kRun, Category::kOptimizerState>},
    LiveNumber{"peak.weights", kind_at_peak<kRun, Category::kWeights>},
    LiveNumber{"scores.bytes",
               [](const NumberInput& input) {
                 return bytes_of(input, [](const StepSettings& step) {
                   return step.model.num_layers * predict::score_bytes(step);
                 });
               }},
    LiveNumber{"step.tokens",
               [](const NumberInput& input) {
                 return count_of(input, [](const StepSettings& step) { return step.tokens(); });
               }},
    LiveNumber{"weights.bytes",
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

const LiveNumber* find_number(std::string_view name) { return record::find_in(kNumbers, name, &LiveNumber::name); }

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

std::vector<std::string> number_texts(std::string_view markdown, const NumberInput& input) {
  std::vector<std::string> texts;
  for (const NumberPlace& place : numbers_in(markdown)) {
    const LiveNumber* number = find_number(place.name);
    texts.push_back(number == nullptr ? std::string() : number->text(input));
  }
  return texts;
}

namespace {

bool ends_sentence(std::string_view markdown, std::size_t at) {
  const bool stop = markdown[at] == '.' || markdown[at] == '?' || markdown[at] == '!';
  return stop && (at + 1 == markdown.size() || markdown[at + 1] == ' ' || markdown[at + 1] == '\n');
}

struct Stretch {
  std::size_t begin = 0, end = 0;
};

// The sentence around a place in a line, with the blanks that follow.
Stretch sentence_around(std::string_view markdown, const NumberPlace& place) {
  Stretch sentence{place.begin, place.end};
  while (sentence.begin > 0 && markdown[sentence.begin - 1] != '\n' &&
         !(markdown[sentence.begin - 1] == ' ' && sentence.begin > 1 && ends_sentence(markdown, sentence.begin - 2)))
    --sentence.begin;
  while (sentence.end < markdown.size() && markdown[sentence.end] != '\n' && !ends_sentence(markdown, sentence.end - 1))
    ++sentence.end;
  while (sentence.end < markdown.size() && markdown[sentence.end] == ' ') ++sentence.end;
  return sentence;
}

}  // namespace

std::string with_numbers(std::string_view markdown, const NumberInput& input) {
  const std::vector<NumberPlace> places = numbers_in(markdown);
  const std::vector<std::string> texts = number_texts(markdown, input);
  std::string text;
  std::size_t done = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!texts[i].empty() || places[i].end <= done) continue;
    const Stretch sentence = sentence_around(markdown, places[i]);
    text += markdown.substr(done, sentence.begin - done);
    done = sentence.end;
    const bool line_ends = done == markdown.size() || markdown[done] == '\n';
    while (line_ends && text.ends_with(' ')) text.pop_back();
  }
  if (done == 0) return with_texts(markdown, texts);
  text += markdown.substr(done);
  return with_texts(text, number_texts(text, input));
}

std::string with_texts(std::string_view markdown, std::span<const std::string> texts) {
  std::string text;
  std::size_t done = 0, next = 0;
  for (const NumberPlace& place : numbers_in(markdown)) {
    const bool known = next < texts.size() && !texts[next].empty();
    text += markdown.substr(done, place.begin - done);
    text += known ? texts[next] : "…";
    done = place.end;
    ++next;
  }
  text += markdown.substr(done);
  return text;
}

}  // namespace headroom::lessons
