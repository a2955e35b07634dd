// Panel: what ran when, in lanes: layers and operations of the model, kernels, calls of the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// What ran: a kernel of this repository, a matrix product or attention, another kernel; a copy or memset; a call of the
// host. kZone: a layer or an operation, as wide as its kernels.
enum class Work : std::uint8_t { kOurs, kProduct, kOther, kMove, kHost, kZone };

// One kernel, or several that are too short to be drawn apart.
struct TimeBox {
  double begin = 0, end = 0;
  Work work = Work::kOther;
  int count = 1;
  record::Bytes bytes = record::kUnknownBytes;  // of one kernel
  std::string label;                            // "RMSNorm", where there is room
  std::string tip;
  std::optional<std::size_t> span = {};  // of one kernel or call: its place in the recording's kernel_spans()
  bool selected = false;
};

// Layers, operations, a stream of the device, or the host.
struct Lane {
  std::string label;      // "Kernel"
  std::string note;       // above it, over all lanes of a run: "634 launches, 41.0 ms of kernels, …"
  bool thin = false;      // less high than others
  bool baseline = false;  // of the run that the other lanes are compared with
  std::vector<TimeBox> boxes;
};

// An arrow from a box to a box: from a launch to its kernel, from an operation to its backward.
struct Flow {
  std::size_t from_lane = 0, to_lane = 0;
  double from = 0, to = 0;
};

// A kernel that a search found.
struct FoundSpan {
  std::size_t span = 0;  // its place in the recording's kernel_spans()
  double begin = 0, end = 0;
};

struct Lanes {
  Axis x;
  std::vector<Lane> lanes;              // from the top
  std::vector<Flow> flows = {};         // of the kernel that is selected
  std::vector<FoundSpan> found = {};    // in the order of time
  std::string marked = {};              // of the kernels in the marked range: "48 kernels, 1.20 ms in sum, …"
};

}  // namespace headroom::lessons
