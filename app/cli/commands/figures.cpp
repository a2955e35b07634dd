// headroom figures: writes the chapters' figures to files, from stored recordings, a given one or a new run.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/drive.h"
#include "app/cli/export/chosen_figures.h"
#include "app/cli/export/figure_files.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/shown_course.h"
#include "app/common/session.h"
#include "lessons/figure.h"
#include "lessons/pages/course.h"
#include "lessons/sources.h"

namespace headroom::app {

using lessons::Figure;

namespace {

struct FiguresOptions : CommonOptions {
  std::vector<std::string> ids;
  std::optional<std::string> chapter;
  bool report = false;
  std::optional<std::string> from;
  std::optional<std::string> against;  // run A
  StepChoice step;
  FileOptions files;
};

void declare_figures(FiguresOptions& options, OptionList& list) {
  list.words("ID", options.ids, "Figures to write (default: all); `headroom list` shows them");
  list.text("--chapter", options.chapter, "Only the figures of this chapter: 6, or P for the prologue", "NUMBER");
  list.flag("--report", options.report, "Write the report's figures, named by its figure numbers");
  list.text("--from", options.from, "Draw this recording (default: the pages' stored recordings)", "FILE");
  list.text("--against", options.against, "Run A: a recording to compare with, drawn behind each run", "FILE");
  list.text("--of", options.step.of, "Draw the prediction of a training step with these settings", "KEY=VALUE");
  list.text("--model", options.step.model, "Model of the predicted step: a name from `headroom list`, or a config.json",
            "NAME");
  list.text("--card", options.step.card, "Card to fit the predicted step on: a name, or a size such as 24GiB", "NAME");
  list.text("--out", options.files.out, "Output folder; created if missing", "FOLDER");
  list.text("--format", options.files.format, "svg, pdf, png, csv or json, separated by commas (default: svg)", "LIST");
  list.set("Parameters of the figures");
  list.text("--theme", options.files.theme, "light, dark or print (default: light)");
  list.text("--size", options.files.size, "Standard width: paper or slide", "NAME");
  list.text("--width", options.files.width, "Width: 900 (pixels), 3.33in or 85mm", "WIDTH");
  list.json();
  list.engine();
}

// All parameters are checked before the first file is written.
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

// Sets each --set value on the figures with that key; fails if no figure has it.
record::Result<std::vector<Drawing>> plan_drawings(const std::vector<RunFigures>& runs,
                                                   const std::vector<std::string>& assignments) {
  std::vector<Drawing> drawings;
  for (const RunFigures& run : runs) {
    for (const Figure* figure : run.figures) {
      record::Params params(figure->schema);
      for (const std::string& control : run.controls)
        if (auto set = params.set_assignment(control); !set) return set.error();
      for (const std::string& assignment : assignments) {
        const std::string key = assignment.substr(0, assignment.find('='));
        if (!params.has(key) && any_figure_has(runs, key)) continue;
        if (!params.has(key) && key == "card")
          return record::Error{"Figures have no parameter card: use the option, for example --card \"RTX 4090\"."};
        if (auto set = params.set_assignment(assignment); !set) return set.error();
      }
      drawings.push_back({figure, std::move(params), &run});
    }
  }
  return drawings;
}

struct Ledgers {
  explicit Ledgers(const RunFigures* of) {
    if (of == nullptr) return;
    run = ledger_of(of->recording);
    prediction = ledger_of(of->prediction);
    for (const auto& recording : of->beside) beside.push_back(owned.emplace_back(ledger_of(recording)).get());
  }

  static std::unique_ptr<record::Ledger> ledger_of(const std::shared_ptr<const record::Recording>& recording) {
    return recording == nullptr ? nullptr : std::make_unique<record::Ledger>(*recording);
  }

  std::unique_ptr<record::Ledger> run, prediction;
  std::vector<std::unique_ptr<record::Ledger>> owned;
  std::vector<const record::Ledger*> beside;
};

lessons::FigureData build(const Drawing& drawing, const Ledgers& ledgers, const record::Ledger* run_a) {
  const RunFigures& run = *drawing.run;
  const record::Ledger* const measured = ledgers.run.get();
  const record::Ledger* const prediction = ledgers.prediction.get();
  lessons::FigureInput input =
      lessons::inputs_for(*drawing.figure, {.run = measured != nullptr ? measured : prediction,
                                            .run_a = run_a,
                                            .prediction = prediction,
                                            .predicted_line = measured != nullptr ? prediction : nullptr,
                                            .settings = run.settings ? &*run.settings : nullptr,
                                            .beside = ledgers.beside,
                                            .sweep = run.sweep,
                                            .card = run.card,
                                            .runs_on_card = true});
  input.params = &drawing.params;
  lessons::FigureData data = drawing.figure->build(input);
  if (run.caption) data.head.caption = run.caption(data);
  return data;
}

// Returns false if a named figure has nothing to show or, with no names (`whatever_fits`), if no figure fits some
// recording.
record::Result<bool> draw(const std::vector<Drawing>& drawings, const record::Ledger* run_a, bool whatever_fits,
                          FigureFiles& files) {
  bool well = true;
  const RunFigures* run = nullptr;
  std::set<const RunFigures*> shown;
  Ledgers ledgers(nullptr);  // for one recording at a time
  for (const Drawing& drawing : drawings) {
    if (interrupted()) return well;
    if (drawing.run != run) {
      run = drawing.run;
      ledgers = Ledgers(run);
    }
    const lessons::FigureData data = build(drawing, ledgers, run_a);
    if (data.head.empty_reason.empty()) {
      if (auto written = files.write(data, run->name, run->prefix); !written) return written.error();
      shown.insert(run);
    } else if (!whatever_fits) {
      say(fmt::format("{} of {}: {}", drawing.figure->id, run->name, data.head.empty_reason));
      well = false;
    }
  }
  for (const Drawing& drawing : drawings) {
    if (!whatever_fits || !shown.insert(drawing.run).second) continue;
    say(fmt::format("No figure can show {}.", drawing.run->name));
    well = false;
  }
  return well;
}

void say_what_is_cut(const std::vector<RunFigures>& runs) {
  for (const RunFigures& run : runs)
    if (run.recording && run.recording->truncated())
      say(
          fmt::format("The recording {} is truncated and is drawn up to its last complete chunk. Record it again to "
                      "get all of it.",
                      run.name));
}

record::Status check_choice(const FiguresOptions& options) {
  if (options.report && (!options.ids.empty() || options.from || options.chapter || options.step.given()))
    return record::Error{
        "--report draws the report's figures: remove figure names, --chapter, --from and the options "
        "of predictions."};
  if (!options.step.given()) return record::Ok{};
  if (options.from || options.chapter)
    return record::Error{"--of, --model and --card draw a prediction: remove --from and --chapter."};
  return check_step_figures(options.step, options.ids);
}

record::Status check_figures(const FiguresOptions& options) {
  if (auto style = file_style(options.files); !style) return style.error();
  if (auto choice = check_choice(options); !choice) return choice;
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
  if (auto choice = check_choice(options); !choice) return choice.error();
  const auto runs = options.report ? report_figures()
                    : options.step.given()
                        ? step_figures(options.step, options.ids, options.engine)
                        : choose_figures({options.ids, options.chapter, options.from, options.engine});
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
  // On a full disk or Ctrl-C the manifest lists the files written so far.
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
                                 .summary = "Write figures to files",
                                 .example = "headroom figures memory_timeline --from a.hrec --out out --format svg,pdf",
                                 .make = make_invocation<FiguresOptions, declare_figures, figures, check_figures>};

}  // namespace headroom::app
