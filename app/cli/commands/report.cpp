// headroom report: runs the report's experiment as one sweep and writes its figures, tables and text.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/drive_sweep.h"
#include "app/cli/export/figure_files.h"
#include "app/cli/export/report_text.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/tables/sweep_table.h"
#include "app/common/session.h"
#include "app/common/sweep_plan.h"
#include "app/common/whole_file.h"
#include "demos/experiments/demo.h"
#include "lessons/figure.h"
#include "lessons/sources.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;

namespace {

struct ReportOptions : CommonOptions {
  std::string out;
};

void declare_report(ReportOptions& options, OptionList& list) {
  list.text("--out", options.out, "Folder for figures, tables and recordings; the same command resumes there",
            "FOLDER");
  list.set("Parameters to change from the report's, in all runs");
  list.device();
  list.quick("Run the tiny model on the CPU, in less than two minutes");
  list.restart("Measure everything again instead of resuming in FOLDER");
  list.time_limit("Time limit; exit code 5 if reached");
  list.json();
  list.engine();
}

constexpr std::string_view kSweepFile = "report.hrec", kTimelines = "timelines", kText = "report.md";

std::string all_formats() {
  std::string list = "svg,csv,json";
  if (paint::can_write(paint::Format::kPdf)) list += ",pdf";
  if (paint::can_write(paint::Format::kPng)) list += ",png";
  return list;
}

struct Picture {
  std::string_view figure, strategies, name;
};
constexpr Picture kPictures[] = {{"needle_ratio", "", "figure_7"},
                                 {"report_batch", "two", "figure_13"},
                                 {"report_sequence", "two", "figure_14"},
                                 {"report_batch", "three", "figure_16"},
                                 {"report_sequence", "three", "figure_17"}};

record::Status write_picture(FigureFiles& files, const Picture& picture, const record::Ledger& sweep) {
  const lessons::Figure* const figure = lessons::find_figure(picture.figure);
  record::Params params(figure->schema);
  if (!picture.strategies.empty())
    if (auto set = params.set("strategies", picture.strategies); !set) return set.error();
  lessons::FigureInput input = lessons::inputs_for(*figure, {.run = &sweep});
  input.params = &params;
  const lessons::FigureData data = figure->build(input);
  if (data.head.empty_reason.empty()) return files.write(data, std::string(picture.name));
  say(fmt::format("{}: {}", picture.name, data.head.empty_reason));
  return record::Ok{};
}

// Writes figures 12 and 15: each recorded step alone, and the step with all fused kernels in front of Hugging Face's
// step of the same size.
record::Status write_timelines(FigureFiles& files, const record::Recording& sweep, const fs::path& folder) {
  const lessons::Figure* const figure = lessons::find_figure("memory_timeline");
  struct Kept {
    const record::SweepPoint* point;
    std::shared_ptr<const record::Recording> recording;
    std::unique_ptr<record::Ledger> ledger;
  };
  std::vector<Kept> kept;
  for (const record::SweepPoint& point : sweep.sweep_points()) {
    std::error_code failed;
    if (point.recording.empty() || !fs::exists(folder / point.recording, failed)) continue;
    auto recording = load_recording(folder / point.recording);
    if (!recording) return recording.error();
    kept.push_back({&point, recording.value(), std::make_unique<record::Ledger>(*recording.value())});
  }
  const auto draw = [&](const Kept& run, const Kept* behind, const std::string& name) -> record::Status {
    const lessons::FigureData data = figure->build(lessons::inputs_for(
        *figure, {.run = run.ledger.get(), .run_a = behind == nullptr ? nullptr : behind->ledger.get()}));
    return data.head.empty_reason.empty() ? files.write(data, name) : record::Status(record::Ok{});
  };
  for (const Kept& run : kept) {
    const std::string name = fs::path(run.point->recording).stem().string();
    if (auto written = draw(run, nullptr, name); !written) return written;
    for (const Kept& other : kept)
      if (run.point->series == "liger_all" && other.point->series == "hf" && other.point->label == run.point->label)
        if (auto written = draw(run, &other, name + "_beside_hf"); !written) return written;
  }
  return record::Ok{};
}

record::Status write_all(FigureFiles& files, const record::Recording& sweep, const fs::path& folder, bool quick) {
  const record::Ledger ledger(sweep);
  for (const Picture& picture : kPictures)
    if (auto written = write_picture(files, picture, ledger); !written) return written;
  if (auto written = write_timelines(files, sweep, folder / kTimelines); !written) return written;
  if (auto written = write_whole(folder / kText, report_text(sweep, quick)); !written) return written;
  return files.write_manifest();
}

record::Result<record::Params> report_asked(const ReportOptions& options) {
  if (options.out.empty()) return Error{"Name the folder for the report: --out FOLDER."};
  record::Params params = report_params(options.quick);
  if (auto set = set_params(params, experiments::training_step().id, options); !set) return set.error();
  return params;
}

record::Result<ExitCode> report(const ReportOptions& options) {
  const auto params = report_asked(options);
  if (!params) return params.error();
  const fs::path folder = options.out;
  SweepPlan plan = plan_report(params.value(), options.quick, folder / kTimelines);
  if (auto kept = check_kept(plan, params.value(), options.set); !kept) return kept.error();
  const EngineChoice engine = choose_engine(options.engine);
  if (auto usable = check_files(plan, engine); !usable) return usable.error();
  auto style = file_style({.out = options.out, .format = all_formats()});
  if (!style) return style.error();
  auto files = FigureFiles::open(std::move(style).value());
  if (!files) return files.error();

  const InterruptGuard guard;
  const SweepFile file{(folder / kSweepFile).string(), options.restart};
  const auto driven = drive_sweep(std::move(plan), engine, file, options.time_limit);
  if (!driven) return driven.error();
  say_what_happened(driven.value(), file);
  std::shared_ptr<const record::Recording> made = driven.value().recording;
  if (measured(driven.value()) && !driven.value().write_error) {
    // Drawn from the file, so that new and stored measurements give the same figures.
    auto stored = load_recording(*file.path);
    if (!stored) return stored.error();
    made = std::move(stored).value();
    if (auto written = write_all(files.value(), *made, folder, options.quick); !written) return written.error();
  }
  const record::Recording& sweep = *made;
  if (options.json) {
    nlohmann::json document = sweep_json(sweep, driven.value().planned);
    document["files"] = nlohmann::json::parse(files.value().as_json());
    document["recording"] = *file.path;
    put_json(document);
  } else if (measured(driven.value())) {
    put(sweep_table(sweep) + "\n" + files.value().as_text() + (folder / kText).string() + "\n" + *file.path + "\n");
  }
  return exit_code_of(driven.value());
}

}  // namespace

extern const Command kReport;
constinit const Command kReport{.name = "report",
                                .summary = "Repeat the report's experiment and compare it with the published points",
                                .example = "",
                                .make = make_invocation<ReportOptions, declare_report, report, report_asked>};

}  // namespace headroom::app
