// Runs `edit_kernel`: compiles the reader's source and, on a GPU, checks the kernel between canaries and times it
// against the built-in kernel and a copy.
#include <cmath>
#include <stdexcept>
#include <utility>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "demos/engine/experiments/bench_clock.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/experiments/edited_launch.h"
#include "demos/engine/experiments/guarded_buffer.h"
#include "demos/engine/experiments/nvrtc.h"
#include "demos/experiments/info/edit_kernel_exercises.h"
#include "demos/record/scope.h"
#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/kernel_case.h"
#include "kernels/rms_norm/rms_norm_ops.h"

namespace headroom::experiments {

namespace {

using record::KernelReport;
using record::KernelVerdict;
using record::Measurement;

constexpr float kEpsilon = 1e-5F;
constexpr double kErrorLimit = 3e-6;  // relative to the largest number; fp32 sums err less, a missing ε errs by 5e-6
constexpr std::int64_t kSurplus = 7;  // added to a vector's length, so that the last block is not full
constexpr const char* kDefaultArchitecture = "sm_90";

enum Step { kCompile, kPrepare, kCheck, kTime, kNumSteps };

struct Settings {
  const Exercise* exercise = nullptr;
  std::string source;
  std::int64_t rows = 0, width = 0;
  int threads = 0;
  std::string architecture;
  bool runs = false;  // the code is for this machine's GPU
  std::string why_not;
};

class EditedKernelRun final : public DemoRun {
 public:
  EditedKernelRun(Settings settings, const std::atomic<bool>* cancel)
      : settings_(std::move(settings)), cancel_(cancel) {
    report_.exercise = settings_.exercise->id;
    report_.architecture = settings_.architecture;
  }
  ~EditedKernelRun() override {
    if (library_ != nullptr && lost_.empty()) cudaLibraryUnload(library_);
  }

  StepResult step(int index) override {
    if (!lost_.empty()) throw std::runtime_error(lost_);
    record::mark_step(index);
    record::mark(record::Phase::kForward);
    bool whole = true;
    if (index == kCompile) compile();
    if (index == kPrepare && compiled_) prepare();
    if (index == kCheck && compiled_) whole = check();
    if (index == kTime && report_.verdict == KernelVerdict::kRight) whole = time();
    record::mark_step(-1);
    return whole ? StepResult::kDone : StepResult::kCancelled;
  }
  int steps() const override { return settings_.runs ? kNumSteps : 1; }
  int marks_per_step() const override { return 3; }
  StepReport report() override {
    return {.loss = {}, .tokens = {}, .measurements = std::exchange(rows_, {}), .kernel_report = report_};
  }

 private:
  EditedOperation operation() const { return settings_.exercise->operation; }
  std::int64_t count() const {
    const std::int64_t numbers = settings_.rows * settings_.width;
    return operation() == EditedOperation::kVectorAdd ? numbers + kSurplus : numbers;
  }
  bool has_kernel(std::string_view name) const {
    return std::any_of(report_.kernels.begin(), report_.kernels.end(), [&](const auto& k) { return k.name == name; });
  }

  void compile();
  void prepare();
  bool check();
  bool time();

  std::string missing_kernel() const;
  at::Tensor input(const char* name, std::int64_t numbers);
  at::Tensor output(const char* name, at::Tensor exact);
  std::string launch_all();
  std::string compare(const GuardedBuffer& buffer, const at::Tensor& exact);
  void conclude(KernelVerdict verdict, std::string sentence) {
    report_.verdict = verdict;
    report_.sentence = std::move(sentence);
  }
  std::string resources() const;
  Measurement row(const char* variant, const BenchTime& time) const;

