// headroom figures: figures of the chapters as files, from stored recordings, a given one or a new run.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/drive.h"
#include "app/cli/figure_files.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/shown_course.h"
#include "app/cli/suggest.h"
#include "app/common/assets.h"
#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "lessons/figure.h"
#include "lessons/pages/course.h"

namespace headroom::app {

namespace fs = std::filesystem;
using lessons::Figure;
using lessons::Page;
using record::Error;
using record::ErrorKind;

namespace {

struct FiguresOptions : CommonOptions {
  std::vector<std::string> ids;
  std::optional<int> chapter;  // from 1
  std::optional<std::string> from;
  std::optional<std::string> against;  // run A
  FileOptions files;
};

void declare(FiguresOptions& options, OptionList& list) {
  list.words("ID", options.ids, "Figures to write (default: all); `headroom list` shows them");
  list.number("--chapter", options.chapter, 1, 999, "a chapter's number", "Only the figures of this chapter", "NUMBER");
  list.text("--from", options.from, "Draw this recording (default: the stored ones of the pages)", "FILE");
  list.text("--against", options.against, "Run A, drawn behind each run and compared with it", "FILE");
  list.text("--out", options.files.out, "Folder to write to; made if missing", "FOLDER");
  list.text("--format", options.files.format, "svg, pdf, png, csv, json, several with commas (default: svg)", "LIST");
  list.set("Parameters of the figures");
  list.text("--theme", options.files.theme, "light or dark (default: light)");
  list.text("--width", options.files.width, "Width: 900 (pixels), 3.33in or 85mm", "WIDTH");
  list.json();
  list.engine();
}

// The figures to draw of one recording.
struct RunFigures {
  std::string name;                                    // the recording's, in file names
  std::shared_ptr<const record::Recording> recording;  // null: of figures that need none
  std::vector<const Figure*> figures;
  std::optional<record::Params> settings = {};     // where there is no recording: those that the figures follow
  std::vector<experiments::SweepAxis> sweep = {};  // of a page with these settings, not run
};

void add_once(std::vector<const Figure*>& list, const Figure* figure) {
  if (std::find(list.begin(), list.end(), figure) == list.end()) list.push_back(figure);
}

record::Result<std::vector<const Figure*>> figures_named(const std::vector<std::string>& ids) {
  std::vector<const Figure*> found;
  for (const std::string& id : ids) {
    const Figure* figure = lessons::find_figure(id);
    if (figure == nullptr) {
      std::vector<std::string_view> known;
      for (const Figure* each : lessons::figures()) known.push_back(each->id);
      return Error{unknown_name("figure", id, known)};
    }
    add_once(found, figure);
  }
  return found;
}

record::Result<std::vector<const Page*>> pages_of(const lessons::Course& course, std::optional<int> chapter) {
  const auto& chapters = course.chapters();
  if (chapter && static_cast<std::size_t>(*chapter) > chapters.size())
    return Error{fmt::format("There is no chapter {}: there {} {}, see `headroom list`.", *chapter,
                             chapters.size() == 1 ? "is" : "are", chapters.size())};
  std::vector<const Page*> pages;
  for (std::size_t i = 0; i < chapters.size(); ++i)
    if (!chapter || static_cast<std::size_t>(*chapter) == i + 1)
      pages.insert(pages.end(), chapters[i].pages.begin(), chapters[i].pages.end());
  return pages;
}

// The page's figures, or those of them that were named.
std::vector<const Figure*> figures_of(const Page& page, const std::vector<const Figure*>& named) {
  std::vector<const Figure*> list;
  for (const std::string& id : page.figures) {
    const Figure* figure = lessons::find_figure(id);
    if (figure != nullptr && (named.empty() || std::find(named.begin(), named.end(), figure) != named.end()))
      add_once(list, figure);
  }
  return list;
}

bool is_of_sweeps(const Figure* figure) { return figure->basis == lessons::Basis::kSweep; }

RunFigures& figures_of_run(std::vector<RunFigures>& runs, const std::string& name) {
  for (RunFigures& run : runs)
    if (run.name == name) return run;
  return runs.emplace_back(RunFigures{.name = name, .recording = nullptr, .figures = {}});
}

// With --from: the named figures, else those of the pages, of that one recording.
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

// Without --from: what the pages show, of the recordings that they name and that are here.
record::Result<std::vector<RunFigures>> stored_figures(const std::vector<const Page*>& pages,
                                                       const std::vector<const Figure*>& named) {
  const auto assets = find_assets();
  if (!assets) return assets.error();
  std::vector<RunFigures> runs;
  for (const Page* page : pages) {
    const auto list = figures_of(*page, named);
    for (const std::string& name : page->recordings) {
      const fs::path path = recording_path(assets.value(), name);
      std::error_code ignored;
      if (list.empty() || !fs::exists(path, ignored)) continue;
      RunFigures& run = figures_of_run(runs, name);
      if (!run.recording) {
        auto recording = load_recording(path);
        if (!recording) return recording.error();
        run.recording = std::move(recording).value();
      }
      // A page with a sweep has single runs beside it.
      for (const Figure* figure : list)
        if (page->sweep.empty() || is_of_sweeps(figure) == !run.recording->sweep_points().empty())
          add_once(run.figures, figure);
    }
  }
  return runs;
}

// The smallest model on the CPU: seconds everywhere.
record::Result<std::shared_ptr<const record::Recording>> record_tiny(backend::Backend& engine,
                                                                     std::string_view demo_id) {
  const auto* demo = experiments::find_demo(demo_id);
  if (demo == nullptr) return Error{fmt::format("The demo {} is not in this build.", demo_id)};
  record::Params params(demo->schema);
  if (params.has("model"))
    if (auto set = params.set("model", std::string_view("tiny")); !set) return set.error();
  if (params.has("device"))
    if (auto set = params.set("device", std::string_view("cpu")); !set) return set.error();
  const auto driven = drive(engine, {std::string(demo_id), std::move(params), true, {}});
  if (!driven) return driven.error();
  const auto& outcome = driven.value().recording->outcome();
  if (driven.value().interrupted || (outcome && outcome->kind == record::OutcomeKind::kCompleted))
    return driven.value().recording;
  return Error{fmt::format("The run for the figures failed: {}", outcome ? outcome->message : "it has no outcome."),
               ErrorKind::kEngine};
}

// No recording is stored for these pages: a new run, if there is an engine.
record::Result<std::vector<RunFigures>> made_figures(const std::vector<const Page*>& pages,
                                                     const std::vector<const Figure*>& named,
                                                     const std::string& engine_asked) {
  Session session(choose_engine(engine_asked));
  if (!session.has_engine())
    return Error{
        "There is no stored recording to draw and no engine to make one: give a recording with --from FILE, or "
        "build the engine with `./run`."};
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

// Whose first settings the figure can be drawn with, since a page of that schema shows it; null: it needs a run.
const experiments::DemoInfo* schema_of(const Figure& figure, const std::vector<const Page*>& pages) {
  if (!lessons::follows_settings(figure)) return nullptr;
  for (const Page* page : pages)
    if (!page->schema.empty() &&
        std::find(page->figures.begin(), page->figures.end(), figure.id) != page->figures.end())
      return experiments::find_schema(page->schema);
  return nullptr;
}

bool is_drawn(const std::vector<RunFigures>& runs, const Figure* figure) {
  return std::any_of(runs.begin(), runs.end(), [&](const RunFigures& run) {
    return std::find(run.figures.begin(), run.figures.end(), figure) != run.figures.end();
  });
}

// What needs no run is drawn once, where no run has it already.
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

// Of the pages' sweeps those that are not among `runs`.
std::vector<RunFigures> closed_sweeps(const std::vector<RunFigures>& runs, const std::vector<const Page*>& pages,
                                      const std::vector<const Figure*>& named) {
  std::vector<RunFigures> all;
  for (const Page* page : pages) {
    const bool stored = std::any_of(runs.begin(), runs.end(), [&](const RunFigures& run) {
      const bool of_page =
          std::find(page->recordings.begin(), page->recordings.end(), run.name) != page->recordings.end();
      return of_page && std::any_of(run.figures.begin(), run.figures.end(), is_of_sweeps);
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

record::Result<std::vector<RunFigures>> choose_figures(const FiguresOptions& options) {
  const auto named = figures_named(options.ids);
  if (!named) return named.error();
  if (options.from && !named.value().empty() && !options.chapter)
    return given_figures(*options.from, {}, named.value());
  const auto course = load_course();
  if (!course) return course.error();
  const auto pages = pages_of(course.value(), options.chapter);
  if (!pages) return pages.error();
  if (options.from) return given_figures(*options.from, pages.value(), named.value());
  std::vector<const Figure*> wanted;
  for (const Page* page : pages.value())
    for (const Figure* figure : figures_of(*page, named.value())) add_once(wanted, figure);
  for (const Figure* figure : named.value()) add_once(wanted, figure);
  auto runs = stored_figures(pages.value(), named.value());
  if (!runs) return runs;
  const auto sweeps = closed_sweeps(runs.value(), pages.value(), named.value());
  const bool needs_run = std::any_of(wanted.begin(), wanted.end(), [&](const Figure* figure) {
    return !lessons::is_closed_form(*figure) && schema_of(*figure, pages.value()) == nullptr &&
           !is_drawn(sweeps, figure);
  });
  if (runs.value().empty() && needs_run) runs = made_figures(pages.value(), named.value(), options.engine);
  if (!runs) return runs;
  runs.value().insert(runs.value().end(), sweeps.begin(), sweeps.end());
  add_without_run(runs.value(), wanted, pages.value());
  return runs;
}

// A figure to draw: its parameters are checked before the first file is written.
struct Drawing {
  const Figure* figure;
  record::Params params;
  const RunFigures* run;
};

bool any_figure_has(const std::vector<RunFigures>& runs, std::string_view key) {
  for (const RunFigures& run : runs)
    for (const Figure* figure : run.figures)
      if (record::Params(figure->schema).has(key)) return true;
  return false;
}

// Values of --set go to the figures that have such a key; one that no figure has is an error.
record::Result<std::vector<Drawing>> plan_drawings(const std::vector<RunFigures>& runs,
                                                   const std::vector<std::string>& assignments) {
  std::vector<Drawing> drawings;
  for (const RunFigures& run : runs) {
    for (const Figure* figure : run.figures) {
      record::Params params(figure->schema);
      for (const std::string& assignment : assignments) {
        const std::string key = assignment.substr(0, assignment.find('='));
        if (!params.has(key) && any_figure_has(runs, key)) continue;
        if (auto set = params.set_assignment(assignment); !set) return set.error();
      }
      drawings.push_back({figure, std::move(params), &run});
    }
  }
  return drawings;
}

// Draws and writes until all is done or the user interrupts. False: a figure that was named had nothing to show; or, where
// none was named (`whatever_fits`), a whole recording, as most figures of a page are about some of its runs only.
// `run_a` may be null.
record::Result<bool> draw(const std::vector<Drawing>& drawings, const record::Ledger* run_a, bool whatever_fits,
                          FigureFiles& files) {
  bool well = true;
  const RunFigures* run = nullptr;
  std::set<const RunFigures*> shown;
  std::unique_ptr<record::Ledger> ledger;  // of one recording at a time
  for (const Drawing& drawing : drawings) {
    if (interrupted()) return well;
    if (drawing.run != run) {
      run = drawing.run;
      ledger = run->recording ? std::make_unique<record::Ledger>(*run->recording) : nullptr;
    }
    lessons::FigureInput input;
    input.run = ledger.get();
    input.baseline = run_a;
    input.params = &drawing.params;
    if (run->settings) input.settings = &*run->settings;
    input.sweep = run->sweep;
    const lessons::FigureData data = drawing.figure->build(input);
    if (data.head.empty_reason.empty()) {
      if (auto written = files.write(data, run->name); !written) return written.error();
      shown.insert(run);
    } else if (!whatever_fits) {
      say(fmt::format("{} of {}: {}", drawing.figure->id, run->name, data.head.empty_reason));
      well = false;
    }
  }
  for (const Drawing& drawing : drawings) {
    if (!whatever_fits || !shown.insert(drawing.run).second) continue;
    say(fmt::format("No figure has anything to show of {}.", drawing.run->name));
    well = false;
  }
  return well;
}

void say_what_is_cut(const std::vector<RunFigures>& runs) {
  for (const RunFigures& run : runs)
    if (run.recording && run.recording->truncated())
      say(
          fmt::format("The recording {} was cut off: it is drawn up to its last whole piece; record it again to have "
                      "all of it.",
                      run.name));
}

record::Status check(const FiguresOptions& options) {
  if (auto style = file_style(options.files); !style) return style.error();
  if (options.chapter) {
    const auto course = load_course();
    if (!course) return course.error();
    if (auto pages = pages_of(course.value(), options.chapter); !pages) return pages.error();
  }
  const auto named = figures_named(options.ids);
  if (!named) return named.error();
  const auto all = lessons::figures();
  const RunFigures run{"", nullptr, named.value().empty() ? std::vector(all.begin(), all.end()) : named.value(), {}};
  const auto drawings = plan_drawings({run}, options.set);
  return drawings ? record::Status(record::Ok{}) : drawings.error();
}

record::Result<ExitCode> figures(const FiguresOptions& options) {
  const InterruptGuard guard;
  auto style = file_style(options.files);
  if (!style) return style.error();
  const auto runs = choose_figures(options);
  if (!runs) return runs.error();
  const auto drawings = plan_drawings(runs.value(), options.set);
  if (!drawings) return drawings.error();
  if (interrupted()) return ExitCode::kInterrupted;

  std::shared_ptr<const record::Recording> against;
  std::unique_ptr<record::Ledger> run_a;
  if (options.against) {
    auto loaded = load_recording(*options.against);
    if (!loaded) return loaded.error();
    against = std::move(loaded).value();
    run_a = std::make_unique<record::Ledger>(*against);
  }
  say_what_is_cut(runs.value());
  auto files = FigureFiles::open(std::move(style).value());
  if (!files) return files.error();
  const auto drawn = draw(drawings.value(), run_a.get(), options.ids.empty(), files.value());
  // What was written before a disk was full, or before Ctrl-C, is whole and is in the manifest.
  const auto manifest = files.value().write_manifest();
  if (!drawn) return drawn.error();
  if (!manifest) return manifest.error();
  put(options.json ? files.value().as_json() : files.value().as_text());
  if (interrupted()) return ExitCode::kInterrupted;
  return drawn.value() ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

extern const Command kFigures;
constinit const Command kFigures{.name = "figures",
                                 .summary = "Write figures of the chapters to files",
                                 .example = "headroom figures memory_timeline --from a.hrec --out out --format svg,pdf",
                                 .make = make_invocation<FiguresOptions, declare, figures, check>};

}  // namespace headroom::app
