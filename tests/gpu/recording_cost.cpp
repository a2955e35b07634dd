// Measures the cost of recording: one model's steps alternate between no recording, the probe, and the probe with
// device marks. A background thread drains and encodes like the engine's link. Prints a Markdown table; exits with 77
// without a GPU.
//
//   recording_cost [ROUNDS [SETTING…]]
//
// A launcher may start it as several ranks (`torchrun --no-python recording_cost 60 ranks=4 zero=3`). All ranks change
// what they record at the same steps, and the first one prints. The two CUDA events per collective, which give its
// times, are recorded in every mode.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <c10/core/AutogradState.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/engine/live/probes/cuda_probe.h"
#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/collective_log.h"
#include "demos/engine/live/run/device_facts.h"
#include "demos/engine/live/run/sampler.h"
#include "demos/engine/live/trace/device_clock.h"
#include "demos/experiments/demo.h"
#include "demos/protocol/launchers.h"
#include "demos/record/quantile.h"
#include "demos/record/recording.h"
#include "demos/record/scope.h"

namespace {

using namespace headroom;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

enum Mode { kNothing, kProbe, kProbeAndMarks, kModes };
constexpr std::array<const char*, kModes> kModeNames{"nothing", "probe", "probe, device marks, counters"};

class Listener final : public record::ScopeListener {
 public:
  Listener(live::EventSink& sink, live::RunFeed& feed, live::DeviceClock& clock)
      : sink_(sink), feed_(feed), clock_(clock) {}

  void on_mark(const record::Tag& tag, std::int32_t step) override {
    if (mode == kNothing) return;
    const record::Mark mark = sink_.mark(tag, step);
    if (mode == kProbe) return;
    feed_.add(mark);
    clock_.record(mark.host_time);
    ++marks;
  }
  void on_relabel(const void* data, record::Category category) override {
    if (mode != kNothing && probe != nullptr) probe->relabel(data, category);
  }

  Mode mode = kNothing;
  live::CudaProbe* probe = nullptr;
  int marks = 0;

