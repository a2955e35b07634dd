// Collects device times and counters.
#include "demos/engine/live/run/sampler.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include <unistd.h>

namespace headroom::live {

using namespace std::chrono_literals;

namespace {

constexpr auto kCollectEvery = 10ms;  // live curves end at the last finished mark
constexpr int kCountEvery = 10;       // in units of kCollectEvery; NVML updates about ten times per second

}  // namespace

Sampler::Sampler(DeviceClock& clock, nvml::Driver* driver, const EventSink& sink, RunFeed& feed)
    : clock_(clock), driver_(driver), sink_(sink), feed_(feed), thread_([this](const std::stop_token& stop) {
        work(stop);
      }) {}

Sampler::~Sampler() {
  thread_.request_stop();
  thread_.join();
  collect();
  count();
}

void Sampler::work(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any alarm;
  std::unique_lock guard(mutex);
  for (int turn = 0; !stop.stop_requested(); ++turn) {
    collect();
    if (turn % kCountEvery == 0) count();
    alarm.wait_for(guard, stop, kCollectEvery, [] { return false; });
  }
}

void Sampler::collect() {
  std::vector<record::Nanoseconds> times;
  clock_.collect(times);
  if (!times.empty()) feed_.add(times);
}

void Sampler::count() {
  if (driver_ == nullptr) return;
  const record::Nanoseconds now = sink_.now();
  const auto add = [&](record::CounterKind kind, auto value) {
    if (value) feed_.add(record::CounterSample{.time = now, .value = static_cast<std::int64_t>(*value), .kind = kind});
  };
  add(record::CounterKind::kProcessBytes, driver_->process_bytes(static_cast<std::uint32_t>(getpid())));
  if (const auto memory = driver_->memory()) {
    feed_.add(record::CounterSample{.time = now, .value = memory->used, .kind = record::CounterKind::kDeviceUsedBytes});
  }
  add(record::CounterKind::kUtilisationPercent, driver_->utilisation_percent());
  add(record::CounterKind::kPowerMilliwatts, driver_->power_milliwatts());
}

}  // namespace headroom::live
