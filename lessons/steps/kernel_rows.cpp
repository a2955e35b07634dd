#include "lessons/steps/kernel_rows.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "lessons/names.h"
#include "lessons/steps/step_work.h"

namespace headroom::lessons {

using record::KernelSpan;
using record::Nanoseconds;
using record::Recording;
using record::SpanKind;

namespace {

constexpr double kRowsRightMargin = 0.012;

std::string bandwidth_text(const KernelSpan& span, const KernelUnits& units) {
  if (span.bytes <= 0 || span.duration <= 0) return {};
  const double rate = static_cast<double>(span.bytes) / static_cast<double>(span.duration) * 1e9;
  return ", " + bytes_text(span.bytes, units.bytes) + ", " + amount_text(rate, units.rate);
}

std::string tip_of(const Recording& recording, const KernelSpan& span, const KernelUnits& units) {
  std::string tip = operation_name(recording.op_name(span.op));
  if (span.layer != record::kNoLayer) tip += fmt::format("{}layer {}", tip.empty() ? "" : ", ", span.layer);
  tip += fmt::format("{}{}: {}", tip.empty() ? "" : ", ", record::label_of(span.phase),
                     amount_text(static_cast<double>(span.duration), units.time));
  return fmt::format("{}{}; {}", tip, bandwidth_text(span, units), recording.op_name(span.name));
}

// "vectorized_elementwise_kernel" of "at::native::vectorized_elementwise_kernel<4, at::native::…>".
std::string_view short_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const auto colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

// The word for kernels with `part` in their names; the first match counts.
struct Does {
  std::string_view part, word;
};
constexpr std::array kDoes{
    Does{"headroom::", "fused"}, Does{"Launch", "launch"},           Does{"Memcpy", "copy"},
    Does{"Memset", "fill"},      Does{"Synchronize", "wait"},        Does{"flash", "attention"},
    Does{"fmha", "attention"},   Does{"attention", "attention"},     Does{"gemm", "matmul"},
    Does{"gemv", "matmul"},      Does{"cutlass", "matmul"},          Does{"nvjet", "matmul"},
    Does{"splitK", "matmul"},    Does{"oftmax", "softmax"},          Does{"OfTMax", "softmax"},
    Does{"educe", "reduce"},     Does{"CatArray", "join"},           Does{"gather", "gather"},
    Does{"ndexing", "gather"},   Does{"elementwise", "elementwise"},
};

std::string label_of(const Recording& recording, const KernelSpan& span) {
  const std::string_view name = recording.op_name(span.name);
  if (span.kind == SpanKind::kCopy) return "copy";
  if (span.kind == SpanKind::kMemset) return "fill";
  if (span.kind == SpanKind::kHostOperator) return std::string(name);  // PyTorch's own name
  const auto* does =
      std::ranges::find_if(kDoes, [&](const Does& each) { return name.find(each.part) != std::string_view::npos; });
  return std::string(does == kDoes.end() ? short_name(name) : does->word);
}

}  // namespace

std::string row_label(int row, std::size_t streams, std::string_view alone) {
  if (row < 0) return "Host";
  return streams > 1 ? fmt::format("Stream {}", row) : std::string(alone);
}

int row_of(const KernelSpan& span) { return span.kind == SpanKind::kRuntimeCall ? -1 : static_cast<int>(span.stream); }

std::vector<TimeBox> boxes_of(const Recording& recording, const std::vector<PlacedSpan>& spans, double least,
                              const KernelUnits& units, std::optional<std::size_t> selected) {
  std::vector<TimeBox> boxes;
  std::vector<const KernelSpan*> first;  // first span of each box
  std::array<double, 6> times{};         // by kind of work, in the last box
  for (const PlacedSpan& placed : spans) {
    const Work work = work_kind(recording, *placed.span);
    const bool chosen = selected && placed.number == selected;
    if (!boxes.empty() && !chosen && !boxes.back().selected) {
      TimeBox& last = boxes.back();
      const bool narrow = placed.end - placed.begin < least && (last.count > 1 || last.end - last.begin < least);
      if (narrow && placed.begin - last.end < least) {
        last.end = std::max(last.end, placed.end);
        ++last.count;
        times[static_cast<std::size_t>(work)] += placed.end - placed.begin;
        last.work = static_cast<Work>(std::ranges::max_element(times) - times.begin());
        last.span.reset();
        continue;
      }
    }
    boxes.push_back({.begin = placed.begin,
                     .end = placed.end,
                     .work = work,
                     .bytes = placed.span->bytes,
                     .span = placed.number,
                     .selected = chosen});
    first.push_back(placed.span);
    times.fill(0);
    times[static_cast<std::size_t>(work)] = placed.end - placed.begin;
  }
  // Only drawn boxes get words, because most spans are merged.
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    TimeBox& box = boxes[i];
    if (box.count == 1) box.label = label_of(recording, *first[i]);
    box.tip = box.count == 1 ? tip_of(recording, *first[i], units)
                             : fmt::format("{} {}", box.count, box.work == Work::kHost ? "calls" : "kernels");
  }
  return boxes;
}

void add_lanes(Lanes& panel, const Recording& recording, const std::vector<KernelSpan>& spans, const LanesOf& lanes,
               int columns) {
  if (spans.empty()) return;
  const double least = (panel.x.high - panel.x.low) / std::max(1, columns);
  const StepWork work = work_of(spans);
  const double origin = static_cast<double>(spans.front().start) - lanes.begin;
  std::map<int, std::vector<PlacedSpan>> rows;
  for (const KernelSpan& span : spans) {
    const double begin = static_cast<double>(span.start) - origin;
    rows[row_of(span)].push_back({&span, begin, begin + static_cast<double>(span.duration)});
  }
  const std::size_t streams = rows.size() - rows.count(-1);
  bool first = true;
  for (const auto& [row, in_row] : rows) {
    panel.lanes.push_back({.label = lanes.prefix + row_label(row, streams, work.on_cpu ? "Operators" : "Device"),
                           .note = first ? lanes.prefix + work_text(work, lanes.time) : std::string(),
                           .baseline = lanes.baseline,
                           .boxes = boxes_of(recording, in_row, least, {.time = lanes.time})});
    first = false;
  }
}

std::vector<KernelSpan> spans_of_form(const Recording& recording, std::string_view form) {
  const std::string op = std::string(kFormPrefix) + std::string(form);
  std::vector<KernelSpan> found;
  for (const KernelSpan& span : recording.kernel_spans())
    if (span.step >= 0 && recording.op_name(span.op) == op) found.push_back(span);
  std::ranges::stable_sort(found, {}, &KernelSpan::start);
  return found;
}

std::vector<KernelSpan> kernels_of(const Recording& recording, std::string_view form) {
  std::vector<KernelSpan> found = spans_of_form(recording, form);
  std::erase_if(found, [](const KernelSpan& span) { return span.kind == SpanKind::kRuntimeCall; });
  return found;
}

double length_of(const std::vector<KernelSpan>& spans) {
  Nanoseconds end = spans.empty() ? 0 : spans.front().start;
  for (const KernelSpan& span : spans) end = std::max(end, span.start + span.duration);
  return spans.empty() ? 0 : static_cast<double>(end - spans.front().start);
}

Axis time_axis(const View& view, double length) {
  Axis axis{.unit = AxisUnit::kNanoseconds, .high = std::max(length, 1.0) * (1 + kRowsRightMargin)};
  if (view.begin) axis.low = *view.begin;
  if (view.end) axis.high = *view.end;
  if (!(axis.high > axis.low)) axis.high = axis.low + 1;
  return axis;
}

}  // namespace headroom::lessons
