// One operation in three forms, aligned at their first kernels: many kernels, one kernel, a replayed graph.
#include <algorithm>
#include <array>

#include "lessons/figure.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/step_work.h"

namespace headroom::lessons {
namespace {

using record::KernelSpan;
using record::Recording;

struct FormName {
  std::string_view key, label;
  bool asked = false;  // hidden until the answer
};
constexpr std::array kForms{
    FormName{"eager", "Eager: "},
    FormName{"fused", "Fused: "},
    FormName{"graph", "Graph: ", true},
};

// Nanoseconds from a form's first launch to its first kernel. The axis begins at that kernel, as tracing stretches
// launches.
double before_first_kernel(const std::vector<KernelSpan>& spans) {
  for (const KernelSpan& span : spans)
    if (record::on_device(span.kind)) return static_cast<double>(span.start - spans.front().start);
  return 0;
}

void add_launch_forms_panels(FigureData& figure, const FigureInput& input) {
  const Recording& recording = input.run->recording();
  if (const std::string why = why_not_traced(recording); !why.empty()) return figure.leave_empty(why);
  std::array<std::vector<KernelSpan>, kForms.size()> spans;
  double longest = 0;
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    if (!(kForms[i].asked && input.view.hidden)) spans[i] = spans_of_form(recording, kForms[i].key);
    longest = std::max(longest, length_of(spans[i]) - before_first_kernel(spans[i]));
  }
  Lanes panel{.x = time_axis(input.view, longest)};
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    if (spans[i].empty()) continue;
    add_lanes(
        panel, recording, spans[i],
        {.prefix = std::string(kForms[i].label), .begin = -before_first_kernel(spans[i]), .time = time_unit(longest)},
        input.view.columns);
  }
  for (Lane& lane : panel.lanes)  // host lanes are thin, because the figure compares device lanes
    lane.thin = std::ranges::any_of(lane.boxes, [](const auto& box) { return box.work == Work::kHost; });
  if (panel.lanes.empty())
    return figure.leave_empty("This run does not compare forms of one operation: run the demo `launches`.");
  figure.add(std::move(panel));
}

}  // namespace

extern const Figure kLaunchForms;
constinit const Figure kLaunchForms{
    .id = "launch_forms",
    .title = "Many launches, one kernel, a graph",
    .caption =
        "One operation as many launches, as one kernel and as the replay of a CUDA graph, aligned at the first kernel",
    .schema = {},
    .add_panels = add_launch_forms_panels,
};

}  // namespace headroom::lessons
