// headroom run: runs a demo once and summarizes it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/check_files.h"
#include "app/cli/drive.h"
#include "app/cli/foreign_config.h"
#include "app/cli/grammar.h"
#include "app/cli/launched.h"
#include "app/cli/output.h"
#include "app/common/plan/run_prediction.h"
#include "app/common/session.h"
#include "app/common/summary.h"
#include "demos/experiments/demo.h"
#include "demos/record/file/first_steps.h"
#include "demos/record/run_recordings.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;
using record::ErrorKind;
using record::OutcomeKind;
using record::Params;

namespace {

struct RunOptions : CommonOptions {
  std::string demo;
  std::optional<std::string> data, config;
  std::optional<int> memory_steps;
  bool trace = false, fail_on_oom = false;
};

void declare_run(RunOptions& options, OptionList& list) {
  list.word("DEMO", options.demo, "Demo to run; `headroom list` shows all, with their keys");
  list.set("Parameters of the demo");
  list.device();
  list.cap();
  list.text("--data", options.data,
            "Training data: UTF-8 text, or token ids as .npy or .bin (default: the text that ships with Headroom)",
            "FILE");
  list.text("--config", options.config, kConfigHelp, "FILE");
  list.record("Save the run to a recording");
  list.number("--memory-steps", options.memory_steps, 1, 100'000, "steps",
              "Record the memory of the first N steps only; losses and speeds cover all steps", "N");
  list.time_limit("Time limit after which the run is cancelled with exit code 5");
  list.flag("--trace", options.trace, "Record every kernel and launch as well; this slows the run");
  list.flag("--fail-on-oom", options.fail_on_oom, "Exit with code 4 if the run runs out of memory");
  list.json();
  list.engine();
}

record::Result<const experiments::DemoInfo*> demo_named(const RunOptions& options) {
  if (options.demo.empty())
    return Error{
        "Name the demo first, for example `headroom run train_step --set batch=4`; `headroom list` shows all."};
  if (const auto* demo = experiments::find_demo(options.demo)) return demo;
  return unknown_id("demo", options.demo, experiments::demos());
}

struct RunAsked {
  const experiments::DemoInfo& demo;
  Params params;
  std::optional<ForeignConfig> config;
};

record::Result<std::optional<ForeignConfig>> config_of(const RunOptions& options, const experiments::DemoInfo& demo,
                                                       Params& params, bool reads) {
  if (!options.config) return std::optional<ForeignConfig>();
  if (&demo != &experiments::training_step()) return Error{"--config is for train_step: other demos train no model."};
  if (!reads) return std::optional<ForeignConfig>();
  auto config = apply_config(params, *options.config);
  if (!config) return config.error();
  return std::optional(std::move(config).value());
}

// `launch` is null for a run that no launcher started. `reads`: whether files may be opened.
record::Result<RunAsked> run_asked(const RunOptions& options, const protocol::Launch* launch, bool reads) {
  const auto named = demo_named(options);
  if (!named) return named.error();
  const experiments::DemoInfo& demo = *named.value();
  if (options.memory_steps && !options.record)
    return Error{"--memory-steps applies to a recording: add --record FILE."};
  Params params(demo.schema);
  auto config = config_of(options, demo, params, reads);
  if (!config) return config.error();
  if (launch != nullptr)
    if (auto set = set_ranks(params, demo, *launch); !set) return set.error();
  if (auto set = set_params(params, demo.id, options); !set) return set.error();
  if (auto set = set_flag(params, demo.id, "data", options.data); !set) return set.error();
  if (options.trace)
    if (auto set = set_flag(params, demo.id, "trace", "on"); !set) return set.error();
  if (config.value()) {
    std::vector<std::string> keys = keys_of(options.set);
    if (launch != nullptr) keys.emplace_back("ranks");
    settle_config(params, *config.value(), keys);
  }
  if (launch != nullptr)
    if (auto right = check_ranks(params, *launch); !right) return right.error();
  return RunAsked{demo, std::move(params), std::move(config).value()};
}

record::Result<RunAsked> check_run(const RunOptions& options) { return run_asked(options, nullptr, /*reads=*/false); }

// Reports an unwritable file before the run.
record::Status check_writable(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return Error{fmt::format("{} is a folder: pass --record a file name such as a.hrec.", path.string()),
                 ErrorKind::kNotWritten};
  if (auto writer = record::RecordingWriter::create(path); !writer) return writer.error();
  return record::Ok{};
}

ExitCode exit_code_of(const DrivenRun& run, bool fail_on_oom) {
  const OutcomeKind outcome = run.recording->outcome() ? run.recording->outcome()->kind : OutcomeKind::kEngineLost;
  const bool ended_by_itself = outcome == OutcomeKind::kCompleted || outcome == OutcomeKind::kOutOfMemory;
  if (run.write_error) return ExitCode::kNotWritten;
  if (run.time_limit_met && !ended_by_itself) return ExitCode::kTimeLimit;
  if (outcome == OutcomeKind::kOutOfMemory && fail_on_oom) return ExitCode::kOutOfMemory;
  const auto& kernel = run.recording->kernel_report();
  const bool right = !kernel || kernel->verdict == record::KernelVerdict::kRight ||
                     kernel->verdict == record::KernelVerdict::kCompiled;
  if (outcome == OutcomeKind::kCompleted && !right) return ExitCode::kFailed;
  return app::exit_code_of(outcome);
}

void say_what_happened(const DrivenRun& run, const RunOptions& options) {
  if (run.interrupted)
    say("Interrupted: the run was cancelled. What it recorded up to that point is kept.");
  else if (run.time_limit_met)
    say(fmt::format("The time limit of {} s was reached, so the run was cancelled.", *options.time_limit));
  if (run.write_error) say(run.write_error->message);
  for (const char* key : {"kernels_trouble", "trace_trouble", "gemm"})
    if (const std::string trouble = record::fact_of(run.recording->info().provenance, key); !trouble.empty())
      say(trouble);
  const auto& outcome = run.recording->outcome();
  if (outcome && !outcome->message.empty() && outcome->kind != OutcomeKind::kOutOfMemory &&
      outcome->kind != OutcomeKind::kCancelled)
    say(outcome->message);
}

// A run that was refused or never began leaves existing files alone.
bool recorded(const DrivenRun& run) {
  const record::Recording& recording = *run.recording;
  const bool refused = recording.outcome() && recording.outcome()->kind == OutcomeKind::kRefused;
  const bool began = !recording.events().empty() || !recording.marks().empty() || !recording.metrics().empty() ||
                     !recording.measurements().empty();
  return began && !refused && !run.write_error;
}

// Empty for demos other than training steps and for runs that did not reach their end.
std::optional<PredictedPeak> prediction_of(const record::Recording& run, Session& session) {
  const auto& outcome = run.outcome();
  const bool ended =
      outcome && (outcome->kind == OutcomeKind::kCompleted || outcome->kind == OutcomeKind::kOutOfMemory);
  if (!experiments::trains(run.info().demo) || !ended || run.events().empty()) return std::nullopt;
  const RunPrediction predicted = predict_run(run, session, /*few_micro_batches=*/true, &interrupted);
  if (predicted.recording == nullptr && predicted.why_not.empty()) return std::nullopt;
  if (predicted.recording == nullptr) return PredictedPeak{.why_not = predicted.why_not};
  const auto& end = predicted.recording->outcome();
  return PredictedPeak{.allocated = record::Ledger(*predicted.recording).peak().totals.allocated,
                       .out_of_memory = end && end->kind == OutcomeKind::kOutOfMemory};
}

void put_summary(const DrivenRun& run, const RunOptions& options, Session& session) {
  const record::Ledger ledger(*run.recording);
  const RunSummary summary = summarise(ledger);
  const std::optional<PredictedPeak> predicted = prediction_of(*run.recording, session);
  if (options.json) return put(to_json(summary, predicted));
  put(to_text(summary, predicted));
  if (!options.record || !recorded(run)) return;
  std::error_code failed;
  const auto size = fs::file_size(*options.record, failed);
  if (!failed)
    put(fmt::format("  {:<9} {} ({} events, {})\n", "recorded", *options.record,
                    record::format_count(static_cast<std::int64_t>(summary.run->events().size())),
                    record::format_bytes(static_cast<record::Bytes>(size))));
}

// Why this rank did not complete its run; empty if it did.
std::string failure_of(const DrivenRun& run) {
  if (run.write_error) return run.write_error->message;
  const auto& outcome = run.recording->outcome();
  return outcome && outcome->kind != OutcomeKind::kCompleted ? outcome->message : std::string();
}

// Rank 0 speaks for all ranks of a launch; the others report only failures.
void report(const DrivenRun& run, const RunOptions& options, int rank, Session& session) {
  if (rank == 0) {
    say_what_happened(run, options);
    put_summary(run, options, session);
  } else if (const std::string failure = failure_of(run); !failure.empty()) {
    say(from_rank(rank, failure));
  }
}

record::Result<ExitCode> run_process(const RunOptions& options, const protocol::Launch* launch) {
  const auto asked = run_asked(options, launch, /*reads=*/true);
  if (!asked) return asked.error();
  const auto& [demo, params, config] = asked.value();
  EngineChoice chosen = choose_engine(options.engine);
  if (launch != nullptr)
    if (auto own = choose_gpu(chosen, params, *launch); !own) return own.error();
  if (auto usable = check_files(demo, params, chosen); !usable) return usable.error();
  const int rank = launch == nullptr ? 0 : launch->place.rank;
  if (config && rank == 0)
    for (const std::string& note : config_notes(*config)) say(note);
  std::optional<fs::path> file;
  if (options.record) file = record::part_path(*options.record, rank);
  if (file)
    if (auto writable = check_writable(*file); !writable) return writable.error();

