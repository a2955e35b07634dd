// A step as the device worked it off: a row for the host's calls, one for each stream, boxes for kernels; a pinned run
// stands below with its own rows, on the same axis.
#include <algorithm>
#include <array>

#include "lessons/figure.h"
#include "lessons/kernel_rows.h"
#include "lessons/step_work.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kKernelTimeline;

namespace {

using record::KernelSpan;
using record::Recording;

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
  fit_time(figure, input.view, std::max(length_of(spans), length_of(ghost_spans)));
  add_rows(figure, recording, spans, {.prefix = ghost_spans.empty() ? "" : "B: "}, input.view.columns);
  if (!ghost_spans.empty()) {
    add_rows(figure, input.ghost->recording(), ghost_spans, {.prefix = "A: ", .ghost = true}, input.view.columns);
  }
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