 private:
  live::EventSink& sink_;
  live::RunFeed& feed_;
  live::DeviceClock& clock_;
};

// Called every 30 ms.
std::uint64_t drain(live::EventSink& sink, live::RunFeed& feed, std::vector<record::MemEvent>& events) {
  const live::RunNews news = feed.take();
  events.clear();
  sink.ring().drain(events, 65'536);
  std::uint64_t bytes = 0;
  if (!events.empty()) bytes += record::encode_rows(events).size();
  const std::vector<record::Mark>& marks = news.rows.of<record::Mark>();
  if (!marks.empty()) bytes += record::encode_rows(marks).size();
  if (!news.device_times.empty()) bytes += record::encode_device_times(news.device_times).size();
  return bytes;
}

std::filesystem::path some_text() {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("headroom_cost_{}.txt", getpid());
  std::ofstream(path) << "What does it cost to look at every allocation of a training step?\n";
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  if (c10::cuda::device_count() == 0) {
    std::puts("no CUDA device: skipped");
    return 77;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 60;
  const auto launch = protocol::read_launch(protocol::environment_variable);
  if (!launch) {
    std::puts(launch.error().message.c_str());
    return 2;
  }
  std::optional<protocol::RankPlace> rank;
  if (launch.value()) rank = launch.value()->place;
  const auto device = static_cast<c10::DeviceIndex>(rank ? rank->local_rank.value_or(rank->rank) : 0);
  c10::cuda::set_device(device);
  record::become_worker_thread();
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  live::EventSink sink;
  live::RunFeed feed;
  live::CudaProbe& probe = live::CudaProbe::install(sink, device);
  const auto listening = live::cuda_allocator::listen_on_this_thread(probe);
  live::DeviceClock clock;
  Listener listener(sink, feed, clock);
  listener.probe = &probe;
  std::optional<nvml::Driver> driver = nvml::Driver::open();
  if (driver && !driver->select(static_cast<unsigned>(device))) driver.reset();

  record::Params params(experiments::find_demo("train_step")->schema);
  std::vector<std::string> settings{"model=llama-3.2-1b", "precision=bf16", "batch=4", "seq=1024"};
  if (argc > 2) settings.insert(settings.end(), argv + 2, argv + argc);
  for (const std::string& setting : settings) {
    const record::Status set = params.set_assignment(setting);
    if (set) continue;
    std::puts(set.error().message.c_str());
    return 2;
  }
  live::CollectiveLog collectives(sink, feed, &clock);
  const auto text = some_text();
  auto created = experiments::TrainStepRun::create(
      params, {.place = {.device = c10::Device(c10::kCUDA, device), .target = record::DeviceKind::kGpu},
               .course_text = text,
               .rank = rank,
               .collective_issued = [&](llama::IssuedCollective issued) {
                 if (listener.mode == kProbeAndMarks) collectives.add(std::move(issued));
               }});
  if (!created) {
    std::puts(created.error().message.c_str());
    return 1;
  }
  experiments::TrainStepRun& run = *created.value();
  record::set_scope_listener(&listener);

  std::atomic<std::uint64_t> encoded{0};
  const std::jthread drainer([&](const std::stop_token& stop) {
    std::vector<record::MemEvent> events;
    while (!stop.stop_requested()) {
      encoded += drain(sink, feed, events);
      std::this_thread::sleep_for(30ms);
    }
  });

  std::array<std::vector<double>, kModes> step_ms, issue_ms;
  int step = 0;
  for (; step < 10; ++step) run.step(step);
  for (int round = 0; round < rounds; ++round) {
    for (int turn = 0; turn < kModes; ++turn) {
      const Mode mode = static_cast<Mode>((turn + round) % kModes);  // rotates the order of modes
      std::optional<live::Sampler> sampler;
      if (mode != kNothing) {
        sink.open(true);
        probe.start();
      }
      if (mode == kProbeAndMarks) {
        clock.restart();
        sampler.emplace(clock, driver ? &*driver : nullptr, sink, feed);
      }
      listener.mode = mode;
      c10::cuda::device_synchronize();
      const auto begun = Clock::now();
      run.step(step++);
      const auto issued = Clock::now();
      c10::cuda::device_synchronize();
      const auto done = Clock::now();
      collectives.report();
      listener.mode = kNothing;
      probe.stop();
      sink.close();
      while (sink.ring().waiting() != 0) std::this_thread::sleep_for(1ms);
      step_ms[mode].push_back(std::chrono::duration<double, std::milli>(done - begun).count());
      issue_ms[mode].push_back(std::chrono::duration<double, std::milli>(issued - begun).count());
    }
  }
  record::set_scope_listener(nullptr);
  std::error_code ignored;
  std::filesystem::remove(text, ignored);
  const bool complete = sink.ring().dropped() == 0;
  if (rank && rank->rank != 0) return complete ? 0 : 1;

  const live::MachineFacts machine = live::machine_facts(true);
  fmt::print(
      "train_step {} on {} (driver {}, CUDA {}, LibTorch {}), revision {}.\n"
      "{} steps of each kind in turn in one process; median and 20 % … 80 %.\n\n",
      fmt::join(settings, " "), machine.devices.back().name, machine.facts.at("driver"), machine.facts.at("cuda"),
      machine.facts.at("torch"), machine.facts.at("revision"), rounds);
  fmt::print("| recording | step, ms | host issues it in, ms | step against nothing |\n|---|---|---|---|\n");
  const double base = record::quantiles_of(step_ms[kNothing]).median;
  for (int mode = 0; mode < kModes; ++mode) {
    const record::Quantiles whole = record::quantiles_of(step_ms[mode]), issue = record::quantiles_of(issue_ms[mode]);
    fmt::print("| {} | {:.2f} ({:.2f} … {:.2f}) | {:.2f} ({:.2f} … {:.2f}) | {:+.2f} % ({:+.3f} ms) |\n",
               kModeNames[mode], whole.median, whole.low, whole.high, issue.median, issue.low, issue.high,
               100 * (whole.median / base - 1), whole.median - base);
  }
  fmt::print(
      "\nMarks a step: {}. Device marks and counters alone: {:+.3f} ms per step. Events dropped: {}. Encoded: {} "
      "bytes.\n",
      listener.marks / rounds,
      record::quantiles_of(step_ms[kProbeAndMarks]).median - record::quantiles_of(step_ms[kProbe]).median,
      sink.ring().dropped(), encoded.load());
  return complete ? 0 : 1;
}
