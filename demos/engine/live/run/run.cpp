// Trains, and turns the run's end into an outcome.
#include "demos/engine/live/run/run.h"

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <string>
#include <utility>

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/live/probes/host_probe.h"
#include "demos/engine/live/run/collective_log.h"
#include "demos/engine/live/run/progress_meter.h"
#include "demos/engine/live/run/run_errors.h"
#include "demos/engine/live/run/run_plan.h"
#include "demos/engine/live/run/sampler.h"
#include "demos/engine/live/trace/operator_trace.h"
#include "demos/record/scope.h"
#include "headroom_build.h"

namespace headroom::live {

using experiments::DemoRun;
using experiments::StepReport;
using experiments::StepResult;
using record::Bytes;
using record::DeviceKind;
using record::MetricKind;
using record::OutcomeKind;

namespace {

// How training ended, in plain values: an exception would keep tensors alive.
struct RunEnd {
  OutcomeKind kind = OutcomeKind::kCompleted;
  std::string message;
  std::map<std::string, std::string> found = {};  // provenance
};

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

// Traces the device or the CPU until destruction; reports per step.
class Tracing {
 public:
  Tracing(const RunContext& context, const Traces& traces)
      : context_(context), kernels_(traces.kernels ? context.machine.kernel_trace() : nullptr) {
    if (!traces.any()) return;
    if (kernels_ != nullptr) kernels_->begin(context_.sink.now());
    operators_.emplace(kernels_, [this] { return context_.sink.now(); });
  }
  ~Tracing() {
    if (kernels_ != nullptr) kernels_->end();
  }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;

  bool on() const { return operators_.has_value(); }
  void set_step(std::int32_t step) {
    if (kernels_ != nullptr) kernels_->set_step(step);
    if (operators_) operators_->set_step(step);
  }
  // The device must be idle.
  void tell() {
    if (kernels_ != nullptr) {
      context_.feed.add(kernels_->collect());
      context_.feed.add_dropped(kernels_->take_dropped());
    }
    if (operators_) context_.feed.add(operators_->collect());
  }

 private:
  const RunContext& context_;
  KernelTrace* kernels_;
  std::optional<OperatorTrace> operators_;
};

class Listener final : public record::ScopeListener {
 public:
  Listener(const RunContext& context, bool recorded, Probe& probe, DeviceClock* clock, Tracing& tracing)
      : context_(context), recorded_(recorded), probe_(probe), host_(context.sink), clock_(clock), tracing_(tracing) {}

  void on_mark(const record::Tag& tag, std::int32_t step) override {
    context_.beats.fetch_add(1, std::memory_order_relaxed);
    tracing_.set_step(step);
    if (progress_ != nullptr) {
      progress_->on_mark();
      context_.feed.add(progress_->at(context_.sink.now()));
    }
    if (!recorded_) return;
    record::Mark mark = context_.sink.mark(tag, step);
    const bool timed = clock_ != nullptr && !DeviceClock::stream_is_recorded();
    if (!timed) mark.device_time = mark.host_time;
    context_.feed.add(mark);
    if (timed) clock_->record(mark.host_time);
  }
  void on_relabel(const void* data, record::Category category) override {
    if (recorded_) probe_.relabel(data, category);
  }
  void on_host_alloc(const void* block, Bytes bytes) override {
    host_.born(block, bytes);
    context_.machine.keeps_on_host(host_.live());
  }
  void on_host_free(const void* block) override {
    host_.died(block);
    context_.machine.keeps_on_host(host_.live());
  }
  void follow(ProgressMeter* progress) { progress_ = progress; }

