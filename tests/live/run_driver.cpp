#include "tests/live/run_driver.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

#include <unistd.h>

#include "demos/engine/live/run/device_facts.h"
#include "tests/support/catch.h"

namespace headroom::tests {

live::EventSink& sink() {
  static auto& sink = *new live::EventSink;
  return sink;
}

live::CpuProbe& cpu_probe() {
  static live::CpuProbe& probe = live::CpuProbe::install(sink());
  return probe;
}

live::MetaProbe& meta_probe() {
  static live::MetaProbe& probe = live::MetaProbe::install(sink());
  return probe;
}

std::filesystem::path text_to_train_on() {
  struct TextFile {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("headroom_text_" + std::to_string(getpid()) + ".txt");
    TextFile() {
      std::ofstream text(path);
      for (int i = 0; i < 200; ++i) text << "Line " << i << ": where does the memory of a training step go?\n";
    }
    ~TextFile() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  };
  static const TextFile file;
  return file.path;
}

RunDriver::RunDriver(live::EngineRole role, bool look_for_gpu) : RunDriver(live::machine_facts(look_for_gpu), role) {}

RunDriver::RunDriver(live::MachineFacts machine, live::EngineRole role)
    : worker_(role, {.cpu = &cpu_probe(), .meta = role == live::EngineRole::kPlanner ? &meta_probe() : nullptr}, sink(),
              feed_, std::move(machine), {text_to_train_on()}) {}

DrivenRun RunDriver::run(const SettingMap& params, bool record,
                         const std::function<void(const record::Recording&)>& watch, const std::string& demo) {
  DrivenRun driven;
  record::Recording& recording = driven.recording;
  REQUIRE(worker_.submit({.run = ++run_, .demo = demo, .params = params, .record = record}).taken);
  std::vector<record::MemEvent> events;
  while (true) {
    const live::RunNews news = feed_.take();
    if (news.info) recording.set_info(*news.info);
    events.clear();
    sink().ring().drain(events, sink().ring().capacity());
    recording.append(events);
    record::for_each_row_kind(
        [&](const auto& kind) { recording.append(news.rows.of<record::RowOf<decltype(kind)>>()); });
    recording.append_device_times(news.device_times);
    if (watch) watch(recording);
    if (news.outcome) {
      recording.set_outcome(*news.outcome);
      driven.dropped = sink().ring().dropped();
      feed_.finish_taken();
      return driven;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace headroom::tests
