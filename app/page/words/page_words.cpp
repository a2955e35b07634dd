// Writes sentences about a page.
#include "app/page/words/page_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "app/common/summary.h"
#include "app/page/page_facts.h"
#include "demos/predict/cards/card_names.h"
#include "lessons/names.h"
#include "lessons/steps/step_work.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

// "in the loss"
std::string_view when(record::Phase phase) {
  constexpr std::array<std::string_view, record::kNumPhases> kWords{
      "before the first step", "in the forward pass", "in the loss", "while recomputing a layer",
      "in the backward pass",  "in the optimizer",    "in a copy",   "in the evaluation"};
  return kWords.at(static_cast<std::size_t>(phase));
}

// `outcome.out_of_memory` must be set.
Notice out_of_memory(const record::Outcome& outcome) {
  record::OutOfMemoryFacts facts = *outcome.out_of_memory;
  if (!facts.op.empty()) facts.op = lessons::tensor_name(record::Category::kActivations, facts.op);
  return Notice{Notice::Kind::kOutOfMemory, fmt::format("Out of memory {}", when(facts.phase)), explain(facts)};
}

Notice your_model(const OwnModel& own, const std::optional<Needs>& needs) {
  if (!own.trouble.empty()) return {Notice::Kind::kTrouble, "Your model cannot be read", own.trouble};
  Notice notice{Notice::Kind::kVerdict, "Your model", own.words()};
  if (needs)
    notice.body +=
        fmt::format(" A run is predicted to need {}; {} are free here{}.", record::format_bytes(needs->bytes),
                    record::format_bytes(needs->of), needs->bytes > needs->of ? ": it does not fit" : "");
  return notice;
}

std::optional<Notice> recorded_notice(const record::Recording& run, const char* key, const char* title) {
  const auto& provenance = run.info().provenance;
  const auto fact = provenance.find(key);
  if (fact == provenance.end()) return std::nullopt;
  return Notice{Notice::Kind::kTrouble, title, fact->second};
}

std::optional<Notice> run_notice(const PageModel& page) {
  if (const OwnModel* const own = page.own_model(); own != nullptr) return your_model(*own, needs_of(page));
  const RunOnShow* const run = page.on_show();
  if (run == nullptr) return std::nullopt;
  if (const std::string unknown = lessons::unknown_settings(run->recording->info()); !unknown.empty())
    return Notice{Notice::Kind::kTrouble, "This run has settings that this version does not know",
                  fmt::format("It was made with {}. The figure shows what was recorded, but the settings next to it do "
                              "not include those.",
                              unknown)};
  if (auto trouble = recorded_notice(*run->recording, "kernels_trouble", "Without our kernels")) return trouble;
  if (auto products = recorded_notice(*run->recording, "gemm", "How GEMMs were computed")) return products;
  // The type of ids may be inferred, so it is shown.
  auto tokens = recorded_notice(*run->recording, "tokens", "What it was trained on");
  return tokens && tokens->body.starts_with("ids of ") ? tokens : std::nullopt;
}

std::optional<Notice> outcome_notice(const PageModel& page, const record::Outcome& outcome) {
  const RunOnShow* const run = page.on_show();
  const std::uint64_t kept = run == nullptr ? 0 : run->recording->events().size();
  const auto kept_words = [&] {
    return fmt::format("{} All {} events up to that point are kept.", outcome.message,
                       record::format_count(static_cast<std::int64_t>(kept)));
  };
  switch (outcome.kind) {
    case record::OutcomeKind::kCompleted:
    case record::OutcomeKind::kCancelled:
      return run_notice(page);
    case record::OutcomeKind::kOutOfMemory:
      if (page.question().hides() || !outcome.out_of_memory) return std::nullopt;  // the notice would reveal the answer
      return out_of_memory(outcome);
    case record::OutcomeKind::kRefused:
      return Notice{Notice::Kind::kTrouble, "This run was refused", outcome.message};
    case record::OutcomeKind::kEngineLost:
      return Notice{Notice::Kind::kTrouble, "The engine stopped and is being restarted", kept_words()};
    case record::OutcomeKind::kFailed:
      return Notice{Notice::Kind::kTrouble, "The run failed", kept_words()};
  }
  return std::nullopt;
}

