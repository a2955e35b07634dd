// Finds the card.
#include "app/page/card_choice.h"

#include "demos/experiments/attention_taken.h"
#include "lessons/shown_unit.h"

namespace headroom::app::page {

namespace {

const protocol::DeviceFacts* device_of(const backend::Backend* machine, record::DeviceKind kind) {
  if (machine == nullptr) return nullptr;
  for (const protocol::DeviceFacts& device : machine->devices())
    if (device.kind == kind) return &device;
  return nullptr;
}

// This machine's memory, else that of the page's run.
std::optional<PlannedCard> memory_of_cpu(const CardSources& sources) {
  if (const protocol::DeviceFacts* const here = device_of(sources.machine, record::DeviceKind::kCpu))
    return PlannedCard{.name = "this machine", .memory = here->memory, .process = {}};
  for (const RunOnShow& run : sources.runs) {
    const record::RunInfo& info = run.recording->info();
    if (info.device == record::DeviceKind::kCpu && info.device_memory > 0)
      return PlannedCard{.name = "the machine of the page's run", .memory = info.device_memory, .process = {}};
  }
  return std::nullopt;
}

std::optional<PlannedCard> gpu_of(const CardSources& sources) {
  const auto of_gpu = [](const std::string& name, record::Bytes memory, const auto& facts) {
    return PlannedCard{.name = name,
                       .memory = memory,
                       .process = predict::process_bytes(name),
                       .compute_capability = experiments::capability_in(facts)};
  };
  if (const protocol::DeviceFacts* const here = device_of(sources.machine, record::DeviceKind::kGpu))
    return of_gpu(here->name, here->memory, sources.machine->facts());
  for (const RunOnShow& run : sources.runs) {
    const record::RunInfo& info = run.recording->info();
    const auto gpu = info.provenance.find("gpu");
    if (info.device == record::DeviceKind::kGpu && gpu != info.provenance.end() && info.device_memory > 0)
      return of_gpu(gpu->second, info.device_memory, info.provenance);
  }
  return std::nullopt;
}

}  // namespace

PlannedCard planned_card(const predict::Card& card) {
  return {.name = card.name,
          .memory = *card.memory,
          .process = predict::process_bytes(card.name),
          .compute_capability = card.compute_capability};
}

std::optional<PlannedCard> card_of(const CardSources& sources) {
  if (sources.limit > 0)
    return PlannedCard{
        .name = "a limit of " + record::format_bytes(sources.limit), .memory = sources.limit, .process = {}};
  if (sources.device == record::DeviceKind::kCpu) return memory_of_cpu(sources);
  return sources.chosen != nullptr ? planned_card(*sources.chosen) : gpu_of(sources);
}

lessons::CardLimit limit_of(const PlannedCard& card, bool limit) {
  return {limit ? lessons::short_bytes(card.memory) : card.name, card.memory, card.process};
}

}  // namespace headroom::app::page
