// headroom plan: predicts a training step's memory, and the cards that it fits on.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/foreign_config.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/planned.h"
#include "app/cli/tables/plan_table.h"
#include "app/common/plan/step_plan.h"
#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/experiments/strategies.h"
#include "demos/record/file/split.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

struct PlanOptions : CommonOptions {
  std::optional<std::string> model;  // a key of the schema, a config.json or a checkpoint
  std::vector<std::string> cards;
  std::optional<std::string> batch, seq;  // "1,4,8"
  std::optional<std::string> code, config;
  std::optional<int> gpus;
  bool csv = false, fail_on_oom = false;
};

void declare_plan(PlanOptions& options, OptionList& list) {
  list.text("--model", options.model, "A model from `headroom list`, or a config.json of a Llama-like model", "NAME");
  list.text("--card", options.cards, "Cards from assets/cards.csv, `this machine`, or sizes such as 24GiB", "NAME");
  list.text("--batch", options.batch, "Sequences per step; several values separated by commas", "LIST");
  list.text("--seq", options.seq, "Tokens per sequence; several values separated by commas", "LIST");
  list.number("--gpus", options.gpus, 1, 1024, "GPUs", "Ranks that train together, one per GPU; the plan is one rank's",
              "N");
  list.text("--code", options.code,
            "Code to imitate: headroom, hf or liger; for the last two, settings make our step allocate like theirs",
            "NAME");
  list.text("--config", options.config, kConfigHelp, "FILE");
  list.set("Settings of train_step");
  list.flag("--fail-on-oom", options.fail_on_oom, "Exit with code 4 if no step fits on any card");
  list.flag("--csv", options.csv, "Print CSV, one row per step and card");
  list.json();
  list.engine();
}

// The values in "1,4,8"; without a list, the current value.
record::Result<std::vector<std::string>> values_of(const Params& params, const char* key,
                                                   const std::optional<std::string>& list) {
  const std::vector<std::string> values = list ? record::split(*list, ',') : std::vector{params.as_text(key)};
  for (const std::string& value : values) {
    Params changed = params;
    if (auto set = changed.set(key, std::string_view(value)); !set) return set.error();
  }
  return values;
}

// Null: our own code.
record::Result<const experiments::OtherCode*> code_of(const PlanOptions& options) {
  if (!options.code || *options.code == "headroom") return nullptr;
  const auto codes = experiments::other_codes();
  const auto found = std::ranges::find(codes, *options.code, &experiments::OtherCode::id);
  if (found != codes.end()) return &*found;
  return Error{fmt::format("--code {}: use headroom, hf or liger.", *options.code)};
}

std::string code_note(const experiments::OtherCode& code, const Params& params) {
  std::string settings;
  for (const std::string_view setting : code.settings)
    if (!setting.empty()) settings += fmt::format(" {}", setting);
  return fmt::format("Planned to allocate like {}, using our step with{}: {}.", code.name, settings,
                     experiments::nearness(code, params));
}

struct PlanAsked {
  std::vector<Params> steps;
  std::vector<PlannedCard> cards;
  std::optional<ForeignConfig> config;
};

// Keys that the command line sets.
std::vector<std::string> named_keys(const PlanOptions& options) {
  std::vector<std::string> keys = keys_of(options.set);
  if (options.gpus) keys.emplace_back("ranks");
  if (options.batch) keys.emplace_back("batch");
  return keys;
}