  Session session(chosen);
  const InterruptGuard guard;
  const auto engine = ready_engine(session, params);
  if (!engine) return engine.error();

  backend::RunRequest request = run_request(demo.id, params);
  if (launch != nullptr) request.engine.ranks = 1;
  if (!options.memory_steps) request.record_to = file;
  auto driven = drive(*engine.value(), request, options.time_limit, rank);
  if (!driven) return driven.error();
  DrivenRun& run = driven.value();
  if (options.memory_steps && recorded(run))  // the summary still covers all steps
    if (auto written = record::first_steps(*run.recording, *options.memory_steps).write(*file); !written)
      run.write_error = written.error();
  report(run, options, rank, session);
  return exit_code_of(run, options.fail_on_oom);
}

record::Result<ExitCode> run(const RunOptions& options) {
  const auto launched = read_launched();
  if (!launched) return launched.error();
  if (!launched.value()) return run_process(options, nullptr);
  const protocol::Launch& launch = *launched.value();
  if (launch.place.rank == 0 && !launch.disagreement.empty()) say(launch.disagreement);
  auto ended = run_process(options, &launch);
  if (ended || launch.place.rank == 0) return ended;
  if (!ended.error().message.empty()) say(from_rank(launch.place.rank, ended.error().message));
  return app::exit_code_of(ended.error());  // stdout is rank 0's, also with --json
}

}  // namespace

extern const Command kRun;
constinit const Command kRun{.name = "run",
                             .summary = "Run a demo once and summarize it",
                             .example = "headroom run train_step --set model=tiny batch=4 --record a.hrec",
                             .make = make_invocation<RunOptions, declare_run, run, check_run>};

}  // namespace headroom::app
