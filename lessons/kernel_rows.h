// Boxes and lanes of kernels, from the spans of a traced run: what the figures of kernels share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/recording.h"
#include "lessons/figure.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

// The demo `launches` names its operators so: "launches.eager", "launches.fused", "launches.graph".
inline constexpr std::string_view kFormPrefix = "launches.";

// The kernels of one of its forms, "eager", on a CPU the operators, in the order in which they ran.
std::vector<record::KernelSpan> kernels_of(const record::Recording& recording, std::string_view form);

// From the start of the first span to the end of the last, in ns.
double length_of(const std::vector<record::KernelSpan>& spans);
// For that length, or what the view asks for.
Axis time_axis(const View& view, double length);

// A span where it is on an axis.
struct PlacedSpan {
  const record::KernelSpan* span = nullptr;
  double begin = 0, end = 0;
  std::optional<std::size_t> number = {};  // its place in the recording's kernel_spans()
};
// Which lane of kernels a span is in: -1 is the host's calls, else the stream; on the CPU there is one.
int row_of(const record::KernelSpan& span);

// In which times and bytes of single kernels are written. Those of a step differ by three decades, and the shortest count.
struct KernelUnits {
  ShownUnit time{"µs", 1e3}, bytes{"MiB", double{record::kMiB}}, rate{"GB/s", 1e9};
};

// A box for each of these spans of a lane, which are in the order of their beginnings. What is narrower than `least` joins
// its neighbor, and both are what takes most of their time; but for the span with the number `selected`.
std::vector<TimeBox> boxes_of(const record::Recording& recording, const std::vector<PlacedSpan>& spans, double least,
                              const KernelUnits& units, std::optional<std::size_t> selected = {});

struct LanesOf {
  std::string prefix;  // "A: ", before every lane's name
  bool baseline = false;
  double begin = 0;  // where on the axis the first span is, ns
  ShownUnit time;    // of all its times
};
// A lane for the host's calls and one for each stream, from the first span on. What is narrower than one of `columns`
// of the axis joins its neighbor.
void add_lanes(Lanes& panel, const record::Recording& recording, const std::vector<record::KernelSpan>& spans,
               const LanesOf& lanes, int columns);

}  // namespace headroom::lessons
