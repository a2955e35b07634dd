// One operation in three forms, each from its first launch on: many kernels, one kernel, the replay of a graph.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/kernel_rows.h"
#include "lessons/step_work.h"
#include "lessons/wording.h"

namespace headroom::lessons {

extern const Figure kLaunchForms;

namespace {

using record::KernelSpan;
using record::Recording;

// What the reader is to compare, in the words of the page.
struct FormName {
  std::string_view key, label;
};
constexpr std::array kForms{
    FormName{"eager", "Eager: "},
    FormName{"fused", "Fused: "},
    FormName{"graph", "Graph: "},
};

// The spans of one form, without the waiting for the device that ends it.
std::vector<KernelSpan> spans_of_form(const Recording& recording, std::string_view form) {
  const std::string op = std::string(kFormPrefix) + std::string(form);
  std::vector<KernelSpan> found;
  for (const KernelSpan& span : recording.kernel_spans())
    if (span.step >= 0 && recording.op_name(span.op) == op) found.push_back(span);
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return found;
}

void add_panels(FigureData& figure, const FigureInput& input) {
  const Recording& recording = input.run->recording();
  figure.head.empty_reason = why_not_traced(recording);
  if (!figure.head.empty_reason.empty()) return;
  double longest = 0;
  for (const FormName& form : kForms) longest = std::max(longest, length_of(spans_of_form(recording, form.key)));
  Lanes panel{.x = time_axis(input.view, longest), .lanes = {}};
  for (const FormName& form : kForms) {
    add_lanes(panel, recording, spans_of_form(recording, form.key), {.prefix = std::string(form.label)},
              input.view.columns);
  }
  if (panel.lanes.empty())
    figure.head.empty_reason = "This run shows no forms of one operation: run the demo `launches`.";
  figure.panels.emplace_back(std::move(panel));
}

}  // namespace

constinit const Figure kLaunchForms{
    .id = "launch_forms",
    .title = "Many launches, one kernel, a graph",
    .caption = "One operation as many launches, as one kernel and as the replay of a CUDA graph, on one time axis",
    .schema = {},
    .add_panels = add_panels,
};

}  // namespace headroom::lessons