  Settings settings_;
  const std::atomic<bool>* cancel_;
  KernelReport report_;
  bool compiled_ = false;
  std::vector<char> binary_;
  cudaLibrary_t library_ = nullptr;
  std::vector<GuardedBuffer> buffers_;
  std::vector<std::pair<std::size_t, at::Tensor>> outputs_;  // buffer index, expected values
  std::vector<KernelLaunch> launches_;
  std::vector<Measurement> rows_;
  std::string lost_;  // why the device was lost
};

std::string EditedKernelRun::resources() const {
  std::string words;
  for (const record::KernelResources& kernel : report_.kernels) {
    words += fmt::format("{}{}{} registers per thread, {} of shared memory per block", words.empty() ? "" : "; ",
                         report_.kernels.size() > 1 ? kernel.name + ": " : "", kernel.registers,
                         record::format_bytes(kernel.shared));
    if (kernel.spilled > 0) words += fmt::format(", {} spilled", record::format_bytes(kernel.spilled));
  }
  return words;
}

// Names the missing kernel; empty: none.
std::string EditedKernelRun::missing_kernel() const {
  const auto missing = [&](std::string_view name) {
    return has_kernel(name)
               ? std::string()
               : fmt::format("This source has no kernel `{}`: define it with that name and with extern \"C\".", name);
  };
  switch (operation()) {
    case EditedOperation::kVectorAdd:
      return missing("vector_add");
    case EditedOperation::kRmsNorm:
      return missing("rms_norm");
    case EditedOperation::kAddRmsNorm:
      return has_kernel("add") && has_kernel("rms_norm") ? std::string() : missing("add_rms_norm");
  }
  return {};
}

void EditedKernelRun::compile() {
  auto made = compile_kernel(
      {.source = settings_.source,
       .declarations = std::string(declarations_of(operation())),
       .architecture = settings_.architecture,
       .macros = {{"THREADS", std::to_string(settings_.threads)}, {"WIDTH", std::to_string(settings_.width)}}});
  if (!made) throw std::runtime_error(made.error().message);
  Compilation& compilation = made.value();
  report_.compiler = compilation.compiler;
  report_.messages = std::move(compilation.messages);
  report_.kernels = std::move(compilation.kernels);
  binary_ = std::move(compilation.binary);
  if (binary_.empty()) {
    const auto errors =
        std::count_if(report_.messages.begin(), report_.messages.end(), [](auto& m) { return m.error; });
    const auto first = std::find_if(report_.messages.begin(), report_.messages.end(), [](auto& m) { return m.error; });
    const std::string place = first->line > 0 ? fmt::format(" in line {}", first->line) : std::string();
    conclude(KernelVerdict::kNotCompiled,
             errors == 1 ? fmt::format("It does not compile: there is an error{}.", place)
                         : fmt::format("It does not compile: there are {} errors, the first{}.", errors, place));
    return;
  }
  if (std::string missing = missing_kernel(); !missing.empty()) {
    report_.messages.push_back({.error = true, .text = missing});
    conclude(KernelVerdict::kNotCompiled, std::move(missing));
    return;
  }
  compiled_ = settings_.runs;
  conclude(KernelVerdict::kCompiled,
           fmt::format("Compiled for {}: {}.{}", settings_.architecture, resources(), settings_.why_not));
}

at::Tensor EditedKernelRun::input(const char* name, std::int64_t numbers) {
  buffers_.emplace_back(name, numbers, static_cast<int>(buffers_.size()));
  return buffers_.back().data().normal_();
}

at::Tensor EditedKernelRun::output(const char* name, at::Tensor exact) {
  outputs_.emplace_back(buffers_.size(), exact.flatten());
  buffers_.emplace_back(name, exact.numel(), static_cast<int>(buffers_.size()));
  return buffers_.back().data();
}

// Creates inputs, expected outputs (float64) and launches.
void EditedKernelRun::prepare() {
  at::manual_seed(20'260'101);
  const std::int64_t rows = settings_.rows, width = settings_.width;
  const std::int64_t blocks = (count() + settings_.threads - 1) / settings_.threads;
  const auto pointer = [](const at::Tensor& tensor) { return tensor.data_ptr<float>(); };
  if (operation() == EditedOperation::kVectorAdd) {
    const at::Tensor a = input("a", count()), b = input("b", count());
    const at::Tensor out = output("out", a.to(at::kDouble) + b);
    launches_ = {{"vector_add", blocks, {pointer(a), pointer(b), pointer(out)}, count()}};
  } else if (operation() == EditedOperation::kRmsNorm) {
    const at::Tensor x = input("x", count()), weight = input("weight", width);
    const at::Tensor y = output("y", kernels::rms_norm_reference(x.view({rows, width}), weight, kEpsilon));
    launches_ = {{"rms_norm", rows, {pointer(x), pointer(weight), pointer(y)}, {}}};
  } else {
    const at::Tensor x = input("x", count()), residual = input("residual", count()), weight = input("weight", width);
    auto [exact_sum, exact_y] =
        kernels::add_rms_norm_reference(x.view({rows, width}), residual.view({rows, width}), weight, kEpsilon);
    const at::Tensor sum = output("sum", exact_sum), y = output("y", exact_y);
    if (has_kernel("add_rms_norm")) {
      launches_ = {
          {"add_rms_norm", rows, {pointer(x), pointer(residual), pointer(weight), pointer(sum), pointer(y)}, {}}};
    } else {
      launches_ = {{"add", blocks, {pointer(x), pointer(residual), pointer(sum)}, count()},
                   {"rms_norm", rows, {pointer(sum), pointer(weight), pointer(y)}, {}}};
    }
  }
  report_.launches = static_cast<std::int64_t>(launches_.size());
  C10_CUDA_CHECK(cudaLibraryLoadData(&library_, binary_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  C10_CUDA_CHECK(cudaDeviceSynchronize());  // waits for the reference
}

std::string EditedKernelRun::launch_all() {
  for (KernelLaunch& launch : launches_)
    if (std::string refused = start_kernel(library_, launch, settings_.threads, kEpsilon); !refused.empty())
      return refused;
  return {};
}

// Describes how the buffer differs from `exact`; empty if it does not.
std::string EditedKernelRun::compare(const GuardedBuffer& buffer, const at::Tensor& exact) {
  const at::Tensor made = buffer.data();
  const at::Tensor off = (made.to(at::kDouble) - exact).abs();
  const double largest = std::max(exact.abs().max().item<double>(), 1e-30);
  const at::Tensor wrong = off.le(kErrorLimit * largest).logical_not();  // true for NaN
  const auto wrong_numbers = wrong.sum().item<std::int64_t>();
  const double worst = kernels::relative_error(made, exact);
  report_.error_limit = kErrorLimit;
  if (std::isfinite(worst)) report_.error = std::max(report_.error, worst);
  if (wrong_numbers == 0) return {};
  if (const std::int64_t left = buffer.never_written(); left > 0) {
    return fmt::format("It never writes {} of the {} numbers of `{}`.", record::format_count(left),
                       record::format_count(exact.numel()), buffer.name());
  }
  const auto first = wrong.to(at::kByte).argmax().item<std::int64_t>();
  const std::string place = operation() == EditedOperation::kVectorAdd
                                ? fmt::format("number {}", record::format_count(first))
                                : fmt::format("row {}, column {}", first / settings_.width, first % settings_.width);
  return fmt::format("{} of {} numbers of `{}` are wrong, the first in {}: {:.6g} instead of {:.6g}.",
                     record::format_count(wrong_numbers), record::format_count(exact.numel()), buffer.name(), place,
                     made[first].item<float>(), exact[first].item<double>());
}

bool EditedKernelRun::check() {
  if (std::string refused = launch_all(); !refused.empty()) {
    conclude(KernelVerdict::kCrashed, std::move(refused));
    return true;
  }
  lost_ = wait_for_device([this] { return is_set(cancel_); });
  if (!lost_.empty()) {
    conclude(KernelVerdict::kCrashed, lost_);
    return true;
  }
  if (is_set(cancel_)) return false;
  for (const GuardedBuffer& buffer : buffers_) {
    if (std::string damage = buffer.damage(); !damage.empty()) {
      conclude(KernelVerdict::kOutOfBounds, std::move(damage));
      return true;
    }
  }
  for (const auto& [index, exact] : outputs_) {
    if (std::string wrong = compare(buffers_[index], exact); !wrong.empty()) {
      conclude(KernelVerdict::kWrong, std::move(wrong));
      return true;
    }
  }
  conclude(KernelVerdict::kRight,
           fmt::format("Right: its largest error is {:.1e} × the largest number; {}.", report_.error, resources()));
  return true;
}

Measurement EditedKernelRun::row(const char* variant, const BenchTime& time) const {
  const bool add = operation() == EditedOperation::kVectorAdd, fused = operation() == EditedOperation::kAddRmsNorm;
  const record::Bytes tensors = add ? 3 : fused ? 4 : 2;
  return {.panel = Measurement::kEditKernel,
          .kernel = add     ? ""
                    : fused ? "add_rms_norm"
                            : "rms_norm",
          .variant = variant,
          .pass = "forward",
          .timing = "cold",
          .storage = "fp32",
          .label = std::string(settings_.exercise->title),
          .rows = settings_.rows,
          .width = settings_.width,
          .vocab = 0,
          .median = time.median,
          .low = time.low,
          .high = time.high,
          .samples = time.samples,
          .bytes = 4 * (tensors * count() + (add ? 0 : settings_.width))};
}

bool EditedKernelRun::time() {
  outputs_.clear();  // frees the references
  BenchClock clock(at::Device(at::kCUDA, 0));
  const auto data = [&](std::size_t index) { return buffers_[index].data(); };
  const auto matrix = [&](std::size_t index) { return data(index).view({settings_.rows, settings_.width}); };
  const record::Bytes bytes = row("", {}).bytes;
  const auto byte_options = at::TensorOptions().device(at::kCUDA).dtype(at::kByte);
  const at::Tensor from = at::zeros({bytes / 2}, byte_options), to = at::empty({bytes / 2}, byte_options);

  const char* beside = operation() == EditedOperation::kVectorAdd ? "library" : "fused";
  const BenchCall built_in = [&] {
    if (operation() == EditedOperation::kVectorAdd) {
      at::Tensor out = data(2);
      at::add_out(out, data(0), data(1));
    } else if (operation() == EditedOperation::kRmsNorm) {
      kernels::rms_norm_forward(matrix(0), data(1), kEpsilon);
    } else {
      kernels::add_rms_norm_forward(matrix(0), matrix(1), data(2), kEpsilon);
    }
  };
  // Each sample marks progress, so that a slow kernel is not mistaken for an endless one.
  const auto alive = [](const BenchSampler& sampler) {
    return [sampler] {
      record::mark(record::Phase::kForward);
      return sampler();
    };
  };
  const std::array samplers{BenchSampler(alive(clock.cold([&] { (void)launch_all(); }))),
                            BenchSampler(alive(clock.cold(built_in))),
                            BenchSampler(alive(clock.cold([&] { to.copy_(from); })))};
  const auto times =
      time_in_turns(samplers, {.least = 10, .most = 100, .seconds = 1}, [this] { return is_set(cancel_); });
  if (!times) return false;
  rows_ = {row("yours", (*times)[0]), row(beside, (*times)[1]), row("copy", (*times)[2])};
  rows_.front().error = report_.error;
  const double mine = (*times)[0].median;
  report_.sentence += fmt::format(" {:.1f} µs, {:.0f} GB/s: {:.0f} % of {}, {:.0f} % of a copy.", mine / 1e3,
                                  static_cast<double>(bytes) / mine, 100 * (*times)[1].median / mine,
                                  beside == std::string_view("library") ? "LibTorch's own" : "the built-in kernel",
                                  100 * (*times)[2].median / mine);
  return true;
}

record::Result<std::unique_ptr<DemoRun>> make_edit_kernel(const record::Params& params, const RunSetting& setting) {
  if (setting.place.device.is_meta())
    return record::Error{"Your kernel cannot be predicted: run it.", record::ErrorKind::kRefused};
  Settings settings{.exercise = find_exercise(params.text("exercise")),
                    .rows = params.integer("rows"),
                    .width = params.integer("width"),
                    .threads = std::stoi(params.text("threads")),
                    .architecture = params.text("arch")};
  auto source = edited_source(params.text("source"), *settings.exercise);
  if (!source) return source.error();
  settings.source = std::move(source).value();
  if (setting.place.device.is_cuda()) {
    const cudaDeviceProp& gpu = *at::cuda::getCurrentDeviceProperties();
    const std::string own = fmt::format("sm_{}{}", gpu.major, gpu.minor);
    if (settings.architecture == "auto") settings.architecture = own;
    settings.runs = settings.architecture == own;
    if (!settings.runs) settings.why_not = fmt::format(" This GPU is {} and cannot run it.", own);
  } else {
    if (settings.architecture == "auto") settings.architecture = kDefaultArchitecture;
    settings.why_not = " It was not run, because running needs a GPU.";
  }
  return std::unique_ptr<DemoRun>(std::make_unique<EditedKernelRun>(std::move(settings), setting.cancel));
}

}  // namespace

extern const DemoRunner kEditKernelRunner;
constinit const DemoRunner kEditKernelRunner = {.id = "edit_kernel", .read = &read_simply<make_edit_kernel>};

}  // namespace headroom::experiments