 private:
  const RunContext& context_;
  const bool recorded_;
  Probe& probe_;
  HostProbe host_;
  DeviceClock* clock_;
  Tracing& tracing_;
  ProgressMeter* progress_ = nullptr;  // null while the model is built
};

// Installs all listeners until destruction.
class Instruments {
 public:
  Instruments(const RunContext& context, const RunPlan& plan)
      : context_(context),
        probe_(context.machine.probe(plan.kind())),
        allocator_(context.machine, plan.kind(), plan.cap, plan.expandable_segments),
        opened_(open(context.sink, plan.recorded)),
        tracing_(context, traces_of(plan, context.machine)),
        listener_(context, plan.recorded, probe_, clock_of(context, plan), tracing_) {
    record::mark_step(-1);  // resets what an aborted run left
    if (plan.recorded) {
      probe_.start();
      if (DeviceClock* clock = clock_of(context, plan)) {
        clock->restart();
        sampler_.emplace(*clock, context.machine.driver(), context.sink, context.feed);
      }
    }
    record::set_scope_listener(&listener_);
  }
  ~Instruments() {
    stop_events();
    record::set_scope_listener(nullptr);
  }
  Instruments(const Instruments&) = delete;
  Instruments& operator=(const Instruments&) = delete;

  Listener& listener() { return listener_; }
  Tracing& tracing() { return tracing_; }
  // Ends the events: later frees belong to the teardown.
  void stop_events() {
    probe_.stop();
    context_.sink.close();
    report_placements();
  }
  void report_placements() { context_.feed.add(probe_.take_placements()); }

 private:
  static bool open(EventSink& sink, bool recorded) {
    sink.open(recorded);
    return true;
  }
  static DeviceClock* clock_of(const RunContext& context, const RunPlan& plan) {
    const bool on_gpu = plan.kind() == DeviceKind::kGpu && !context.machine.planner();
    return on_gpu && plan.recorded ? context.machine.clock() : nullptr;
  }

  const RunContext& context_;
  Probe& probe_;
  Machine::AllocatorGuard allocator_;
  bool opened_;
  Tracing tracing_;
  Listener listener_;
  std::optional<Sampler> sampler_;
};

void report_step(const RunContext& context, DemoRun& run, int index, record::Nanoseconds begun, Tracing& tracing) {
  const StepReport report = run.report();  // waits for the device
  const record::Nanoseconds now = context.sink.now(), taken = now - begun - report.evaluation_time;
  const auto add = [&](MetricKind kind, double value) {
    context.feed.add(record::MetricSample{.time = now, .value = value, .step = index, .kind = kind});
  };
  if (report.loss) add(MetricKind::kLoss, *report.loss);
  if (report.loss_scale) add(MetricKind::kLossScale, *report.loss_scale);
  if (report.skipped_steps) add(MetricKind::kSkippedSteps, static_cast<double>(*report.skipped_steps));
  if (report.evaluation_loss) add(MetricKind::kEvaluationLoss, *report.evaluation_loss);
  if (!tracing.on()) {
    add(MetricKind::kStepNanoseconds, static_cast<double>(taken));
    if (report.tokens)
      add(MetricKind::kTokensPerSecond, static_cast<double>(*report.tokens) * 1e9 / static_cast<double>(taken));
  }
  tracing.tell();
  context.feed.add(report.measurements);
  context.feed.add(report.histograms);
  if (report.kernel_report) context.feed.add(*report.kernel_report);
}

class MachineMeter final : public experiments::MemoryMeter {
 public:
  MachineMeter(Machine& machine, DeviceKind kind) : machine_(machine), kind_(kind) {}
  Bytes allocated() const override { return machine_.live_bytes(kind_); }
  Bytes peak() const override { return machine_.peak_bytes(kind_); }
  void reset() override { machine_.reset_peak(kind_); }

