#include "lessons/steps/alive.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lessons/names.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {
namespace {

// The sum of operators with one name.
struct NamedRow {
  record::AliveRow sum;
  std::string name;
};

std::vector<NamedRow> named_rows(const record::Ledger& run, std::uint64_t event) {
  std::map<std::pair<record::Category, std::string>, record::AliveRow> sums;
  for (const record::AliveRow& row : run.alive_rows(event)) {
    auto [found, is_new] =
        sums.try_emplace({row.category, tensor_name(row.category, run.recording().op_name(row.op))}, row);
    if (is_new) continue;
    record::AliveRow& sum = found->second;
    // kNoLayer is the highest number: min() ignores it, but max() must skip it.
    sum.first_layer = std::min(sum.first_layer, row.first_layer);
    if (sum.last_layer == record::kNoLayer) {
      sum.last_layer = row.last_layer;
    } else if (row.last_layer != record::kNoLayer) {
      sum.last_layer = std::max(sum.last_layer, row.last_layer);
    }
    sum.blocks += row.blocks;
    sum.bytes += row.bytes;
  }
  std::vector<NamedRow> rows;
  for (auto& [key, sum] : sums) rows.push_back({sum, key.second});
  std::ranges::stable_sort(rows, std::greater{}, [](const NamedRow& row) { return row.sum.bytes; });
  return rows;
}

// Optimizer state belongs to all weights, so "layers 0 to 15" would leave some out.
std::string where_text(const record::AliveRow& row) {
  const bool of_all_weights = row.category == record::Category::kOptimizerState;
  const std::string layers = of_all_weights ? std::string() : layers_text(row.first_layer, row.last_layer);
  const std::string blocks = row.blocks == 1 ? "1 tensor" : record::format_count(row.blocks) + " tensors";
  return layers.empty() ? blocks : layers;
}

const record::Mark* mark_at(const record::Recording& recording, std::uint64_t event) {
  const auto& marks = recording.marks();
  const auto after = std::ranges::upper_bound(marks, event, {}, &record::Mark::event_index);
  return after == marks.begin() ? nullptr : &*std::prev(after);
}

}  // namespace

AliveList alive_list(const record::Ledger& run, std::uint64_t event, int max_rows) {
  AliveList list;
  list.total = run.at(event).allocated;
  for (const NamedRow& row : named_rows(run, event)) {
    if (list.rows.size() < static_cast<std::size_t>(max_rows)) {
      list.rows.push_back({row.sum.category, row.name, where_text(row.sum), row.sum.bytes, row.sum.blocks});
    } else {
      list.more_count += row.sum.blocks;
      list.more_bytes += row.sum.bytes;
    }
  }
  return list;
}

std::vector<MemoryLevel> levels_at(const record::Ledger& run, std::uint64_t event) {
  const record::Totals totals = run.at(event);
  std::vector<MemoryLevel> levels{{"requested", totals.requested, "what the tensors need, to the byte"},
                                  {"allocated", totals.allocated, "the blocks that hold them, rounded up to 512 B"}};
  if (totals.reserved > 0)
    levels.push_back(
        {"reserved", totals.reserved, "what PyTorch's allocator has taken from the driver, free blocks included"});
  const auto& events = run.recording().events();
  const record::Nanoseconds time = event < events.size() ? events[event].time : 0;
  // Samples are rarer than events. A sample below the previous level is outdated.
  const auto add_sample = [&](const char* label, record::CounterKind kind, std::string_view meaning) {
    const auto bytes = counter_at(run.recording(), kind, time);
    if (bytes && *bytes >= levels.back().bytes) levels.push_back({label, *bytes, meaning});
  };
  add_sample("process", record::CounterKind::kProcessBytes,
             "with the CUDA context, kernels' code and libraries; what nvidia-smi reports for this process");
  add_sample("device in use", record::CounterKind::kDeviceUsedBytes,
             "of all processes and the driver itself; the total that nvidia-smi reports");
  return levels;
}

std::string position_text(double position, const Axis& axis) {
  return axis.unit == AxisUnit::kEvents ? record::format_count(static_cast<std::int64_t>(std::floor(position)))
                                        : amount_text(position, unit_of(axis));
}

std::string when_text(const record::Recording& recording, std::uint64_t event, double position, const Axis& axis) {
  std::string text = (axis.unit == AxisUnit::kEvents ? "event " : "") + position_text(position, axis);
  if (const record::Mark* mark = mark_at(recording, event)) {
    text += fmt::format(", {}", record::label_of(mark->phase));
    if (mark->layer != record::kNoLayer) text += fmt::format(", layer {}", mark->layer);
  }
  return text;
}

std::optional<std::int64_t> counter_at(const record::Recording& recording, record::CounterKind kind,
                                       record::Nanoseconds time) {
  std::optional<std::int64_t> value;
  for (const record::CounterSample& sample : recording.counters()) {
    if (sample.kind != kind) continue;
    if (value && sample.time > time) break;
    value = sample.value;
  }
  return value;
}

}  // namespace headroom::lessons