// Quotes words with blanks or signs that a shell reads.
std::string in_shell(const std::string& word) {
  constexpr std::string_view kPlain = "-_./=:,+";
  const bool plain = !word.empty() && std::ranges::all_of(word, [kPlain](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "\"";
  for (const char c : word) {
    if (std::string_view("\"$\\`").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

// " --set precision=bf16 --set loss=flce": the settings in use that differ from the defaults, without those of a run.
std::string settings_as_options(const record::Params& settings, std::string_view option,
                                const std::vector<std::string_view>& except) {
  std::string options;
  const record::Params first(settings.schema());
  for (const record::ParamSpec& spec : first.schema()) {
    if (!decides_work(spec) || !settings.in_use(spec.key) || std::ranges::find(except, spec.key) != except.end())
      continue;
    const std::string value = settings.as_text(spec.key);
    if (value != first.as_text(spec.key))
      options += fmt::format(" {} {}", option, in_shell(fmt::format("{}={}", spec.key, value)));
  }
  return options;
}

// A card that the table lacks is named by its size.
std::string card_as_option(const PlannedCard& card) {
  const bool known = !predict::find_cards(card.name).empty();
  const bool whole = card.memory % record::kGiB == 0;
  const std::string size =
      whole ? fmt::format("{}GiB", card.memory / record::kGiB) : fmt::format("{}MiB", card.memory / record::kMiB);
  return " --card " + in_shell(known ? card.name : size);
}

}  // namespace

std::optional<Notice> notice_of(const PageModel& page) {
  const bool hides = page.question().hides();
  const Forecast& forecast = page.forecast();
  const RunOnShow* const run = page.on_show();
  if (page.shows_prediction() && forecast.by_closed_form() && !hides)
    return Notice{Notice::Kind::kVerdict, "The closed form, for a GPU",
                  "Only tensors, computed by formula, at the moments that can be the peak. " + forecast.why_none()};
  if (const std::string& refusal = page.control().refusal(); !refusal.empty())
    return Notice{Notice::Kind::kTrouble, "This run was refused", refusal};
  if (const auto& trouble = page.control().trouble(); trouble && !trouble->empty())
    return Notice{Notice::Kind::kTrouble, "The engine is not available", *trouble};
  if (has_predictions(page) && forecast.service() != nullptr && forecast.planner() == nullptr)
    return Notice{Notice::Kind::kTrouble, "The engine is not available", forecast.service()->trouble()};
  if (const auto& budget = page.runs().stands_in_for(); budget && run != nullptr)
    return Notice{Notice::Kind::kVerdict, "A stored run instead of the live one",
                  fmt::format("The run here took more than {:.0f} s and was cancelled. This one was recorded on {}.",
                              *budget, run->where)};
  const bool own_shown = page.runs().shows_own() && !page.shows_prediction();
  // Stored runs are shown with their outcome.
  if (run != nullptr && !own_shown && !hides && run->recording->outcome() && run->recording->outcome()->out_of_memory)
    return out_of_memory(*run->recording->outcome());
  const auto& outcome = page.control().outcome();
  return outcome && own_shown ? outcome_notice(page, *outcome) : run_notice(page);
}

std::string status_line(const PageModel& page) {
  const RunControl& control = page.control();
  if (const backend::RunProgress* progress = control.progress())
    return control.cancelling() ? "Cancelling" : progress->doing.empty() ? "Starting" : "Recording: " + progress->doing;
  const auto& outcome = control.outcome();
  const RunOnShow* const last = page.runs().own_run();
  if (!outcome || last == nullptr || last->recording == nullptr) return {};
  const RunOnShow& own = *last;
  const std::string dropped = record::format_count(static_cast<std::int64_t>(own.recording->dropped_events()));
  const std::string seconds = control.last_seconds() ? fmt::format("{:.1f} s", *control.last_seconds()) : std::string();
  const auto steps = record::steps_of(*own.recording);
  const auto whole = std::count_if(steps.begin(), steps.end(), [](const record::StepRange& s) { return s.complete; });
  const char* how = outcome->kind == record::OutcomeKind::kCancelled ? "Cancelled after"
                    : outcome->kind == record::OutcomeKind::kOutOfMemory && !page.question().hides()
                        ? "Out of memory after"
                        : "Last run";
  std::string line =
      fmt::format("{} {}, {} {}, {} events dropped", how, seconds, whole, whole == 1 ? "step" : "steps", dropped);
  if (const auto loss = last_metric(*own.recording, record::MetricKind::kLoss))
    line += fmt::format(", loss {:.3f}", *loss);
  if (const auto speed = over_steps(*own.recording, record::MetricKind::kTokensPerSecond))
    line += fmt::format(", {} tokens/s", record::format_count(std::llround(speed->value)));
  return line;
}

std::string as_command(const PageModel& page) {
  if (!settings_drive(page) || device_of(page) != record::DeviceKind::kGpu || page.question().hides()) return {};
  std::string command =
      fmt::format("headroom figures {}", page.figures().shown().id) + settings_as_options(page.settings(), "--of", {});
  if (limit_set(page) > 0) command += fmt::format(" --of cap={}", page.settings().as_text("cap"));
  if (chosen_card(page) != nullptr) command += card_as_option(*card_of(page));
  return command + " --out figures --format svg";
}

std::string plan_command(const PageModel& page) {
  if (device_of(page) != record::DeviceKind::kGpu || limit_set(page) > 0)
    return "headroom run train_step" + settings_as_options(page.settings(), "--set", {}) +
           (limit_set(page) > 0 ? fmt::format(" --cap {}", page.settings().as_text("cap")) : "");
  const record::Params& settings = page.settings();
  const std::string folder = settings.text("weights");
  std::string command = "headroom plan --model " + in_shell(folder.empty() ? settings.text("model") : folder);
  command += fmt::format(" --batch {} --seq {}", settings.as_text("batch"), settings.as_text("seq"));
  return command + settings_as_options(settings, "--set", {"model", "weights", "batch", "seq"}) +
         card_as_option(*card_of(page));
}

std::string answered_by(const PageModel& page) {
  const RunOnShow* const run = page.runs().with(page.question().compared_with().get());
  return run == nullptr ? std::string() : run->words();
}

bool left_answer(const PageModel& page) {
  const auto& answer = page.question().compared_with();
  return answer != nullptr && page.on_show() != nullptr && page.on_show()->recording != answer;
}

std::string why_no_lanes(const PageModel& page) {
  const RunOnShow* const run = page.on_show();
  if (run == nullptr || page.shows_prediction() || is_growing(page)) return {};
  if (!page.settings().has("trace") || !page.figures().draws_timeline()) return {};
  return lessons::why_not_traced(*run->recording);
}

}  // namespace headroom::app::page
