// headroom advise: the cheapest switches that make a training step fit on a card.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/planned.h"
#include "app/cli/tables/text_table.h"
#include "app/common/plan/advisor.h"
#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/strategies.h"
#include "lessons/shown_unit.h"

namespace headroom::app {

using nlohmann::json;
using record::Bytes;
using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

struct AdviseOptions : CommonOptions {
  std::optional<std::string> model, card, batch, seq, keep;
};

void declare_advise(AdviseOptions& options, OptionList& list) {
  list.text("--model", options.model, "A model from `headroom list`, or a config.json of a Llama-like model", "NAME");
  list.text("--card", options.card, "A card from assets/cards.csv, `this machine`, or a size such as 24GiB", "NAME");
  list.text("--batch", options.batch, "Sequences per step", "N");
  list.text("--seq", options.seq, "Tokens per sequence", "N");
  list.text("--keep", options.keep, "What must not get worse: speed, exactness or both", "WHAT");
  list.set("Settings of train_step to keep as they are");
  list.json();
  list.engine();
}

struct AdviseAsked {
  Params params;
  PlannedCard card;
  GivenUp may;
};

record::Result<AdviseAsked> advise_asked(const AdviseOptions& options) {
  const auto step = gpu_step(options.model);
  if (!step) return step.error();
  AdviseAsked asked{.params = step.value(), .card = {}, .may = {}};
  Params& params = asked.params;
  if (auto set = set_params(params, experiments::training_step().id, options); !set) return set.error();
  if (!record::names_gpu(params.text("device")))
    return Error{"`headroom advise` plans for GPUs only: remove the setting device."};
  if (params.integer("cap") != 0) return Error{"The card already sets the limit: use --card 24GiB instead of cap."};
  for (const auto& [key, value] : {std::pair("batch", &options.batch), std::pair("seq", &options.seq)})
    if (*value)
      if (auto set = params.set(key, std::string_view(**value)); !set) return set.error();
  const std::string keep = options.keep.value_or("");
  if (!record::is_one_of(keep, "|speed|exactness|both"))
    return Error{fmt::format("--keep {}: use speed, exactness or both.", keep)};
  asked.may = {.speed = keep != "speed" && keep != "both", .exactness = keep != "exactness" && keep != "both"};
  if (!options.card) return Error{"Name the card, for example --card \"RTX 4090\" or --card 24GiB."};
  auto card = card_of(*options.card);
  if (!card) return card.error();
  asked.card = std::move(card).value();
  return asked;
}

std::string command_of(const Params& params) {
  std::string command = "headroom run train_step";
  for (const auto& [key, value] : params.to_map()) {
    const Params usual(params.schema());
    if (value != usual.as_text(key)) command += fmt::format(" --set {}={}", key, value);
  }
  return command;
}

std::string not_known(const Advice& advice) {
  const bool links = advice.params.integer("ranks") > 1;
  return fmt::format(
      "Not known: how well the model trains with these switches, step times on other GPUs and at other shapes, "
      "{}and how much of the card other programs use.",
      links ? "how much of a step the ranks wait for each other's bytes, " : "");
}

std::string switches_text(const AdvisedSet& set, const lessons::ShownUnit& unit) {
  std::vector<std::vector<std::string>> rows{
      {"", "turn on", "gives up", "in the report's order", "a step takes", "then takes"}};
  int number = 0;
  for (const experiments::AdvisedSwitch& each : set.switches) {
    const std::string time = each.what->cost.time();
    rows.push_back({std::to_string(++number), each.what->label, std::string(each.what->cost.given_up()),
                    each.what->report_place.empty() ? "-" : each.what->report_place,
                    time.empty() ? "not measured" : time, table_bytes(each.fit.reserved, unit)});
  }
  std::string text = text_table(rows, 4);
  text += "\n";
  for (const experiments::AdvisedSwitch& each : set.switches)
    text += fmt::format("  {}: {}\n", each.what->label, each.what->reason);
  return text;
}

// "GeForce RTX 4090 leaves 23.29 GiB ± 0.300 GiB for it"
std::string usable_text(const PlannedCard& card, const lessons::ShownUnit& unit) {
  return fmt::format("{} leaves {} ± {} for it", card.name, table_bytes(usable_bytes(card), unit),
                     table_bytes(card.process.margin, unit));
}

std::string not_enough_text(const predict::Fit& fit, const lessons::ShownUnit& unit) {
  if (fit.verdict == predict::Verdict::kTooClose)
    return "No combination of four switches is certain to fit. The smallest one is too close to tell:\n\n";
  return fmt::format("No combination of four switches fits. The smallest one is {} too large:\n\n",
                     table_bytes(fit.reserved - fit.limit, unit));
}

// "Or: fused linear cross entropy, four micro-batches: 20.10 GiB."; empty if there is one set.
std::string other_sets_text(const Advice& advice, const lessons::ShownUnit& unit) {
  std::string text;
  for (std::size_t i = 1; i < advice.sets.size(); ++i) {
    const AdvisedSet& set = advice.sets[i];
    text += fmt::format("  Or: {}: {}.\n", experiments::labels_of(set), table_bytes(set.fit.reserved, unit));
  }
  return text;
}

std::string advice_text(const Advice& advice, const PlannedCard& card) {
  const lessons::ShownUnit unit = table_unit(std::max(advice.fit.reserved, card.memory));
  const std::string before = table_bytes(advice.fit.reserved, unit);
  if (advice.fits() && advice.sets.empty())
    return fmt::format("It already fits on {}: a step takes {}, and {}. No switch is needed.\n", card.name, before,
                       usable_text(card, unit));
  std::string text = fmt::format("A step takes {}, and {}.\n", before, usable_text(card, unit));
  if (advice.sets.empty()) return text + "No allowed switch makes it smaller.\n";
  const AdvisedSet& first = advice.sets.front();
  text +=
      first.fits() ? "The cheapest switches that make it fit, in this order:\n\n" : not_enough_text(first.fit, unit);
  text += switches_text(first, unit);
  text += other_sets_text(advice, unit);
  text += "\n  Times: on an H200, Llama 3.2 1B with 4 × 1,024 tokens, one technique at a time.\n";
  for (const std::string_view step : experiments::report_steps_left_out(advice.params))
    text += fmt::format("  Also in the report's order, but left out because it needs several GPUs: {}.\n", step);
  return text + fmt::format("  {}\n\n  Try it: {}\n", not_known(advice), command_of(first.params));
}

json switches_json(const AdvisedSet& set) {
  json switches = json::array();
  for (const experiments::AdvisedSwitch& each : set.switches)
    switches.push_back({{"id", each.what->id},
                        {"label", each.what->label},
                        {"settings", each.what->settings},
                        {"micro_batches", each.what->micro_batches},
                        {"gives_up_speed", each.what->cost.speed},
                        {"gives_up_exactness", each.what->cost.exactness},
                        {"reason", each.what->reason},
                        {"report_order", each.what->report_place},
                        {"step_time_ratio", each.what->cost.times > 0 ? json(each.what->cost.times) : json()},
                        {"bytes_after", each.fit.reserved}});
  return switches;
}

json advice_json(const Advice& advice, const PlannedCard& card) {
  json sets = json::array();
  for (const AdvisedSet& set : advice.sets)
    sets.push_back({{"switches", switches_json(set)},
                    {"verdict", predict::key_of(set.fit.verdict)},
                    {"bytes", set.fit.reserved},
                    {"command", command_of(set.params)}});
  return {{"card", card.name},
          {"usable_bytes", usable_bytes(card)},
          {"margin_bytes", card.process.margin},
          {"bytes_before", advice.fit.reserved},
          {"verdict", predict::key_of(advice.best().verdict)},
          {"sets", sets},
          {"by_closed_form", advice.why_formula},
          {"report_steps_left_out", experiments::report_steps_left_out(advice.params)},
          {"not_known", not_known(advice)}};
}

record::Result<ExitCode> advise_on(const AdviseOptions& options) {
  const auto asked = advise_asked(options);
  if (!asked) return asked.error();
  Session session(choose_engine(options.engine));
  if (auto usable = check_planned(asked.value().params, session.engine()); !usable) return usable.error();
  const InterruptGuard guard;
  StepPlanner planner(session.predictions(), session.why_no_engine(), &interrupted);
  const auto advice = Advisor(asked.value().params, asked.value().card, asked.value().may).advise(planner);
  if (!advice) return ExitCode::kInterrupted;
  if (!advice->refusal.empty()) return Error{advice->refusal, ErrorKind::kRefused};
  say_what_is_taken(asked.value().params, options, options.batch.has_value(), options.seq.has_value());
  if (!advice->why_formula.empty()) say(closed_form_note(advice->why_formula, advice->beyond_step));
  if (const std::string more = experiments::peft_takes_more(advice->params); !more.empty()) say(more);
  say_if_too_old(asked.value().card);
  if (options.json)
    put_json(advice_json(*advice, asked.value().card));
  else
    put(advice_text(*advice, asked.value().card));
  return advice->fits() ? ExitCode::kDone : ExitCode::kOutOfMemory;
}

}  // namespace

extern const Command kAdvise;
constinit const Command kAdvise{
    .name = "advise",
    .summary = "Find the cheapest switches that make a training step fit on a card",
    .example = "headroom advise --model llama-3.2-1b --card \"RTX 4090\" --batch 8 --seq 4096",
    .make = make_invocation<AdviseOptions, declare_advise, advise_on, advise_asked>};

}  // namespace headroom::app
