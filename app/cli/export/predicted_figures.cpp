// Predicts a step from settings and a card, and prepares its figures and verdict.
#include "app/cli/export/chosen_figures.h"

#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/command.h"
#include "app/cli/output.h"
#include "app/cli/planned.h"
#include "app/common/assets.h"
#include "app/common/plan/evidence.h"
#include "app/common/plan/step_plan.h"
#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "lessons/names.h"
#include "lessons/shown_unit.h"

namespace headroom::app {

using lessons::Figure;
using record::Bytes;
using record::Error;
using record::ErrorKind;
using record::Params;
using record::Recording;

namespace {

struct FiguresAsked {
  Params params;
  std::optional<PlannedCard> card;
  std::vector<const Figure*> figures;
  std::string name;  // "llama-3.2-1b_batch-8_loss-flce_geforce-rtx-4090"
};

bool is_of_settings(const Figure* figure, bool with_card) {
  return (with_card && figure->on_card) ||
         (figure->basis != lessons::Basis::kSweep && figure->basis != lessons::Basis::kParameters);
}

// Makes "batch=8" a part of a file name, "batch-8".
void add_word(std::string& name, std::string_view words) {
  if (!name.empty()) name += '_';
  for (const char c : words) {
    const auto byte = static_cast<unsigned char>(c);
    const bool kept = std::isalnum(byte) != 0 || c == '.' || c == '_';
    name += kept ? static_cast<char>(std::tolower(byte)) : '-';
  }
}

record::Result<FiguresAsked> asked_by(const StepChoice& step, const std::vector<std::string>& ids) {
  const auto on_gpu = gpu_step(step.model);
  if (!on_gpu) return on_gpu.error();
  FiguresAsked asked{.params = on_gpu.value(), .card = {}, .figures = {}, .name = {}};
  CommonOptions options;
  options.set = step.of;
  if (auto set = set_params(asked.params, experiments::training_step().id, options); !set) return set.error();
  if (!record::names_gpu(asked.params.text("device")))
    return Error{"Predicted figures show a step on a GPU: remove --of device."};
  if (step.card && asked.params.integer("cap") != 0)
    return Error{"The card already sets the limit: remove `--of cap` or `--card`."};
  if (step.card) {
    auto card = card_of(*step.card);
    if (!card) return card.error();
    asked.card = std::move(card).value();
    asked.params = settings_on(*asked.card, asked.params);
  }
  const auto named = figures_named(ids);
  if (!named) return named.error();
  for (const Figure* figure :
       named.value().empty() ? std::vector(lessons::figures().begin(), lessons::figures().end()) : named.value()) {
    if (is_of_settings(figure, asked.card.has_value()))
      asked.figures.push_back(figure);
    else if (!named.value().empty())
      return Error{fmt::format("{} cannot be drawn from settings: remove --of, --model and --card.", figure->id)};
  }
  if (step.model) add_word(asked.name, *step.model);
  for (const std::string& assignment : step.of) add_word(asked.name, assignment);
  if (asked.card) add_word(asked.name, asked.card->name);
  return asked;
}

// "Does not fit on GeForce RTX 4090 by 3.21 GiB: tensors take 24.10 GiB at the peak, …"
std::string verdict_sentence(const StepPlan& plan, const PlannedCard& card, const predict::Fit& fit,
                             const lessons::ShownUnit& unit) {
  const auto number = [&](record::Bytes bytes) { return lessons::in_unit(static_cast<double>(bytes), unit, 2); };
  std::string text = fmt::format("{} on {}", lessons::capitalised(predict::label_of(fit.verdict)), card.name);
  if (fit.verdict == predict::Verdict::kDoesNotFit && fit.reserved > fit.limit)
    text += fmt::format(" by {} {}", number(fit.reserved - fit.limit), unit.name);
  text += fmt::format(": tensors take {} {} at the peak", number(plan.allocated), unit.name);
  if (plan.reserved > 0) text += fmt::format(", the allocator reserves {}", number(plan.reserved));
  return text + fmt::format(", and the process takes {} ± {} of {}.", number(card.process.bytes),
                            number(card.process.margin), number(card.memory));
}

// Makes the card the figures' limit and puts the verdict into their files.
void put_on_card(record::RunInfo& info, const StepPlan& plan, const PlannedCard& card, const predict::Fit& fit) {
  info.cap = fit.limit;
  auto& facts = info.provenance;
  facts["gpu"] = card.name;
  facts["card.memory_bytes"] = std::to_string(card.memory);
  facts["card.process_bytes"] = std::to_string(card.process.bytes);
  facts["card.margin_bytes"] = std::to_string(card.process.margin);
  facts["card.verdict"] = predict::key_of(fit.verdict);
  facts["card.tensor_bytes"] = std::to_string(plan.allocated);
  if (plan.reserved > 0) facts["card.reserved_bytes"] = std::to_string(plan.reserved);
  facts["card.left_bytes"] = std::to_string(fit.limit - fit.reserved);
}

// A stored run with these settings, or null.
std::shared_ptr<const Recording> evidence_for(const Params& params) {
  const auto assets = find_assets();
  if (!assets) return nullptr;
  for (const std::string& name : stored_recordings(assets.value())) {
    auto stored = load_recording(recording_path(assets.value(), name));
    if (stored && is_evidence(*stored.value(), experiments::training_step().id, params, record::DeviceKind::kGpu))
      return std::move(stored).value();
  }
  return nullptr;
}

// Returns the run with the prediction's facts about the card.
std::shared_ptr<const Recording> with_card(const Recording& run, const record::RunInfo& of_prediction) {
  Recording found = run;
  record::RunInfo info = run.info();
  for (const auto& [key, value] : of_prediction.provenance)
    if (key.starts_with("card.")) info.provenance[key] = value;
  found.set_info(std::move(info));
  return std::make_shared<const Recording>(std::move(found));
}

// "Measured on NVIDIA H200: 19.51 GiB, as predicted, to the byte." Empty without a whole step.
std::string measured_sentence(const Recording& run, Bytes predicted, const lessons::ShownUnit& unit) {
  const auto step = record::last_whole_step(run);
  if (!step) return {};
  record::Ledger ledger(run);
  ledger.update();
  const Bytes measured = ledger.peak(step->first, step->last).totals.allocated;
  const std::string difference =
      measured == predicted
          ? "as predicted, to the byte"
          : fmt::format("{} {} than predicted", lessons::bytes_text(std::abs(measured - predicted), unit),
                        measured > predicted ? "more" : "less");
  return fmt::format("Measured on {}: {}, {}.", record::fact_of(run.info().provenance, "gpu", "a GPU"),
                     lessons::bytes_text(measured, unit), difference);
}

struct Found {
  StepPlan plan;
  std::optional<PlannedCard> card;
  predict::Fit fit;                           // on that card
  std::shared_ptr<const Recording> evidence;  // may be null
};

// The caption's sentences: the verdict, a run's measured peak, and why only a closed form is available.
std::string caption_of(const Found& found, const lessons::FigureData& figure) {
  if (lessons::find_figure(figure.head.id)->basis == lessons::Basis::kParameters) return {};  // it shows no step
  const Bytes largest = found.card ? found.card->memory : found.plan.allocated;
  const lessons::ShownUnit unit = lessons::unit_of_bytes(figure, static_cast<double>(largest));
  std::vector<std::string> sentences;
  if (found.card) sentences.push_back(verdict_sentence(found.plan, *found.card, found.fit, unit));
  if (found.evidence != nullptr) sentences.push_back(measured_sentence(*found.evidence, found.plan.allocated, unit));
  if (!found.plan.why_formula.empty()) sentences.push_back("By the closed form. " + found.plan.why_formula);
  std::erase(sentences, "");
  return fmt::format("{}", fmt::join(sentences, " "));
}

}  // namespace

record::Status check_step_figures(const StepChoice& step, const std::vector<std::string>& ids) {
  const auto asked = asked_by(step, ids);
  return asked || asked.error().kind == ErrorKind::kRefused ? record::Status(record::Ok{}) : asked.error();
}

record::Result<std::vector<RunFigures>> step_figures(const StepChoice& step, const std::vector<std::string>& ids,
                                                     const std::string& engine) {
  auto asked = asked_by(step, ids);
  if (!asked) return asked.error();
  const Params& params = asked.value().params;
  Session session(choose_engine(engine));
  if (auto usable = check_planned(params, session.engine()); !usable) return usable.error();
  StepPlanner planner(session.predictions(), session.why_no_engine(), &interrupted);
  auto plan = planner.plan(params, {});
  if (!plan) return std::vector<RunFigures>{};
  if (!plan->refusal.empty()) return Error{plan->refusal, ErrorKind::kRefused};
  Found found{.plan = *std::move(plan), .card = asked.value().card, .fit = {}, .evidence = evidence_for(params)};
  Recording drawn = planner.recording(params);
  record::RunInfo info = drawn.info();
  info.provenance.erase("created");  // equal settings give equal files
  std::optional<lessons::CardLimit> limit;
  if (found.card) {
    const auto on = planner.on_card(params, *found.card);
    if (!on) return std::vector<RunFigures>{};
    found.fit = on->fit;
    put_on_card(info, found.plan, *found.card, found.fit);
    limit = {found.card->name, found.card->memory, found.card->process};
  }
  drawn.set_info(std::move(info));
  const auto evidence = found.evidence;
  const auto prediction = std::make_shared<const Recording>(std::move(drawn));
  return std::vector{
      RunFigures{.name = asked.value().name,
                 .recording = evidence != nullptr ? with_card(*evidence, prediction->info()) : nullptr,
                 .figures = asked.value().figures,
                 .settings = params,
                 .caption = [found](const lessons::FigureData& figure) { return caption_of(found, figure); },
                 .prediction = prediction,
                 .card = std::move(limit)}};
}

}  // namespace headroom::app
