// headroom list: lists chapters, figures, demos, schemas, techniques, kernels and cards.
#include <ranges>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/shown_course.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/experiments/technique_table.h"
#include "demos/predict/cards/cards.h"
#include "kernels/kernel.h"
#include "lessons/figure.h"
#include "lessons/pages/course.h"

namespace headroom::app {

using nlohmann::json;
using record::ParamKind;
using record::ParamSpec;

namespace {

std::string number(const ParamSpec& spec, double value) {
  if (spec.kind == ParamKind::kBytes) return record::format_bytes(static_cast<record::Bytes>(value), 0);
  if (spec.kind == ParamKind::kInteger) return record::format_count(static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

// "1 to 1,024 sequences", "tiny, llama-3.2-1b, custom", "off, on".
std::string values_of(const ParamSpec& spec) {
  if (const auto choices = record::choices_of(spec); !choices.empty())
    return fmt::format("{}", fmt::join(choices | std::views::transform(&record::Choice::key), ", "));
  if (spec.kind == ParamKind::kFile) return "a file";
  const std::string range = fmt::format("{} to {}", number(spec, spec.minimum), number(spec, spec.maximum));
  return spec.unit.empty() || spec.kind == ParamKind::kBytes ? range : fmt::format("{} {}", range, spec.unit);
}

void put_schema(record::Schema schema) {
  const record::Params defaults(schema);
  for (const ParamSpec& spec : schema) {
    const std::string default_text = defaults.as_text(spec.key);
    put(fmt::format("      {:<18} {}{}{}\n", spec.key, values_of(spec), default_text.empty() ? "" : "; default ",
                    default_text));
    put(fmt::format("      {:<18} {}\n", "", spec.help));
  }
}

json schema_json(record::Schema schema) {
  const record::Params defaults(schema);
  json list = json::array();
  for (const ParamSpec& spec : schema) {
    json entry = {
        {"key", spec.key}, {"label", spec.label}, {"help", spec.help}, {"default", defaults.as_text(spec.key)}};
    if (!spec.unit.empty()) entry["unit"] = spec.unit;
    for (const record::Choice& choice : record::choices_of(spec)) entry["choices"].push_back(choice.key);
    if (spec.kind == ParamKind::kInteger || spec.kind == ParamKind::kReal || spec.kind == ParamKind::kBytes) {
      entry["minimum"] = spec.minimum;
      entry["maximum"] = spec.maximum;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

json page_json(const lessons::Page& page) {
  json entry = {{"id", page.id},
                {"title", page.title},
                {"claim", page.lesson.claim},
                {"figures", page.figures},
                {"recordings", page.recordings}};
  if (page.demo.empty())
    entry["schema"] = page.schema;
  else
    entry["demo"] = page.demo;
  for (const auto& axis : page.sweep) entry["sweep"][axis.key] = axis.values;
  return entry;
}

json schemas_json(std::span<const experiments::DemoInfo* const> all) {
  json list = json::array();
  for (const auto* each : all)
    list.push_back({{"id", each->id},
                    {"title", each->title},
                    {"summary", each->summary},
                    {"parameters", schema_json(each->schema)}});
  return list;
}

json cards_json() {
  json list = json::array();
  for (const predict::Card& card : predict::cards())
    if (card.memory) list.push_back({{"name", card.name}, {"memory_bytes", *card.memory}, {"source", card.source}});
  return list;
}

json techniques_json() {
  json list = json::array();
  for (const experiments::Technique& each : experiments::techniques())
    list.push_back({{"id", each.id},
                    {"label", each.label},
                    {"settings", each.settings},
                    {"micro_batches", each.micro_batches},
                    {"gives_up", each.cost.given_up()},
                    {"recording", each.recording}});
  return list;
}

json catalogue_json(const lessons::Course& course) {
  json document = {{"chapters", json::array()},
                   {"figures", json::array()},
                   {"demos", schemas_json(experiments::demos())},
                   {"schemas", schemas_json(experiments::schemas())},
                   {"techniques", techniques_json()},
                   {"kernels", json::array()},
                   {"cards", cards_json()}};
  for (const lessons::Chapter& chapter : course.chapters()) {
    json pages = json::array();
    for (std::size_t i = 0; i < chapter.pages.size(); ++i) {
      pages.push_back(page_json(*chapter.pages[i]));
      pages.back()["number"] = page_number(chapter, i);
    }
    document["chapters"].push_back(
        {{"number", chapter.number}, {"id", chapter.id}, {"title", chapter.title}, {"pages", std::move(pages)}});
  }
  for (const auto* figure : lessons::figures())
    document["figures"].push_back({{"id", figure->id},
                                   {"title", figure->title},
                                   {"caption", figure->caption},
                                   {"parameters", schema_json(figure->schema)}});
  for (const auto* kernel : kernels::kernels())
    document["kernels"].push_back({{"id", kernel->id}, {"title", kernel->title}, {"formula", kernel->formula}});
  return document;
}

void put_techniques() {
  put("\nTechniques (headroom plan --set KEY=VALUE), as named by advise and the ladder\n");
  for (const experiments::Technique& each : experiments::techniques()) {
    if (!each.saves_memory && each.rung.number == 0) continue;  // a single switch, listed with the training step
    const std::string settings = each.micro_batches == 1
                                     ? fmt::format("{}", fmt::join(each.settings, " "))
                                     : fmt::format("batch / {0}, accumulate · {0}", each.micro_batches);
    put(fmt::format("  {:<22} {}: {}\n", each.id, each.label, settings));
  }
}

void put_cards() {
  put("\nCards (headroom plan --card NAME), with the memory that the driver reports\n");
  for (const predict::Card& card : predict::cards())
    if (card.memory) put(fmt::format("  {:<26} {:>10}\n", card.name, record::format_bytes(*card.memory)));
}

void declare_list(CommonOptions&, OptionList& options) { options.json(); }

record::Result<ExitCode> list(const CommonOptions& options) {
  const auto loaded = load_course();
  if (!loaded) return loaded.error();
  const lessons::Course& course = loaded.value();
  if (options.json) {
    put_json(catalogue_json(course));
    return ExitCode::kDone;
  }
  put("Chapters\n");
  for (const lessons::Chapter& chapter : course.chapters()) {
    put(fmt::format("  {} {}\n", chapter.number, chapter.title));
    for (std::size_t i = 0; i < chapter.pages.size(); ++i)
      put(fmt::format("      {:<5} {} ({})\n", page_number(chapter, i), chapter.pages[i]->title, chapter.pages[i]->id));
  }
  put("\nFigures (headroom figures ID --set KEY=VALUE)\n");
  for (const auto* figure : lessons::figures()) {
    put(fmt::format("  {:<20} {}\n", figure->id, figure->caption));
    put_schema(figure->schema);
  }
  put("\nDemos (headroom run DEMO --set KEY=VALUE)\n");
  for (const auto* demo : experiments::demos()) {
    put(fmt::format("  {:<20} {}\n", demo->id, demo->summary));
    put_schema(demo->schema);
  }
  put("\nSettings of pages that calculate without a run\n");
  for (const auto* schema : experiments::schemas()) {
    put(fmt::format("  {:<20} {}\n", schema->id, schema->summary));
    put_schema(schema->schema);
  }
  put_techniques();
  put("\nKernels\n");
  for (const auto* kernel : kernels::kernels()) put(fmt::format("  {:<20} {}\n", kernel->id, kernel->title));
  put_cards();
  return ExitCode::kDone;
}

}  // namespace

extern const Command kList;
constinit const Command kList{
    .name = "list",
    .summary = "List chapters, figures, demos and schemas with their keys, techniques, kernels and cards",
    .example = "",
    .make = make_invocation<CommonOptions, declare_list, list>};

}  // namespace headroom::app