 private:
  Machine& machine_;
  DeviceKind kind_;
};

c10::Device torch_device(const RunPlan& plan, const Machine& machine) {
  if (machine.planner()) return c10::Device(c10::kMeta);
  return plan.kind() == DeviceKind::kGpu ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
}

// The settings and the build that all ranks must share.
std::map<std::string, std::string> alike_of(const RunPlan& plan) {
  std::map<std::string, std::string> all = plan.params.to_map();
  all.erase("cap");  // each rank has a card of its own
  all["revision"] = build::revision();
  return all;
}

experiments::RunSetting setting_of(const RunPlan& plan, const RunContext& context) {
  return {.place = {.device = torch_device(plan, context.machine), .target = plan.kind()},
          .course_text = context.course_text,
          .cancel = &context.cancel,
          .rank = context.machine.facts().rank,
          .alike = alike_of(plan),
          .collective_begins = [&context] { context.collectives.fetch_add(1, std::memory_order_relaxed); }};
}

// Frees all the demo's tensors before returning.
RunEnd train(const RunPlan& plan, experiments::DemoRequest& request, const RunContext& context,
             Instruments& instruments, record::RunInfo& info) {
  MachineMeter meter(context.machine, plan.kind());
  experiments::RunSetting setting = setting_of(plan, context);
  setting.host_memory = context.machine.host_memory();
  if (!context.machine.planner()) setting.memory = &meter;
  setting.doing = [&](std::string now) { context.feed.add(protocol::Progress{.doing = std::move(now)}); };
  setting.clock_differs = [&](record::Nanoseconds ahead) {
    info.clock_start += ahead;
    context.feed.add(info);
  };
  CollectiveLog collectives(context.sink, context.feed, context.machine.clock());
  if (plan.recorded)
    setting.collective_issued = [&](llama::IssuedCollective issued) { collectives.add(std::move(issued)); };
  auto created = request.make(setting);
  if (!created && context.cancel) return {OutcomeKind::kCancelled, ""};
  if (!created) return {OutcomeKind::kRefused, created.error().message};
  DemoRun& run = *created.value();
  const int steps = context.machine.planner() ? std::min(run.steps(), run.distinct_steps()) : run.steps();
  ProgressMeter progress(steps, run.marks_per_step());
  instruments.listener().follow(&progress);
  for (int index = 0; index < steps; ++index) {
    const record::Nanoseconds begun = context.sink.now();
    progress.begin_step(index, begun);
    collectives.set_step(index);
    if (context.cancel || run.step(index) == StepResult::kCancelled) {
      instruments.stop_events();
      return {OutcomeKind::kCancelled, ""};
    }
    if (!context.machine.planner()) report_step(context, run, index, begun, instruments.tracing());
    collectives.report();
    instruments.report_placements();
    progress.end_step(context.sink.now());
  }
  instruments.stop_events();
  if (!context.machine.planner())
    if (const record::Status finished = run.finish(); !finished)
      return {OutcomeKind::kFailed, finished.error().message, run.found()};
  return {OutcomeKind::kCompleted, run.note(), run.found()};
}

// "lm_head in layer 3 (forward)", or "The run (setup)" without an operator.
std::string who_asked(const record::Tag& tag) {
  const std::string_view op = record::operator_name(tag.op);
  std::string who(op.empty() ? "The run" : op);
  if (tag.layer != record::kNoLayer) who += fmt::format(" in layer {}", tag.layer);
  return who + fmt::format(" ({})", record::label_of(tag.phase));
}

// Names the limit that refused the request: the words before "24.0 GiB.".
const char* limit_named(const Refused& refused, DeviceKind kind) {
  if (refused.segment == 0) return "the cap is";
  return kind == DeviceKind::kGpu ? "the device has" : "this machine had";
}

record::Outcome out_of_memory(const Refused& refused, const RunPlan& plan) {
  const Bytes limit = refused.limit != 0 ? refused.limit : plan.device->memory;
  record::Outcome outcome{.kind = OutcomeKind::kOutOfMemory, .message = {}, .out_of_memory = {}};
  outcome.out_of_memory = record::OutOfMemoryFacts{.requested = refused.requested,
                                                   .allocated = refused.allocated,
                                                   .reserved = refused.reserved,
                                                   .limit = limit,
                                                   .op = std::string(record::operator_name(refused.tag.op)),
                                                   .phase = refused.tag.phase,
                                                   .layer = refused.tag.layer,
                                                   .by_category = refused.by_category};
  outcome.message = fmt::format("{} requested {} more while {} were in use; {} {}.", who_asked(refused.tag),
                                record::format_bytes(refused.requested), record::format_bytes(refused.allocated),
                                limit_named(refused, plan.kind()), record::format_bytes(limit));
  return outcome;
}

RunEnd train_and_catch(const RunPlan& plan, experiments::DemoRequest& request, const RunContext& context,
                       Instruments& instruments, record::RunInfo& info) {
  try {
    return train(plan, request, context, instruments, info);
  } catch (const c10::Error& error) {
    return {is_out_of_memory(error) ? OutcomeKind::kOutOfMemory : OutcomeKind::kFailed,
            first_line(error.what_without_backtrace())};
  } catch (const std::bad_alloc&) {
    return {OutcomeKind::kFailed, "This machine (not its GPU) ran out of memory."};
  } catch (const std::exception& error) {
    return {OutcomeKind::kFailed, first_line(error.what())};
  }
}

RunResult refused(std::string message) {
  return {.outcome = {.kind = OutcomeKind::kRefused, .message = std::move(message), .out_of_memory = {}}, .retire = {}};
}

RunResult failed(std::string message, int exit_code) {
  return {.outcome = {.kind = OutcomeKind::kFailed, .message = std::move(message), .out_of_memory = {}},
          .retire = exit_code};
}

record::Status prepare(experiments::DemoRequest& request, const RunPlan& plan, const RunContext& context,
                       record::RunInfo& info) {
  auto prepared = request.prepare(setting_of(plan, context));
  if (!prepared) return prepared.error();
  info.provenance.merge(std::move(prepared).value());
  context.feed.add(info);
  return record::Ok{};
}

}  // namespace

RunResult run_demo(const protocol::StartRun& start, const RunContext& context) {
  Machine& machine = context.machine;
  const record::Result<RunPlan> understood = understand(start, machine);
  if (!understood) return refused(understood.error().message);
  const RunPlan& plan = understood.value();
  const bool on_gpu = plan.kind() == DeviceKind::kGpu && !machine.planner();
  context.computes = !on_gpu;
  machine.share_host(plan.ranks_here(machine));
  record::RunInfo info = info_of(start, plan, machine);
  const auto read = plan.runner->read(plan.params);
  if (read) info.provenance.merge(read.value()->facts(setting_of(plan, context)));
  context.feed.add(info);
  if (!read) return refused(read.error().message);
  experiments::DemoRequest& request = *read.value();
  context.feed.add(
      protocol::Progress{.doing = on_gpu ? "starting the GPU and building the model" : "building the model"});

  RunEnd end;
  Bytes before = 0;
  bool device_answers = false;
  try {
    if (on_gpu) {
      machine.start_cuda();
      if (const record::Status prepared = prepare(request, plan, context, info); !prepared)
        return refused(prepared.error().message);
    }
    before = machine.live_bytes(plan.kind());
    Instruments instruments(context, plan);
    info.clock_start = context.sink.clock_start();
    context.feed.add(info);
    end = train_and_catch(plan, request, context, instruments, info);
    // The listeners must still exist, for the device times of the last marks.
    device_answers = machine.clean_up(plan.kind());
  } catch (const std::exception& error) {
    return failed(fmt::format("The {} could not be prepared: {}", on_gpu ? "GPU" : "run", first_line(error.what())),
                  kLostContext);
  }
  if (!end.found.empty()) {
    info.provenance.merge(std::move(end.found));
    context.feed.add(info);
  }
  if (!device_answers) return failed(fmt::format("The GPU no longer answers: {}", end.message), kLostContext);

  RunResult result{.outcome = {.kind = end.kind, .message = end.message, .out_of_memory = {}}, .retire = {}};
  if (end.kind == OutcomeKind::kOutOfMemory) {
    if (const auto refusal = context.sink.first_refusal()) result.outcome = out_of_memory(*refusal, plan);
  }
  // A first CPU run may leave small tables of LibTorch; a GPU run must free every byte.
  if (on_gpu && machine.live_bytes(plan.kind()) != before) result.retire = kMemoryNotBack;
  return result;
}

}  // namespace headroom::live
