// headroom validate: predicted against measured, configuration by configuration.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "app/cli/drive.h"
#include "app/cli/grammar.h"
#include "app/cli/output.h"
#include "app/common/session.h"
#include "app/common/validation.h"
#include "app/common/validation_draw.h"
#include "app/common/whole_file.h"
#include "headroom_build.h"

namespace headroom::app {

using record::Error;
using record::ErrorKind;
using record::Params;

namespace {

struct ValidateOptions : CommonOptions {
  std::optional<std::string> seed, list, out;
  std::optional<int> count, gpus;
};

constexpr int kUsualCount = 200;

void declare(ValidateOptions& options, OptionList& list) {
  list.text("--seed", options.seed, "Eight hexadecimal digits; default: the first of the program's revision", "HEX");
  list.number("--count", options.count, 1, 100'000, "configurations", "How many are drawn (default: 200)", "N");
  list.text("--list", options.list, "Configurations to take instead: a line each, as in `batch=4 seq=256`", "FILE");
  list.text("--out", options.out, "The table, as CSV; what it has already is not run again", "FILE");
  list.number("--gpus", options.gpus, 1, 64, "GPUs", "Engines at a time, one for each GPU (default: 1)", "N");
  list.device();
  list.engine();
}

record::Result<std::uint32_t> seed_of(const ValidateOptions& options) {
  const std::string text = options.seed ? *options.seed : std::string(build::revision().substr(0, 8));
  std::uint32_t seed = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), seed, 16);
  if (wrong != std::errc() || end != text.data() + text.size() || text.size() > 8)
    return Error{fmt::format("--seed {}: give up to eight hexadecimal digits, such as 77dcb60a.", text)};
  return seed;
}

record::Result<std::vector<Params>> listed(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{fmt::format("{} cannot be read.", path)};
  std::vector<Params> all;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    auto params = from_line(line);
    if (!params) return Error{fmt::format("{}, line {}: {}", path, number, params.error().message)};
    all.push_back(std::move(params).value());
  }
  if (all.empty())
    return Error{fmt::format("{} has no configuration: write one a line, as in `batch=4 seq=256`.", path)};
  return all;
}

record::Status check(const ValidateOptions& options) {
  if (options.list && (options.seed || options.count))
    return Error{"--list names the configurations: leave --seed and --count out."};
  const auto seed = seed_of(options);
  return seed || options.list ? record::Status(record::Ok{}) : seed.error();
}

// A rough speed of products, which keeps steps short: an H100's in bf16 at a third, a small CPU's in fp32.
constexpr double kGpuFlops = 330e12, kCpuFlops = 30e9;
// On a CPU everything else runs beside it.
constexpr record::Bytes kCpuMemory = 2 * record::kGiB;

record::Result<std::vector<Params>> configurations(const ValidateOptions& options,
                                                   const backend::EngineCommand& command) {
  if (options.list) return listed(*options.list);
  // Ends with this function: it would hold memory of the GPU beside the runs.
  const std::unique_ptr<backend::Backend> asked = backend::make_engine(command);
  backend::Backend& engine = *asked;
  if (auto ready = wait_for_engine(engine); !ready) return ready.error();
  const auto seed = seed_of(options);
  if (!seed) return seed.error();
  DrawOptions draw{.seed = seed.value(), .count = options.count.value_or(kUsualCount)};
  const auto gpu = std::ranges::find(engine.devices(), record::DeviceKind::kGpu, &protocol::DeviceFacts::kind);
  draw.on_gpu = options.device ? *options.device == "cuda" : gpu != engine.devices().end();
  if (draw.on_gpu && gpu == engine.devices().end())
    return Error{"There is no GPU here: --device cpu compares on the CPU.", ErrorKind::kRefused};
  draw.memory = draw.on_gpu ? gpu->memory : kCpuMemory;
  draw.flops_per_second = draw.on_gpu ? kGpuFlops : kCpuFlops;
  return draw_configurations(draw);
}

