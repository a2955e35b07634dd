// Labels a recording.
#include "app/page/run_on_show.h"

#include <array>
#include <cstdint>
#include <ctime>
#include <utility>

#include "app/page/comparison.h"
#include "lessons/wording.h"

namespace headroom::app::page {

namespace {

std::string device_of(const record::RunInfo& info) {
  constexpr std::string_view kMaker = "NVIDIA ";
  const auto gpu = info.provenance.find("gpu");
  if (info.device == record::DeviceKind::kCpu) return "CPU";
  if (gpu == info.provenance.end()) return "GPU";
  return gpu->second.starts_with(kMaker) ? gpu->second.substr(kMaker.size()) : gpu->second;
}

// "you, 12:04", or "you, 23 Nov" on another day, from "2026-11-23T11:04:31Z".
std::string made_at(const record::RunInfo& info) {
  std::tm utc{};
  const auto created = info.provenance.find("created");
  if (created == info.provenance.end() || strptime(created->second.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr)
    return "you";
  const std::time_t then = timegm(&utc), now = std::time(nullptr);
  std::tm there{}, here{};
  localtime_r(&then, &there);
  localtime_r(&now, &here);
  const bool today = there.tm_year == here.tm_year && there.tm_yday == here.tm_yday;
  std::array<char, 16> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), today ? "%H:%M" : "%d %b", &there);
  return "you, " + std::string(text.data(), length);
}

}  // namespace

RunOnShow make_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from, bool names_sweep) {
  RunOnShow run;
  run.from = from;
  run.ledger = std::make_shared<record::Ledger>(*recording);
  run.ledger->update();
  run.recording = std::move(recording);
  const record::Recording& recorded = *run.recording;
  run.label = lessons::settings_line(recorded.info());
  run.where = run.is_readers() ? made_at(recorded.info()) : device_of(recorded.info());
  const bool sweep = !recorded.sweep_points().empty();
  const std::string techniques = sweep ? std::string() : techniques_of(recorded.info());
  if (!techniques.empty()) run.label.insert(0, techniques + "; ");
  if (sweep && names_sweep) run.label.insert(0, "Sweep; ");
  if (recorded.truncated()) run.label.insert(0, lessons::cut_off_words(recorded) + "; ");
  return run;
}

bool follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording) {
  if (recording == nullptr) return false;
  if (run.recording != recording) {
    run = make_run(recording, run.from);
    return true;
  }
  const std::uint64_t before = run.ledger->size();
  run.ledger->update();
  return run.ledger->size() != before;
}

}  // namespace headroom::app::page
