// Runs demos in this process: the worker's output becomes a Recording.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>

#include "demos/engine/live/probes/cpu_probe.h"
#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/run/run_feed.h"
#include "demos/engine/live/run/worker.h"
#include "demos/record/recording.h"

namespace headroom::tests {

using SettingMap = std::map<std::string, std::string>;

// The first call of each function installs what it returns.
live::EventSink& sink();
live::CpuProbe& cpu_probe();
live::MetaProbe& meta_probe();

std::filesystem::path text_to_train_on();

struct DrivenRun {
  record::Recording recording;
  std::uint64_t dropped = 0;
  const record::Outcome& outcome() const { return *recording.outcome(); }
};

class RunDriver {
 public:
  explicit RunDriver(live::EngineRole role = live::EngineRole::kRunner, bool look_for_gpu = false);
  explicit RunDriver(live::MachineFacts machine, live::EngineRole role = live::EngineRole::kRunner);

  // Calls `watch` every few milliseconds with the recording so far.
  DrivenRun run(const SettingMap& params, bool record = true,
                const std::function<void(const record::Recording&)>& watch = {},
                const std::string& demo = "train_step");
  live::Worker& worker() { return worker_; }
  std::uint64_t last_run() const { return run_; }

 private:
  live::RunFeed feed_;
  live::Worker worker_;
  std::uint64_t run_ = 0;
};

}  // namespace headroom::tests
