// Resolves ids, chapters and recordings to figures and runs.
#include "app/cli/export/chosen_figures.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/drive.h"
#include "app/cli/output.h"
#include "app/cli/shown_course.h"
#include "app/common/assets.h"
#include "app/common/plan/run_prediction.h"
#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"

namespace headroom::app {

namespace fs = std::filesystem;
using lessons::Figure;
using lessons::Page;
using record::Error;
using record::ErrorKind;

namespace {

template <class Value>
bool contains(const std::vector<Value>& list, const auto& value) {
  return std::ranges::find(list, value) != list.end();
}

void add_once(std::vector<const Figure*>& list, const Figure* figure) {
  if (!contains(list, figure)) list.push_back(figure);
}

// The page's figures, restricted to `named` unless it is empty.
std::vector<const Figure*> figures_of(const Page& page, const std::vector<const Figure*>& named) {
  std::vector<const Figure*> list;
  for (const std::string& id : page.figures) {
    const Figure* figure = lessons::find_figure(id);
    if (figure != nullptr && (named.empty() || contains(named, figure))) add_once(list, figure);
  }
  return list;
}

bool is_of_sweeps(const Figure* figure) { return figure->basis == lessons::Basis::kSweep; }

RunFigures& figures_of_run(std::vector<RunFigures>& runs, const std::string& name) {
  if (const auto known = std::ranges::find(runs, name, &RunFigures::name); known != runs.end()) return *known;
  return runs.emplace_back(RunFigures{.name = name, .recording = nullptr, .figures = {}});
}

// With --from: the named figures, or else the pages', drawn from that recording.
record::Result<std::vector<RunFigures>> given_figures(const fs::path& from, const std::vector<const Page*>& pages,
                                                      const std::vector<const Figure*>& named) {
  auto recording = load_recording(from);
  if (!recording) return recording.error();
  RunFigures run{.name = from.stem().string(), .recording = std::move(recording).value(), .figures = named};
  if (named.empty())
    for (const Page* page : pages)
      for (const Figure* figure : figures_of(*page, {})) add_once(run.figures, figure);
  return std::vector<RunFigures>{std::move(run)};
}

// Without --from: the pages' figures, drawn from their recordings that exist here.
record::Result<std::vector<RunFigures>> stored_figures(const std::vector<const Page*>& pages,
                                                       const std::vector<const Figure*>& named) {
  const auto assets = find_assets();
  if (!assets) return assets.error();
  std::vector<RunFigures> runs;
  for (const Page* page : pages) {
    const auto list = figures_of(*page, named);
    for (const std::string& name : page->recordings) {
      if (list.empty()) continue;
      const auto known = std::ranges::find(runs, name, &RunFigures::name);
      const auto recording = known != runs.end() ? known->recording : load_stored(assets.value(), name);
      if (!recording) return recording.error();
      if (recording.value() == nullptr) continue;
      RunFigures& run = figures_of_run(runs, name);
      run.recording = recording.value();
      // A page with a sweep may also have single runs.
      for (const Figure* figure : list)
        if (page->sweep.empty() || is_of_sweeps(figure) == !run.recording->sweep_points().empty())
          add_once(run.figures, figure);
    }
  }
  return runs;
}

LoadedRecording record_tiny(backend::Backend& engine, std::string_view demo_id) {
  const auto* demo = experiments::find_demo(demo_id);
  if (demo == nullptr) return Error{fmt::format("The demo {} is not in this build.", demo_id)};
  record::Params params(demo->schema);
  if (params.has("model"))
    if (auto set = params.set("model", "tiny"); !set) return set.error();
  if (params.has("device"))
    if (auto set = params.set("device", "cpu"); !set) return set.error();
  const auto driven = drive(engine, run_request(demo_id, std::move(params)));
  if (!driven) return driven.error();
  const auto& outcome = driven.value().recording->outcome();
  if (driven.value().interrupted || (outcome && outcome->kind == record::OutcomeKind::kCompleted))
    return driven.value().recording;
  return Error{"The run for the figures failed: " + (outcome ? outcome->message : "it ended without a result."),
               ErrorKind::kEngine};
}

// Makes new runs for pages without stored recordings.
record::Result<std::vector<RunFigures>> made_figures(const std::vector<const Page*>& pages,
                                                     const std::vector<const Figure*>& named,
                                                     const std::string& engine_asked) {
  Session session(choose_engine(engine_asked));
  if (!session.has_engine())
    return Error{
        "There is no stored recording to draw and no engine to make one: pass a recording with --from FILE, or build "
        "the engine with `./run`."};
  backend::Backend& engine = *session.runner();
  if (auto ready = wait_for_engine(engine); !ready) return ready.error();
  std::vector<RunFigures> runs;
  for (const Page* page : pages) {
    const auto list = figures_of(*page, named);
    if (list.empty() || page->demo.empty() || interrupted()) continue;
    RunFigures& run = figures_of_run(runs, fmt::format("{}_tiny_cpu", page->demo));
    if (!run.recording) {
      auto made = record_tiny(engine, page->demo);
      if (!made) return made.error();
      run.recording = std::move(made).value();
    }
    for (const Figure* figure : list) add_once(run.figures, figure);
  }
  return runs;
}

// The schema of a page that shows the figure, if the schema's defaults suffice to draw it; null if the figure needs a
// run.
const experiments::DemoInfo* schema_of(const Figure& figure, const std::vector<const Page*>& pages) {
  if (!lessons::follows_settings(figure)) return nullptr;
  for (const Page* page : pages)
    if (!page->schema.empty() && contains(page->figures, figure.id)) return experiments::find_schema(page->schema);
  return nullptr;
}

bool is_drawn(const std::vector<RunFigures>& runs, const Figure* figure) {
  return std::ranges::any_of(runs, [&](const RunFigures& run) { return contains(run.figures, figure); });
}

// Adds the figures that need no run and that no run draws.
void add_without_run(std::vector<RunFigures>& runs, const std::vector<const Figure*>& wanted,
                     const std::vector<const Page*>& pages) {
  for (const Figure* figure : wanted) {
    if (is_drawn(runs, figure)) continue;
    if (lessons::is_closed_form(*figure)) {
      figures_of_run(runs, "formula").figures.push_back(figure);
    } else if (const experiments::DemoInfo* schema = schema_of(*figure, pages)) {
      RunFigures& settings = figures_of_run(runs, std::string(schema->id));
      settings.figures.push_back(figure);
      settings.settings = record::Params(schema->schema);
    }
  }
}

// The pages' sweeps that `runs` does not contain.
std::vector<RunFigures> closed_sweeps(const std::vector<RunFigures>& runs, const std::vector<const Page*>& pages,
                                      const std::vector<const Figure*>& named) {
  std::vector<RunFigures> all;
  for (const Page* page : pages) {
    const bool stored = std::ranges::any_of(runs, [&](const RunFigures& run) {
      return contains(page->recordings, run.name) && std::ranges::any_of(run.figures, is_of_sweeps);
    });
    if (page->sweep.empty() || stored) continue;
    RunFigures closed{.name = page->id,
                      .recording = nullptr,
                      .figures = figures_of(*page, named),
                      .settings = lessons::settings_of(*page),
                      .sweep = page->sweep};
    std::erase_if(closed.figures, [](const Figure* figure) { return !is_of_sweeps(figure); });
    if (!closed.figures.empty()) all.push_back(std::move(closed));
  }
  return all;
}

record::Status add_beside(std::vector<RunFigures>& runs, const lessons::Course& course) {
  const auto assets = find_assets();
  if (!assets) return record::Ok{};
  for (const Page* page : course.pages())
    for (const std::string& name : page->beside) {
      const auto recording = load_stored(assets.value(), name);
      if (!recording) return recording.error();
      for (RunFigures& run : runs)
        if (recording.value() && run.recording && run.recording->info().demo == page->demo)
          run.beside.push_back(recording.value());
    }
  return record::Ok{};
}

// Predicts the runs of named figures that need it; says which cannot be predicted.
void add_predictions(std::vector<RunFigures>& runs, const std::vector<const Figure*>& named,
                     const std::string& engine_asked) {
  if (!std::ranges::any_of(named, &Figure::compares)) return;
  Session session(choose_engine(engine_asked));
  for (RunFigures& run : runs) {
    if (run.recording == nullptr || !std::ranges::any_of(run.figures, &Figure::compares)) continue;
    RunPrediction predicted = predict_run(*run.recording, session, /*few_micro_batches=*/false, &interrupted);
    run.prediction = std::move(predicted.recording);
    if (!predicted.why_not.empty()) say(fmt::format("{} is not predicted: {}", run.name, predicted.why_not));
  }
}

record::Result<std::vector<RunFigures>> without_beside(const FigureChoice& options, const lessons::Course& course,
                                                       const std::vector<const Figure*>& named) {
  if (options.from && !named.empty() && !options.chapter) return given_figures(*options.from, {}, named);
  const auto pages = pages_of(course, options.chapter);
  if (!pages) return pages.error();
  if (options.from) return given_figures(*options.from, pages.value(), named);
  std::vector<const Figure*> wanted;
  for (const Page* page : pages.value())
    for (const Figure* figure : figures_of(*page, named)) add_once(wanted, figure);
  for (const Figure* figure : named) add_once(wanted, figure);
  auto runs = stored_figures(pages.value(), named);
  if (!runs) return runs;
  const auto sweeps = closed_sweeps(runs.value(), pages.value(), named);
  const bool needs_run = std::ranges::any_of(wanted, [&](const Figure* figure) {
    return !lessons::is_closed_form(*figure) && schema_of(*figure, pages.value()) == nullptr &&
           !is_drawn(sweeps, figure);
  });
  if (runs.value().empty() && needs_run) runs = made_figures(pages.value(), named, options.engine);
  if (!runs) return runs;
  runs.value().insert(runs.value().end(), sweeps.begin(), sweeps.end());
  add_without_run(runs.value(), wanted, pages.value());
  return runs;
}

}  // namespace

record::Result<std::vector<const Figure*>> figures_named(const std::vector<std::string>& ids) {
  std::vector<const Figure*> found;
  for (const std::string& id : ids) {
    const Figure* figure = lessons::find_figure(id);
    if (figure == nullptr) return unknown_id("figure", id, lessons::figures());
    add_once(found, figure);
  }
  return found;
}

record::Result<std::vector<const Page*>> pages_of(const lessons::Course& course,
                                                  const std::optional<std::string>& chapter) {
  if (!chapter) return course.pages();
  const auto found = chapter_named(course, *chapter);
  if (!found) return found.error();
  return found.value()->pages;
}

record::Result<std::vector<RunFigures>> choose_figures(const FigureChoice& options) {
  const auto named = figures_named(options.ids);
  if (!named) return named.error();
  const auto course = load_course();
  if (!course) return course.error();
  auto runs = without_beside(options, course.value(), named.value());
  if (!runs) return runs;
  add_predictions(runs.value(), named.value(), options.engine);
  if (auto added = add_beside(runs.value(), course.value()); !added) return added.error();
  return runs;
}

}  // namespace headroom::app
