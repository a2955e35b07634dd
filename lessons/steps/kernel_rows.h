// Boxes and lanes of kernels from a traced run, shared by figures.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

// Operators of the demo `launches`: "launches.eager", "launches.fused", "launches.graph".
inline constexpr std::string_view kFormPrefix = "launches.";

// Spans of one form, without the final wait for the device, by start.
std::vector<record::KernelSpan> spans_of_form(const record::Recording& recording, std::string_view form);
// Kernels (on a CPU: operators) of one form, such as "eager", in the order in which they ran.
std::vector<record::KernelSpan> kernels_of(const record::Recording& recording, std::string_view form);

// Time from the first start to the last end, in ns.
double length_of(const std::vector<record::KernelSpan>& spans);
// An axis that covers `length` unless the view has a range.
Axis time_axis(const View& view, double length);

struct PlacedSpan {
  const record::KernelSpan* span = nullptr;
  double begin = 0, end = 0;
  std::optional<std::size_t> number = {};  // index into kernel_spans()
};
// -1: host calls; else the stream. A CPU has one stream.
int row_of(const record::KernelSpan& span);
// "Host", "Stream 7"; `alone` if there is one stream.
std::string row_label(int row, std::size_t streams, std::string_view alone);

// Units for single kernels. Times span three decades, and the shortest kernels matter.
struct KernelUnits {
  ShownUnit time{"µs", 1e3}, bytes{"MiB", double{record::kMiB}}, rate{"GB/s", 1e9};
};

// One box per span, in order of begin. Boxes narrower than `least` are merged; the merged box gets the kind that takes
// most of its time. `selected` is never merged.
std::vector<TimeBox> boxes_of(const record::Recording& recording, const std::vector<PlacedSpan>& spans, double least,
                              const KernelUnits& units, std::optional<std::size_t> selected = {});

struct LanesOf {
  std::string prefix;  // "A: ", before lane names
  bool baseline = false;
  double begin = 0;  // where the first span begins, ns
  ShownUnit time;
};
// A lane for host calls and one per stream. Boxes narrower than one of `columns` columns are merged.
void add_lanes(Lanes& panel, const record::Recording& recording, const std::vector<record::KernelSpan>& spans,
               const LanesOf& lanes, int columns);

}  // namespace headroom::lessons
