// Panel: layers, operations, kernels and host calls over time, in lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/rows/mem_event.h"
#include "lessons/panels/axis.h"
#include "lessons/panels/file_table.h"
#include "lessons/panels/set_param.h"

namespace headroom::lessons {

// kOurs: a kernel of the program; kProduct: GEMM or attention; kOther: another kernel; kMove: a copy or memset; kHost:
// a host call; kZone: a layer or an operation, as wide as its kernels; kGather, kSum: collectives; kHeld: weights in
// memory.
enum class Work : std::uint8_t { kOurs, kProduct, kOther, kMove, kHost, kZone, kGather, kSum, kHeld };

// One kernel, or several too short to draw separately.
struct TimeBox {
  double begin = 0, end = 0;
  Work work = Work::kOther;
  int count = 1;
  record::Bytes bytes = record::kUnknownBytes;  // of a single kernel
  std::string label;                            // drawn if it fits
  std::string tip;
  std::optional<std::size_t> span = {};  // index into kernel_spans(); empty if merged
  bool selected = false;
};

struct Lane {
  std::string label;
  std::string note;  // above a run's lanes: "634 launches, 41.0 ms of kernels, …"
  bool thin = false;
  bool baseline = false;  // belongs to the compared run
  std::vector<TimeBox> boxes;
  std::optional<SetParam> action = {};  // of a click on the label
};

// An arrow from a launch to its kernel, or from an operation to its backward operation.
struct Flow {
  std::size_t from_lane = 0, to_lane = 0;
  double from = 0, to = 0;
};

struct FoundSpan {
  std::size_t span = 0;  // index into kernel_spans()
  double begin = 0, end = 0;
};

struct Lanes {
  Axis x;
  std::vector<Lane> lanes;            // from the top
  std::vector<Flow> flows = {};       // arrows of the selected kernel
  std::vector<FoundSpan> found = {};  // search results, by time
  std::string marked = {};            // sums over kernels in the marked range

  Axes axes() const { return {x, {}}; }
  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
