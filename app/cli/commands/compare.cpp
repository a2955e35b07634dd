// headroom compare: compares the last whole step of a recording with its prediction, or with another recording's.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/cli/tables/difference_table.h"
#include "app/common/plan/run_prediction.h"
#include "app/common/session.h"
#include "demos/record/ledger.h"
#include "demos/record/text.h"
#include "demos/record/timeline.h"
#include "lessons/steps/step_difference.h"
#include "lessons/wording.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Recording;

namespace {

struct CompareOptions : CommonOptions {
  std::vector<std::string> files;
};

void declare_compare(CompareOptions& options, OptionList& list) {
  list.words("RECORDING", options.files, "One recording, to compare with its prediction, or two");
  list.json();
  list.engine();
}

record::Status check_compare(const CompareOptions& options) {
  if (options.files.empty() || options.files.size() > 2)
    return Error{
        "Name one recording to compare with its prediction, or two: `headroom compare a.hrec` or `headroom compare "
        "a.hrec b.hrec`."};
  return record::Ok{};
}

struct Side {
  std::shared_ptr<const Recording> recording;
  std::unique_ptr<record::Ledger> ledger;
  record::StepRange step;  // the last whole one
};

// Empty without a whole step.
std::optional<Side> side_of(std::shared_ptr<const Recording> recording) {
  const auto step = record::last_whole_step(*recording);
  if (!step) return std::nullopt;
  auto ledger = std::make_unique<record::Ledger>(*recording);
  return Side{std::move(recording), std::move(ledger), *step};
}

record::Result<Side> read_side(const std::string& file) {
  auto recording = load_recording(file);
  if (!recording) return recording.error();
  const std::string name = record::printable(file);
  if (!recording.value()->sweep_points().empty())
    return Error{fmt::format(
        "{} is a sweep, which has no steps to compare: record one of its points with `headroom run`.", name)};
  auto side = side_of(std::move(recording).value());
  if (side) return *std::move(side);
  return Error{fmt::format(
      "{} has no whole training step to compare: record one with `headroom run train_step --record FILE`.", name)};
}

record::Result<Side> predicted_side(const Recording& run, const std::string& file, const std::string& engine) {
  Session session(choose_engine(engine));
  RunPrediction found = predict_run(run, session, /*few_micro_batches=*/false, &interrupted);
  if (found.recording == nullptr && found.why_not.empty()) return Error{"", ErrorKind::kInterrupted};
  if (found.recording == nullptr)
    return Error{
        fmt::format("{} cannot be compared with a prediction. {}{} Two recordings can be compared without one.", file,
                    found.why_not, session.has_engine() ? "" : " The closed form needs no engine, but has no events."),
        ErrorKind::kRefused};
  auto side = side_of(std::move(found.recording));
  if (side) return *std::move(side);
  return Error{
      fmt::format("The prediction of {} runs out of memory in its first step: name a second recording to "
                  "compare with.",
                  file)};
}

void put_difference(const Side& run, const Side& other, const CompareOptions& options) {
  const bool predicted = options.files.size() == 1;
  const ComparedSide of_run =
      predicted ? ComparedSide{*run.ledger, "measured", "measured"} : ComparedSide{*run.ledger, "B", "b"};
  const ComparedSide of_other =
      predicted ? ComparedSide{*other.ledger, "predicted", "predicted"} : ComparedSide{*other.ledger, "A", "a"};
  const lessons::StepDifference difference = lessons::step_difference(*run.ledger, run.step, *other.ledger, other.step);
  if (options.json) {
    nlohmann::json document = difference_json(difference, of_run, of_other);
    document["recordings"] = options.files;
    return put_json(document);
  }
  for (std::size_t i = 0; i < options.files.size(); ++i) {
    const Recording& recording = predicted || i == 1 ? *run.recording : *other.recording;
    const std::string name = predicted ? "" : i == 0 ? "A: " : "B: ";
    put(fmt::format("{}{}: {}\n", name, record::printable(options.files[i]),
                    record::printable(lessons::provenance_line(recording.info()))));
  }
  put(difference_text(difference, of_run, of_other));
}

record::Result<ExitCode> compare(const CompareOptions& options) {
  if (auto checked = check_compare(options); !checked) return checked.error();
  const InterruptGuard guard;
  const std::string first = record::printable(options.files.front());
  auto a = read_side(options.files.front());
  if (!a) return a.error();
  if (options.files.size() == 1) {
    const auto predicted = predicted_side(*a.value().recording, first, options.engine);
    if (!predicted) return predicted.error();
    put_difference(a.value(), predicted.value(), options);
    return ExitCode::kDone;
  }
  const auto b = read_side(options.files.back());
  if (!b) return b.error();
  const auto demo_of = [](const Side& side) { return record::printable(side.recording->info().demo); };
  if (demo_of(a.value()) != demo_of(b.value()))
    return Error{fmt::format("{} is a run of {} and {} one of {}: compare two runs of the same demo.", first,
                             demo_of(a.value()), record::printable(options.files.back()), demo_of(b.value()))};
  put_difference(b.value(), a.value(), options);
  return ExitCode::kDone;
}

}  // namespace

extern const Command kCompare;
constinit const Command kCompare{.name = "compare",
                                 .summary = "Compare a recording with its prediction, or two recordings",
                                 .example = "headroom compare a.hrec",
                                 .make = make_invocation<CompareOptions, declare_compare, compare, check_compare>};

}  // namespace headroom::app