// `reads`: whether files may be opened.
record::Result<PlanAsked> plan_asked(const PlanOptions& options, bool reads) {
  PlanAsked asked;
  auto step = gpu_step(options.model);
  if (!step) return step.error();
  Params& params = step.value();
  const auto code = code_of(options);
  if (!code) return code.error();
  if (code.value() != nullptr) experiments::apply(params, code.value()->settings);
  if (options.config && reads) {
    auto config = apply_config(params, *options.config);
    if (!config) return config.error();
    asked.config = std::move(config).value();
  }
  if (auto set = set_params(params, experiments::training_step().id, options); !set) return set.error();
  if (options.gpus) (void)params.set("ranks", record::ParamValue(std::int64_t{*options.gpus}));
  if (asked.config) settle_config(params, *asked.config, named_keys(options));
  if (const auto possible = predict::check(predict::step_settings(params).parallel); !possible) return possible.error();
  if (!record::names_gpu(params.text("device")))
    return Error{"`headroom plan` plans for GPUs only: remove the setting device."};
  if (params.integer("cap") != 0) return Error{"The card already sets the limit: use --card 24GiB instead of cap."};
  const auto batches = values_of(params, "batch", options.batch);
  if (!batches) return batches.error();
  const auto sequences = values_of(params, "seq", options.seq);
  if (!sequences) return sequences.error();
  for (const std::string& sequence : sequences.value())
    for (const std::string& batch : batches.value()) {
      (void)params.set("seq", std::string_view(sequence));
      (void)params.set("batch", std::string_view(batch));
      asked.steps.push_back(params);
    }
  for (const std::string& words : options.cards) {
    auto card = card_of(words);
    if (!card) return card.error();
    asked.cards.push_back(std::move(card).value());
  }
  return asked;
}

record::Result<PlanAsked> check_plan(const PlanOptions& options) { return plan_asked(options, false); }

bool fits_somewhere(const std::vector<StepPlan>& plans) {
  for (const StepPlan& plan : plans) {
    if (plan.refusal.empty() && plan.cards.empty()) return true;  // no card was named
    for (const CardPlan& on : plan.cards)
      if (on.fit.verdict == predict::Verdict::kFits) return true;
  }
  return false;
}

void say_notes(const PlanOptions& options, const PlanAsked& asked, const std::vector<StepPlan>& plans) {
  const Params& params = asked.steps.front();
  CommonOptions named = options;
  if (asked.config)
    for (const configs::Setting& setting : asked.config->used) named.set.push_back(setting.text());
  say_what_is_taken(params, named, options.batch.has_value(), options.seq.has_value());
  if (asked.config && options.csv)
    for (const std::string& note : config_notes(*asked.config)) say(note);
  if (!plans.front().why_formula.empty()) say(closed_form_note(plans.front().why_formula, plans.front().beyond_step));
  if (const auto code = code_of(options); code && code.value() != nullptr) say(code_note(*code.value(), params));
  if (const std::string more = experiments::peft_takes_more(params); !more.empty()) say(more);
  for (const PlannedCard& card : asked.cards) say_if_too_old(card);
}

void put_plans(const PlanOptions& options, const PlanAsked& asked, const std::vector<StepPlan>& plans) {
  const Params& params = asked.steps.front();
  if (options.json) {
    nlohmann::json document = plan_json(plans);
    if (asked.config) document["config"] = config_json(*asked.config, params);
    return put_json(document);
  }
  if (options.csv) return put(plan_csv(plans));
  if (asked.config) put(config_text(*asked.config, params));
  put(plan_text(plans));
}

record::Result<ExitCode> plan(const PlanOptions& options) {
  auto asked = plan_asked(options, true);
  if (!asked) return asked.error();
  Session session(choose_engine(options.engine));
  for (const Params& params : asked.value().steps)
    if (auto usable = check_planned(params, session.engine()); !usable) return usable.error();
  const InterruptGuard guard;
  StepPlanner planner(session.predictions(), session.why_no_engine(), &interrupted);
  std::vector<StepPlan> plans;
  for (const Params& params : asked.value().steps) {
    auto planned = planner.plan(params, asked.value().cards);
    if (!planned) return ExitCode::kInterrupted;
    plans.push_back(*std::move(planned));
  }
  say_notes(options, asked.value(), plans);
  put_plans(options, asked.value(), plans);
  const bool all_refused = std::ranges::none_of(plans, &std::string::empty, &StepPlan::refusal);
  if (all_refused) return ExitCode::kRefused;
  return options.fail_on_oom && !fits_somewhere(plans) ? ExitCode::kOutOfMemory : ExitCode::kDone;
}

}  // namespace

extern const Command kPlan;
constinit const Command kPlan{
    .name = "plan",
    .summary = "Plan a training step: its memory, and the cards it fits on",
    .example = "headroom plan --model llama-3.2-1b --card \"RTX 4090\" --batch 1,4 --seq 1024",
    .make = make_invocation<PlanOptions, declare_plan, plan, check_plan>};

}  // namespace headroom::app
