// Measures `bench`'s cases.
#include "demos/engine/experiments/bench_run.h"

#include <algorithm>
#include <array>
#include <thread>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "demos/record/scope.h"

namespace headroom::experiments {

namespace {

using record::Bytes;
using record::DeviceKind;
using record::Measurement;

// The backward pass keeps forward results in memory, so it is timed last.
constexpr std::array<const char*, 3> kBenchPassNames{"forward", "full", "backward"};
constexpr std::int64_t kErrorRows = 256;       // errors are computed in float64, on at most this many rows
constexpr std::int64_t kErrorWidth = 1 << 18;  // for kernels on weights, at most this many elements
constexpr Bytes kLargeCopy = Bytes{1} << 30;   // bytes read; as many are written
constexpr Bytes kLargeCopyCpu = Bytes{1} << 28;

BenchCall copy_of(Bytes bytes, at::Device device) {
  const at::TensorOptions options = at::TensorOptions().device(device).dtype(at::kByte);
  const at::Tensor from = at::zeros({bytes / 2}, options), to = at::empty({bytes / 2}, options);
  return [from, to] { to.copy_(from); };
}

struct Timed {
  const kernels::KernelForm* form;  // null for the copy
  BenchCall call;
  Bytes extra_memory = -1;
};

}  // namespace

kernels::KernelForms bench_forms(const BenchCase& one, at::Device device) {
  const kernels::KernelCase* const found = kernels::find_case(one.kernel);
  const kernels::KernelInfo* const kernel = kernels::find_kernel(one.kernel);
  TORCH_CHECK(found != nullptr && kernel != nullptr, "there is no kernel ", one.kernel);
  const at::ScalarType type = one.storage == "bf16" ? at::kBFloat16 : one.storage == "fp16" ? at::kHalf : at::kFloat;
  at::manual_seed(1);
  kernels::KernelForms forms = found->forms(one.shape, found->inputs(one.shape, {.type = type, .device = device}));
  if (!forms.work)
    forms.work = [kernel, shape = one.shape, type](const std::string& pass) {
      return kernels::work_of(*kernel, shape, pass, type);
    };
  return forms;
}

BenchRun::BenchRun(const record::Params& params, const RunSetting& setting, std::vector<BenchCase> cases)
    : device_(setting.place.device),
      kind_(setting.place.target),
      cancel_(setting.cancel),
      memory_(setting.memory),
      quick_(params.on("quick")),
      threads_before_(at::get_num_threads()),
      clock_(device_),
      cases_(std::move(cases)) {
  if (params.text("cores") == "all")
    at::set_num_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

BenchRun::~BenchRun() { at::set_num_threads(threads_before_); }

int BenchRun::marks_per_step() const { return static_cast<int>(kBenchPassNames.size()) + 2; }

BenchPatience BenchRun::patience(std::size_t forms) const {
  const auto each = static_cast<double>(forms);
  if (quick_) return {.least = 5, .most = 20, .seconds = 0.1 * each};
  return {.least = 10, .most = 100, .seconds = (clock_.gpu() ? 0.1 : 0.5) * each};
}

Measurement BenchRun::row(const BenchCase& one, const std::string& variant, const std::string& pass,
                          const std::string& timing, const BenchTime& time) const {
  return {.panel = one.panel,
          .kernel = one.kernel,
          .variant = variant,
          .pass = pass,
          .timing = timing,
          .storage = one.storage,
          .label = one.label,
          .rows = one.shape.rows,
          .width = one.shape.width,
          .vocab = one.shape.vocab,
          .median = time.median,
          .low = time.low,
          .high = time.high,
          .samples = time.samples};
}

StepResult BenchRun::step(int index) {
  rows_.clear();
  record::mark_step(index);
  bool whole = false;
  if (index == 0) {
    whole = measure_copy();
  } else {
    const BenchCase& one = cases_[static_cast<std::size_t>(index - 1)];
    try {
      whole = measure(one);
    } catch (const c10::OutOfMemoryError&) {
      rows_.push_back(row(one, "", "", clock_.main_timing(), {}));
      whole = true;
    }
  }
  clock_.wait();
  clock_.release();
  record::mark_step(-1);
  return whole ? StepResult::kDone : StepResult::kCancelled;
}

StepReport BenchRun::report() { return {.loss = {}, .tokens = {}, .measurements = std::move(rows_)}; }

bool BenchRun::measure_copy() {
  const Bytes bytes = 2 * (clock_.gpu() ? kLargeCopy : kLargeCopyCpu);
  const BenchCall copy = copy_of(bytes, device_);
  copy();
  const std::array samplers{clock_.main(copy)};
  const auto times = time_in_turns(samplers, patience(1), [this] { return is_set(cancel_); });
  if (!times) return false;
  const BenchCase one{
      .panel = Measurement::kCopy, .kernel = "", .storage = "", .label = {}, .shape = {.rows = 1, .width = bytes / 2}};
  rows_.push_back(row(one, "copy", "forward", clock_.main_timing(), times->front()));
  rows_.back().bytes = bytes;
  return true;
}

void BenchRun::measure_errors(const BenchCase& one) {
  errors_.clear();
  if (one.shape.hidden > 0) return;  // the error of a whole MLP is that of its GEMMs
  BenchCase small = one;
  small.shape.rows = std::min(one.shape.rows, kErrorRows);
  if (kernels::find_kernel(one.kernel)->bench.of_weights) small.shape.width = std::min(one.shape.width, kErrorWidth);
  const kernels::KernelForms all = bench_forms(small, device_);
  for (const char* pass : kBenchPassNames) {
    kernels::Tensors exact;
    for (const kernels::KernelForm& form : all.forms) {
      if (form.pass != pass || form.variant == "matmul") continue;
      if (exact.empty()) exact = all.exact(pass);
      errors_[{form.variant, pass}] = kernels::relative_error(form.call(), exact);
    }
  }
}

bool BenchRun::measure(const BenchCase& one) {
  measure_errors(one);
  clock_.release();
  kernels::KernelForms all = bench_forms(one, device_);
  for (const char* pass : kBenchPassNames) {
    record::mark(std::string_view(pass) == "backward" ? record::Phase::kBackward : record::Phase::kForward);
    if (is_set(cancel_) || !measure_pass(one, all, pass)) return false;
    std::erase_if(all.forms, [&](const kernels::KernelForm& form) { return form.pass == pass; });
  }
  return true;
}

bool BenchRun::measure_pass(const BenchCase& one, const kernels::KernelForms& all, const std::string& pass) {
  // With a forward pass, the backward pass's count would include tensors saved by the forward pass.
  const bool has_forward = kernels::find_kernel(one.kernel)->bytes(one.shape, kernels::Pass::kForward, 1) > 0;
  const bool counts_memory = memory_ != nullptr && (pass != "backward" || !has_forward);
  std::vector<Timed> forms;
  for (const kernels::KernelForm& each : all.forms) {
    if (each.pass != pass) continue;
    try {
      Timed form{.form = &each, .call = [&each] { (void)each.call(); }};
      form.call();  // pays one-time costs: workspaces, algorithms, autograd's graph
      clock_.wait();
      if (counts_memory && each.variant != "matmul") {
        memory_->reset();
        const Bytes before = memory_->allocated();
        form.call();
        form.extra_memory = memory_->peak() - before - each.not_counted;
      }
      forms.push_back(std::move(form));
    } catch (const c10::OutOfMemoryError&) {
      rows_.push_back(row(one, each.variant, pass, clock_.main_timing(), {}));
    }
    clock_.release();
  }
  if (forms.empty()) return true;
  const kernels::PassWork work = all.work(pass);
  if (all.of_memory) forms.push_back({.form = nullptr, .call = copy_of(work.bytes, device_)});

  const auto stop = [this] { return is_set(cancel_); };
  const auto measure_by = [&](const char* timing, auto&& sampler_of) {
    std::vector<BenchSampler> samplers;
    std::vector<const Timed*> timed;
    for (const Timed& form : forms) {
      std::optional<BenchSampler> sampler = sampler_of(form);
      if (!sampler) continue;
      samplers.push_back(std::move(*sampler));
      timed.push_back(&form);
    }
    const auto times = time_in_turns(samplers, patience(samplers.size()), stop);
    if (!times) return false;
    for (std::size_t i = 0; i < timed.size(); ++i) {
      const Timed& form = *timed[i];
      const std::string variant = form.form == nullptr ? "copy" : form.form->variant;
      Measurement& made = rows_.emplace_back(row(one, variant, pass, timing, (*times)[i]));
      made.bytes = work.bytes;
      if (form.form == nullptr) continue;
      made.flops = work.flops;
      made.extra_memory = form.extra_memory;
      if (const auto error = errors_.find({variant, pass}); error != errors_.end()) made.error = error->second;
    }
    return true;
  };
  if (!clock_.gpu())
    return measure_by("wall", [&](const Timed& form) { return std::optional(clock_.wall(form.call)); });
  if (!measure_by("cold", [&](const Timed& form) { return std::optional(clock_.cold(form.call)); })) return false;
  if (one.of_report()) return true;  // the report has one time per point
  const auto none = std::optional<BenchSampler>();
  if (!measure_by("wall", [&](const Timed& form) {
        return form.form == nullptr ? none : std::optional(clock_.wall(form.call));
      }))
    return false;
  return !all.graphs ||
         measure_by("graph", [&](const Timed& form) { return form.form == nullptr ? none : clock_.graph(form.call); });
}

namespace {

record::Result<std::unique_ptr<DemoRun>> make_bench(const record::Params& params, const RunSetting& setting) {
  if (setting.place.device.is_meta()) {
    return record::Error{"bench measures time, which cannot be predicted: run it.", record::ErrorKind::kRefused};
  }
  std::vector<BenchCase> cases = bench_plan(params, setting.place.target);
  if (cases.empty()) {
    return record::Error{"The report has no panel for " + params.text("kernel") + ", or none for this device.",
                         record::ErrorKind::kRefused};
  }
  return std::unique_ptr<DemoRun>(std::make_unique<BenchRun>(params, setting, std::move(cases)));
}

}  // namespace

extern const DemoRunner kBenchRunner;
constinit const DemoRunner kBenchRunner = {.id = "bench", .read = &read_simply<make_bench>};

}  // namespace headroom::experiments
