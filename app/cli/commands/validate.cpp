// headroom validate: compares predictions with measurements for many configurations.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "app/cli/drive.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/common/plan/step_plan.h"
#include "app/common/session.h"
#include "app/common/validation.h"
#include "app/common/validation_draw.h"
#include "app/common/whole_file.h"
#include "demos/experiments/demo.h"
#include "headroom_build.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

struct ValidateOptions : CommonOptions {
  std::optional<std::string> seed, list, out, recordings;
  std::optional<int> count, gpus, ranks;
  bool borders = false;
};

constexpr int kUsualCount = 200, kUsualBorders = 60;

void declare_validate(ValidateOptions& options, OptionList& list) {
  list.text("--seed", options.seed, "Seed: eight hexadecimal digits (default: from the program's revision)", "HEX");
  list.number("--count", options.count, 1, 100'000, "configurations",
              "Number of configurations to draw (default: 200, or 60 with --borders)", "N");
  list.text("--list", options.list, "Use the configurations in this file, one per line, such as `batch=4 seq=256`",
            "FILE");
  list.flag("--borders", options.borders,
            "Run the largest batch predicted to fit under a limit, and the next larger "
            "one");
  list.text("--out", options.out, "Table to write as CSV; configurations already in it are not run again", "FILE");
  list.text("--recordings", options.recordings, "Folder for the recordings of runs that differ, named by row",
            "FOLDER");
  list.number("--gpus", options.gpus, 1, 64, "GPUs", "Engines to run in parallel, one per GPU (default: 1)", "N");
  list.number("--ranks", options.ranks, 2, 64, "ranks", "Ranks of each run, which also draws ZeRO (default: 1)", "N");
  list.device();
  list.engine();
}

record::Result<std::uint32_t> seed_of(const ValidateOptions& options) {
  const std::string text = options.seed ? *options.seed : std::string(build::revision().substr(0, 8));
  std::uint32_t seed = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), seed, 16);
  if (wrong != std::errc() || end != text.data() + text.size() || text.size() > 8)
    return Error{fmt::format("--seed {}: use up to eight hexadecimal digits, such as 77dcb60a.", text)};
  return seed;
}

record::Result<std::vector<Params>> listed(const std::string& path, bool borders) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("{} cannot be read: check the path.", path)};
  std::vector<Params> all;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    auto params = from_line(line);
    if (!params) return Error{fmt::format("{}, line {}: {}", path, number, params.error().message)};
    if (borders && params.value().integer("cap") == 0)
      return Error{fmt::format("{}, line {}: --borders needs a limit in each line, such as `cap=8GiB`.", path, number)};
    all.push_back(std::move(params).value());
  }
  if (all.empty())
    return Error{fmt::format("{} contains no configuration: write one per line, such as `batch=4 seq=256`.", path)};
  return all;
}

record::Status check_validate(const ValidateOptions& options) {
  if (options.list && (options.seed || options.count || options.device || options.ranks))
    return Error{
        "--list already names the configurations and their devices: remove --seed, --count, --ranks and "
        "--device."};
  if (options.ranks && options.gpus)
    return Error{"--ranks gives each run several GPUs, and --gpus gives each run one: use one of the two."};
  if (options.device) {
    Params params(experiments::training_step().schema);
    if (auto known = params.set("device", std::string_view(*options.device)); !known) return known.error();
  }
  const auto seed = seed_of(options);
  return seed || options.list ? record::Status(record::Ok{}) : seed.error();
}

// Rough GEMM speeds, which keep the drawn steps short: a third of an H100's bf16 rate, two thirds of its fp32 rate, and
// a small CPU's rate.
constexpr double kGpuFlops = 330e12, kGpuFp32Flops = 40e12, kCpuFlops = 30e9;
// Other processes share a CPU's memory.
constexpr record::Bytes kCpuMemory = 2 * record::kGiB;

record::Result<std::vector<Params>> configurations(const ValidateOptions& options,
                                                   const backend::EngineCommand& command) {
  if (options.list) return listed(*options.list, options.borders);
  // Destroyed on return, because it holds GPU memory that the runs need.
  const std::unique_ptr<backend::Backend> asked = backend::make_engine(command);
  backend::Backend& engine = *asked;
  if (auto ready = wait_for_engine(engine); !ready) return ready.error();
  const auto seed = seed_of(options);
  if (!seed) return seed.error();
  DrawOptions draw{.seed = seed.value(), .count = options.count.value_or(kUsualCount)};
  const auto gpu = std::ranges::find(engine.devices(), record::DeviceKind::kGpu, &protocol::DeviceFacts::kind);
  const std::string device = options.device.value_or("auto");
  draw.ranks = options.ranks.value_or(1);
  if (draw.ranks > 1) draw.part_that_runs_out = 0.3;  // these runs are dearer, so there are fewer
  draw.on_gpu = record::names_gpu(device) || (device == "auto" && gpu != engine.devices().end());
  if (draw.on_gpu && gpu == engine.devices().end())
    return Error{"This machine has no GPU: use --device cpu to compare on the CPU.", ErrorKind::kRefused};
  draw.memory = draw.on_gpu ? gpu->memory : kCpuMemory / draw.ranks;
  draw.flops_per_second = draw.on_gpu ? kGpuFlops : kCpuFlops;
  draw.fp32_flops_per_second = draw.on_gpu ? kGpuFp32Flops : kCpuFlops;
  if (!options.borders) return draw_configurations(draw);
  draw.count = kUsualCount;
  return draw_borders(draw, options.count.value_or(kUsualBorders));
}

