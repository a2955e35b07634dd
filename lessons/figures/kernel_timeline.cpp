// A step as the device worked it off: a row for the host's calls, one for each stream, boxes for kernels; a pinned run
// is below with its own rows, on the same axis.
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

void add_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const Recording& recording = input.run->recording();
  const SpanFilter filter = filter_of(recording, params);
  set_step(figure.head, filter.step);
  figure.head.empty_reason = why_not_traced(recording);
  if (!figure.head.empty_reason.empty()) return;
  const std::vector<KernelSpan> spans = spans_of(recording, filter);
  if (spans.empty()) {
    figure.head.empty_reason = "This part of the step launched nothing.";
    return;
  }
  std::vector<KernelSpan> baseline_spans;
  const bool baseline = input.baseline != nullptr && why_not_traced(input.baseline->recording()).empty();
  if (baseline) baseline_spans = spans_of(input.baseline->recording(), filter_of(input.baseline->recording(), params));
  Lanes panel{.x = time_axis(input.view, std::max(length_of(spans), length_of(baseline_spans))), .lanes = {}};
  add_lanes(panel, recording, spans, {.prefix = baseline_spans.empty() ? "" : "B: "}, input.view.columns);
  if (!baseline_spans.empty()) {
    add_lanes(panel, input.baseline->recording(), baseline_spans, {.prefix = "A: ", .baseline = true},
              input.view.columns);
  }
  figure.panels.emplace_back(std::move(panel));
}

}  // namespace

constinit const Figure kKernelTimeline{
    .id = "kernel_timeline",
    .title = "Kernels of one step",
    .caption = "Each kernel of a traced step on its stream, with the host's calls, gaps, kernel time and bytes",
    .schema = kSchema,
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
