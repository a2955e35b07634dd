// A step as the device worked it off: a row for the host's calls, one for each stream, boxes for kernels; a pinned run
// stands below with its own rows, on the same axis.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/step_work.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kKernelTimeline;

namespace {

using record::KernelSpan;
using record::Nanoseconds;
using record::Recording;
using record::SpanKind;

constexpr std::array<record::Choice, 6> kParts{{
    {"step", "the whole step"},
    {"forward", "forward"},
    {"loss", "loss"},
    {"backward", "backward"},
    {"optimizer", "optimizer"},
    {"layer", "one layer, forward"},
}};
constexpr std::array kSchema{
    record::ParamSpec{.key = "part",
                      .label = "Show",
                      .help = "The whole step, one of its phases, or a layer's forward pass",
                      .kind = record::ParamKind::kChoice,
                      .default_text = "step",
                      .choices = kParts},
    record::ParamSpec{.key = "layer",
                      .label = "Layer",
                      .help = "Which layer, from 0",
                      .kind = record::ParamKind::kInteger,
                      .minimum = 0,
                      .maximum = 511,
                      .needs_key = "part",
                      .needs_value = "layer"},
};

constexpr double kRightMargin = 0.012;
// Boxes narrower than this share of a column are drawn together with their neighbours.
constexpr double kLeastColumns = 1.0;

SpanFilter filter_of(const Recording& recording, const record::Params& params) {
  SpanFilter filter{.step = last_traced_step(recording)};
  const std::string& part = params.text("part");
  for (int phase = 0; phase < record::kNumPhases; ++phase)
    if (record::key_of(static_cast<record::Phase>(phase)) == part) filter.phase = phase;
  if (part == "layer") {
    filter.phase = static_cast<int>(record::Phase::kForward);
    filter.layer = static_cast<int>(params.integer("layer"));
  }
  return filter;
}

std::string bandwidth_text(const KernelSpan& span) {
  if (span.bytes <= 0 || span.duration <= 0) return {};
  const double gigabytes = static_cast<double>(span.bytes) / static_cast<double>(span.duration);
  const std::string speed =
      gigabytes >= 1000 ? fmt::format("{:.2f} TB/s", gigabytes / 1000) : fmt::format("{:.0f} GB/s", gigabytes);
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

std::string label_of(const Recording& recording, const KernelSpan& span) {
  const std::string_view op = recording.op_name(span.op);
  if (span.kind != SpanKind::kRuntimeCall && !op.empty()) return std::string(op.substr(op.rfind('.') + 1));
  return std::string(recording.op_name(span.name));
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
  double least;  // ns; what is narrower joins its neighbour

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

// The rows of one run, from the first of the shown spans on; returns where they end.
double add_rows(FigureData& figure, const Recording& recording, const std::vector<KernelSpan>& spans,
                std::string_view prefix, double least) {
  if (spans.empty()) return 0;
  const StepWork work = work_of(spans);
  const auto origin = static_cast<double>(spans.front().start);
  const BoxMaker maker{recording, origin, least};
  std::map<int, std::vector<TimeBox>> boxes;
  double end = 0;
  for (const KernelSpan& span : spans) {
    maker.add(boxes[row_of(span)], span);
    end = std::max(end, static_cast<double>(span.start + span.duration) - origin);
  }
  const std::size_t streams = boxes.size() - boxes.count(-1);
  bool first = true;
  for (auto& [row, in_row] : boxes) {
    figure.rows.push_back({.label = std::string(prefix) + row_label(row, work.on_cpu, streams),
                           .note = first ? std::string(prefix) + work_text(work) : std::string(),
                           .ghost = prefix == "A: ",
                           .boxes = std::move(in_row)});
    first = false;
  }
  return end;
}

double length_of(const std::vector<KernelSpan>& spans) {
  Nanoseconds end = spans.empty() ? 0 : spans.front().start;
  for (const KernelSpan& span : spans) end = std::max(end, span.start + span.duration);
  return spans.empty() ? 0 : static_cast<double>(end - spans.front().start);
}

FigureData build(const FigureInput& input) {
  FigureData figure;
  figure.id = kKernelTimeline.id;
  figure.title = kKernelTimeline.title;
  figure.x.unit = AxisUnit::kNanoseconds;
  if (input.run == nullptr) {
    figure.empty_reason = "Nothing has run yet.";
    return figure;
  }
  const record::Params defaults(kSchema);
  const record::Params& params = input.params ? *input.params : defaults;
  const Recording& recording = input.run->recording();
  figure.source = recording.info().source;
  figure.provenance_line = provenance_line(recording.info());
  const SpanFilter filter = filter_of(recording, params);
  figure.provenance = full_provenance(recording, params, filter.step);
  figure.empty_reason = why_not_traced(recording);
  if (!figure.empty_reason.empty()) return figure;
  const std::vector<KernelSpan> spans = spans_of(recording, filter);
  if (spans.empty()) {
    figure.empty_reason = "This part of the step launched nothing.";
    return figure;
  }
  std::vector<KernelSpan> ghost_spans;
  const bool ghost = input.ghost != nullptr && why_not_traced(input.ghost->recording()).empty();
  if (ghost) ghost_spans = spans_of(input.ghost->recording(), filter_of(input.ghost->recording(), params));
  figure.x.high = std::max({length_of(spans), length_of(ghost_spans), 1.0}) * (1 + kRightMargin);
  if (input.view.begin) figure.x.low = *input.view.begin;
  if (input.view.end) figure.x.high = *input.view.end;
  if (!(figure.x.high > figure.x.low)) figure.x.high = figure.x.low + 1;
  const double least = kLeastColumns * (figure.x.high - figure.x.low) / std::max(1, input.view.columns);
  add_rows(figure, recording, spans, ghost_spans.empty() ? "" : "B: ", least);
  if (!ghost_spans.empty()) add_rows(figure, input.ghost->recording(), ghost_spans, "A: ", least);
  return figure;
}

}  // namespace

constinit const Figure kKernelTimeline{
    .id = "kernel_timeline",
    .title = "Kernels of one step",
    .caption = "Each kernel of a traced step on its stream, with the host's calls, gaps, kernel time and bytes",
    .schema = kSchema,
    .build = build,
};

}  // namespace headroom::lessons