// Each GPU runs one configuration at a time; meanwhile the next engines start and their configurations are predicted.
template <class Row>
class Validation {
 public:
  Validation(std::vector<Params> all, Session& session, const ValidateOptions& options)
      : all_(std::move(all)), session_(session), out_(options.out), recordings_(options.recordings.value_or("")) {}

  record::Status open() {
    std::error_code error;
    if (!recordings_.empty()) std::filesystem::create_directories(recordings_, error);
    if (error)
      return Error{
          fmt::format("{} cannot be created: {}. Choose another place.", recordings_.string(), error.message()),
          ErrorKind::kNotWritten};
    if (!out_) {
      put(Row::head());
      return record::Ok{};
    }
    if (auto read = read_rows_before(); !read) return read;
    // Rewrite only the complete rows: the last one may have been cut off.
    std::string table = Row::head();
    for (const auto& [settings, row] : before_) table += row.row();
    if (auto written = write_whole(*out_, table); !written) return written;
    file_.open(*out_, std::ios::app);
    if (!file_) return Error{fmt::format("{} cannot be written: choose another place.", *out_), ErrorKind::kNotWritten};
    return record::Ok{};
  }

  void run(int gpus) {
    constexpr int kThreadsPerGpu = 3;
    std::vector<std::mutex> busy(static_cast<std::size_t>(gpus));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreadsPerGpu * gpus; ++i) {
      const int gpu = i % gpus;
      threads.emplace_back(
          [this, gpu, gpus, &busy] { work(gpus > 1 ? gpu : -1, busy[static_cast<std::size_t>(gpu)]); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::string summary() const { return summary_.text(); }
  bool written() const { return !out_ || file_.good(); }

 private:
  record::Status read_rows_before() {
    std::ifstream file(*out_);
    if (!file.is_open()) return record::Ok{};
    std::string line;
    std::getline(file, line);
    if (!line.empty() && line + "\n" != Row::head())
      return Error{fmt::format("{} contains another table: choose another file.", *out_)};
    while (std::getline(file, line))
      if (auto row = Row::of_row(line)) before_.emplace(as_line(row->params), *std::move(row));
    return record::Ok{};
  }

  void work(int gpu, std::mutex& device) {
    backend::EngineCommand command = *session_.engine().command;
    if (gpu >= 0)
      command.arguments.insert(command.arguments.begin(), {"env", fmt::format("CUDA_VISIBLE_DEVICES={}", gpu)});
    Predictions predictions([command] { return backend::make_prediction(command); });
    StepPlanner planner(&predictions, session_.why_no_engine(), &interrupted);
    const auto make = [&command] {
      auto engine = backend::make_engine(command);
      (void)wait_for_engine(*engine);  // the run reports the engine's errors
      return engine;
    };
    const ValidationTools tools{make, device, [] { return interrupted(); }, recordings_};
    const auto compare = [&](const Params& params, std::size_t number) {
      if constexpr (std::is_same_v<Row, ComparedRun>)
        return validate_one(params, predictions, tools, std::to_string(number));
      else
        return validate_border(params, planner, tools);
    };
    for (std::size_t index = next_++; index < all_.size() && !interrupted(); index = next_++) {
      const Params& params = all_[index];
      const auto known = before_.find(as_line(params));
      if (known != before_.end()) {
        const std::lock_guard lock(mutex_);
        summary_.add(known->second);
        continue;
      }
      const auto row = compare(params, index + 1);
      if (!row) return;
      const std::lock_guard lock(mutex_);
      keep(*row);
    }
  }

  void keep(const Row& row) {
    summary_.add(row);
    if (out_)
      file_ << row.row() << std::flush;
    else
      put(row.row());
    say(fmt::format("{} of {}: {}", ++done_, all_.size(), row.trouble.empty() ? row.said() : row.trouble));
  }

  std::vector<Params> all_;
  std::map<std::string, Row> before_;  // by settings
  Session& session_;
  std::optional<std::string> out_;
  std::filesystem::path recordings_;
  std::ofstream file_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::conditional_t<std::is_same_v<Row, ComparedRun>, ValidationSummary, BorderSummary> summary_;
};

template <class Row>
record::Result<ExitCode> compare(std::vector<Params> all, Session& session, const ValidateOptions& options) {
  Validation<Row> validation(std::move(all), session, options);
  if (auto opened = validation.open(); !opened) return opened.error();
  validation.run(options.gpus.value_or(1));
  if (!validation.written())
    return Error{fmt::format("Writing {} failed: check that the disk has space.", *options.out),
                 ErrorKind::kNotWritten};
  if (options.out)
    put(validation.summary());
  else
    say(validation.summary());
  return interrupted() ? ExitCode::kInterrupted : ExitCode::kDone;
}

record::Result<ExitCode> validate(const ValidateOptions& options) {
  if (auto checked = check_validate(options); !checked) return checked.error();
  Session session(choose_engine(options.engine));
  if (!session.has_engine()) return Error{session.why_no_engine(), ErrorKind::kRefused};
  const InterruptGuard guard;
  auto all = configurations(options, *session.engine().command);
  if (interrupted()) return ExitCode::kInterrupted;
  if (!all) return all.error();
  return options.borders ? compare<ComparedBorder>(std::move(all).value(), session, options)
                         : compare<ComparedRun>(std::move(all).value(), session, options);
}

}  // namespace

extern const Command kValidate;
constinit const Command kValidate{.name = "validate",
                                  .summary = "Compare predictions and runs of many configurations",
                                  .example = "headroom validate --count 20 --out validation.csv",
                                  .make = make_invocation<ValidateOptions, declare_validate, validate, check_validate>};

}  // namespace headroom::app
