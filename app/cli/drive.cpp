// Drives one run from a terminal.
#include "app/cli/drive.h"

#include <chrono>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/launched.h"
#include "app/cli/output.h"
#include "demos/protocol/launchers.h"

namespace headroom::app {

using backend::Backend;
using backend::RunState;
using record::Error;
using record::ErrorKind;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kPatience(10);            // until a rank says that others are missing
constexpr auto kStartLimit = std::chrono::seconds(120);  // a cold disk, a slow network

}  // namespace

record::Status wait_for_engine(Backend& engine) {
  const auto give_up = Clock::now() + kStartLimit;
  while (engine.devices().empty() && !interrupted()) {
    if (engine.trouble()) return Error{*engine.trouble(), ErrorKind::kEngine};
    if (Clock::now() > give_up)
      return Error{"The engine has sent nothing for two minutes. Run `headroom doctor` to find the reason.",
                   ErrorKind::kEngine};
    wait_and_poll(engine);
  }
  return interrupted() ? record::Status(Error{"", ErrorKind::kInterrupted}) : record::Ok{};
}

record::Status check_device(const Backend& engine, const record::Params& params) {
  if (!params.has("device") || params.text("device") == "auto") return record::Ok{};
  const std::string& device = params.text("device");
  for (const auto& each : engine.devices())
    if (each.key == device) return record::Ok{};
  return Error{
      fmt::format("The engine has no {} device (it has {}): use --device cpu, or run `headroom doctor` to see what is "
                  "missing.",
                  device, fmt::join(engine.devices() | std::views::transform(&protocol::DeviceFacts::name), ", ")),
      ErrorKind::kRefused};
}

record::Result<Backend*> ready_engine(Session& session, const record::Params& params) {
  if (!session.has_engine()) return Error{session.why_no_engine(), ErrorKind::kRefused};
  Backend* const engine = session.runner();
  if (auto ready = wait_for_engine(*engine); !ready) return ready.error();
  if (auto there = check_device(*engine, params); !there) return there.error();
  return engine;
}

record::Result<DrivenRun> drive(Backend& engine, const backend::RunRequest& request, std::optional<double> time_limit,
                                int rank) {
  if (auto started = engine.start(request); !started) return started.error();
  const auto start = Clock::now();
  DrivenRun run;
  ProgressLine progress;
  bool waits = false;  // the reader knows that the other ranks are missing
  while (engine.state() != RunState::kFinished) {
    wait_and_poll(engine);
    const std::chrono::duration<double> elapsed = Clock::now() - start;
    if (rank == 0)
      progress.show(engine.progress());
    else if (!waits && elapsed > kPatience && engine.progress().doing.starts_with(protocol::kMeeting)) {
      waits = true;
      say(from_rank(rank, fmt::format("still {}; it gives up after {} minutes.", engine.progress().doing,
                                      protocol::kMeetingLimit.count())));
    }
    if (run.interrupted || run.time_limit_met) continue;
    run.interrupted = interrupted();
    run.time_limit_met = !run.interrupted && time_limit && elapsed.count() > *time_limit;
    if (run.interrupted || run.time_limit_met) engine.cancel();
  }
  progress.clear();
  run.recording = engine.recording();
  run.write_error = engine.write_error();
  return run;
}

record::Result<std::shared_ptr<const record::Recording>> drive_to_end(Backend& engine,
                                                                      const backend::RunRequest& request,
                                                                      std::optional<double> time_limit) {
  auto driven = drive(engine, request, time_limit);
  if (!driven) return driven.error();
  const DrivenRun& run = driven.value();
  const record::Outcome outcome =
      run.recording->outcome().value_or(record::Outcome{record::OutcomeKind::kEngineLost, {}, {}});
  if (outcome.kind == record::OutcomeKind::kCompleted) return run.recording;
  if (run.interrupted) return Error{"Interrupted: there is nothing to compare.", ErrorKind::kInterrupted};
  if (run.time_limit_met)
    return Error{fmt::format("The time limit of {} s was reached: there is nothing to compare.", *time_limit),
                 ErrorKind::kTimeLimit};
  // A device that is too small counts as refused.
  const bool refused =
      outcome.kind == record::OutcomeKind::kRefused || outcome.kind == record::OutcomeKind::kOutOfMemory;
  return Error{outcome.message.empty() ? "The run did not finish." : outcome.message,
               refused ? ErrorKind::kRefused : ErrorKind::kEngine};
}

}  // namespace headroom::app