// Rows that were written before, by their settings; the file then goes on with a whole line.
record::Result<std::map<std::string, ComparedRun>> rows_before(const std::optional<std::string>& out) {
  std::map<std::string, ComparedRun> rows;
  std::ifstream file;
  if (out) file.open(*out);
  if (!file.is_open()) return rows;
  std::string line;
  std::getline(file, line);
  if (!line.empty() && line + "\n" != validation_head())
    return Error{fmt::format("{} is no table of `headroom validate`: name another file.", *out)};
  while (std::getline(file, line)) {
    if (auto row = run_of_row(line)) rows.emplace(settings_of_row(line), *std::move(row));
  }
  return rows;
}

// Takes one configuration after the other, with an engine of one GPU each time, until none is left.
class Validation {
 public:
  Validation(std::vector<Params> all, std::map<std::string, ComparedRun> before, Session& session,
             std::optional<std::string> out)
      : all_(std::move(all)), before_(std::move(before)), session_(session), out_(std::move(out)) {}

  record::Status open() {
    if (!out_) {
      put(validation_head());
      return record::Ok{};
    }
    // Written anew with the rows that are whole: a row may have been cut off.
    std::string table = validation_head();
    for (const auto& [settings, row] : before_) table += validation_row(row);
    if (auto written = write_whole(*out_, table); !written) return written;
    file_.open(*out_, std::ios::app);
    if (!file_) return Error{fmt::format("{} cannot be written.", *out_), ErrorKind::kNotWritten};
    return record::Ok{};
  }

  void run(int gpus) {
    std::vector<std::thread> threads;
    for (int gpu = 0; gpu < gpus; ++gpu) threads.emplace_back([this, gpu, gpus] { work(gpus > 1 ? gpu : -1); });
    for (std::thread& thread : threads) thread.join();
  }

  const ValidationSummary& summary() const { return summary_; }
  bool written() const { return !out_ || file_.good(); }

 private:
  void work(int gpu) {
    backend::EngineCommand command = *session_.engine().command;
    if (gpu >= 0)
      command.arguments.insert(command.arguments.begin(), {"env", fmt::format("CUDA_VISIBLE_DEVICES={}", gpu)});
    Predictions predictions([command] { return backend::make_prediction(command); });
    for (std::size_t index = next_++; index < all_.size() && !interrupted(); index = next_++) {
      const Params& params = all_[index];
      if (const auto known = before_.find(as_line(params)); known != before_.end()) {
        const std::lock_guard lock(mutex_);
        summary_.add(known->second);
        continue;
      }
      const auto run = validate_one(
          params, predictions, [&] { return backend::make_engine(command); }, [] { return interrupted(); });
      if (!run) return;
      const std::lock_guard lock(mutex_);
      summary_.add(*run);
      const std::string row = validation_row(*run);
      if (out_)
        file_ << row << std::flush;
      else
        put(row);
      say(fmt::format("{} of {}: allocated {:+.4f} %{}", ++done_, all_.size(), 100 * run->allocated.error(),
                      run->trouble.empty() ? "" : ", " + run->trouble));
    }
  }

  std::vector<Params> all_;
  std::map<std::string, ComparedRun> before_;
  Session& session_;
  std::optional<std::string> out_;
  std::ofstream file_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t done_ = 0;
  ValidationSummary summary_;
};

record::Result<ExitCode> validate(const ValidateOptions& options) {
  Session session(choose_engine(options.engine));
  if (!session.has_engine()) return Error{session.why_no_engine(), ErrorKind::kRefused};
  auto before = rows_before(options.out);
  if (!before) return before.error();
  const InterruptGuard guard;
  auto all = configurations(options, *session.engine().command);
  if (interrupted()) return ExitCode::kInterrupted;
  if (!all) return all.error();
  Validation validation(std::move(all).value(), std::move(before).value(), session, options.out);
  if (auto opened = validation.open(); !opened) return opened.error();
  validation.run(options.gpus.value_or(1));
  if (!validation.written())
    return Error{fmt::format("{} could not be written.", *options.out), ErrorKind::kNotWritten};
  if (options.out)
    put(validation.summary().text());
  else
    say(validation.summary().text());
  return interrupted() ? ExitCode::kInterrupted : ExitCode::kDone;
}

}  // namespace

extern const Command kValidate;
constinit const Command kValidate{.name = "validate",
                                  .summary = "Predict and run many configurations, and compare them",
                                  .example = "headroom validate --count 20 --out validation.csv",
                                  .make = make_invocation<ValidateOptions, declare, validate, check>};

}  // namespace headroom::app
