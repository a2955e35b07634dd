#include "lessons/kernel_rows.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "lessons/step_work.h"

namespace headroom::lessons {

using record::KernelSpan;
using record::Nanoseconds;
using record::Recording;
using record::SpanKind;

namespace {

constexpr double kRightMargin = 0.012;

std::string bandwidth_text(const KernelSpan& span) {
  if (span.bytes <= 0 || span.duration <= 0) return {};
  const double gigabytes = static_cast<double>(span.bytes) / static_cast<double>(span.duration);
  const std::string speed = gigabytes >= 1000 ? fmt::format("{:.2f} TB/s", gigabytes / 1000)
                                              : fmt::format("{:.{}f} GB/s", gigabytes, gigabytes < 10 ? 1 : 0);
  return fmt::format(", {}, {}", record::format_bytes(span.bytes), speed);
}

// "mlp.silu, layer 3, forward: vectorized_elementwise_kernel<…>, 12.3 µs, 48.00 MiB, 3.90 TB/s"
std::string tip_of(const Recording& recording, const KernelSpan& span) {
  std::string tip(recording.op_name(span.op));
  if (span.layer != record::kNoLayer) tip += fmt::format("{}layer {}", tip.empty() ? "" : ", ", span.layer);
  tip += fmt::format("{}{}: {}, {}", tip.empty() ? "" : ", ", record::label_of(span.phase),
                     recording.op_name(span.name), record::format_duration(span.duration));
  return tip + bandwidth_text(span);
}

// "vectorized_elementwise_kernel" of "at::native::vectorized_elementwise_kernel<4, at::native::…>".
std::string_view short_name(std::string_view name) {
  name = name.substr(0, name.find('<'));
  const auto colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

std::string label_of(const Recording& recording, const KernelSpan& span) {
  const std::string_view op = recording.op_name(span.op);
  const bool of_model = span.kind != SpanKind::kRuntimeCall && !op.empty() && !op.starts_with(kFormPrefix);
  return std::string(of_model ? op.substr(op.rfind('.') + 1) : short_name(recording.op_name(span.name)));
}

// The row of a span: the host's calls first, then the streams; on the CPU there is one.
int row_of(const KernelSpan& span) { return span.kind == SpanKind::kRuntimeCall ? -1 : static_cast<int>(span.stream); }

std::string row_label(int row, bool on_cpu, std::size_t streams) {
  if (row < 0) return "Host";
  if (on_cpu) return "Operators";
  return streams > 1 ? fmt::format("Stream {}", row) : "Device";
}

struct BoxMaker {
  const Recording& recording;
  double origin;
  double least;  // ns; what is narrower joins its neighbor

  void add(std::vector<TimeBox>& boxes, const KernelSpan& span) const {
    const double begin = static_cast<double>(span.start) - origin, end = begin + static_cast<double>(span.duration);
    const Work work = work_kind(recording, span);
    if (!boxes.empty()) {
      TimeBox& last = boxes.back();
      const bool narrow = end - begin < least && (last.count > 1 || last.end - last.begin < least);
      if (narrow && begin - last.end < least) {
        last.end = std::max(last.end, end);
        ++last.count;
        if (work == Work::kOurs) last.work = work;
        last.label.clear();
        last.tip = fmt::format("{} {}", last.count, work == Work::kHost ? "calls" : "kernels");
        return;
      }
    }
    boxes.push_back({begin, end, work, 1, span.bytes, label_of(recording, span), tip_of(recording, span)});
  }
};

}  // namespace

void add_lanes(Lanes& panel, const Recording& recording, const std::vector<KernelSpan>& spans, const LanesOf& lanes,
               int columns) {
  if (spans.empty()) return;
  const double least = (panel.x.high - panel.x.low) / std::max(1, columns);
  const StepWork work = work_of(spans);
  const double origin = static_cast<double>(spans.front().start) - lanes.begin;
  const BoxMaker maker{recording, origin, least};
  std::map<int, std::vector<TimeBox>> boxes;
  for (const KernelSpan& span : spans) maker.add(boxes[row_of(span)], span);
  const std::size_t streams = boxes.size() - boxes.count(-1);
  bool first = true;
  for (auto& [row, in_row] : boxes) {
    panel.lanes.push_back({.label = lanes.prefix + row_label(row, work.on_cpu, streams),
                           .note = first ? lanes.prefix + work_text(work) : std::string(),
                           .baseline = lanes.baseline,
                           .boxes = std::move(in_row)});
    first = false;
  }
}

double length_of(const std::vector<KernelSpan>& spans) {
  Nanoseconds end = spans.empty() ? 0 : spans.front().start;
  for (const KernelSpan& span : spans) end = std::max(end, span.start + span.duration);
  return spans.empty() ? 0 : static_cast<double>(end - spans.front().start);
}

Axis time_axis(const View& view, double length) {
  Axis axis{.unit = AxisUnit::kNanoseconds, .low = 0, .high = std::max(length, 1.0) * (1 + kRightMargin)};
  if (view.begin) axis.low = *view.begin;
  if (view.end) axis.high = *view.end;
  if (!(axis.high > axis.low)) axis.high = axis.low + 1;
  return axis;
}

}  // namespace headroom::lessons
