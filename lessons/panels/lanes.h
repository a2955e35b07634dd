// Panel: a kernel timeline, a lane for the host and one per stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// What ran: a kernel of this repository, a matrix product or attention, another kernel; a copy or memset; a call of the
// host.
enum class Work : std::uint8_t { kOurs, kProduct, kOther, kMove, kHost };

// One kernel, or several that are too short to be drawn apart.
struct TimeBox {
  double begin = 0, end = 0;
  Work work = Work::kOther;
  int count = 1;
  record::Bytes bytes = record::kUnknownBytes;  // of one kernel
  std::string label;                            // "silu", where there is room
  std::string tip;
};

// The host, or a stream of the device.
struct Lane {
  std::string label;      // "Device"
  std::string note;       // above it, over all lanes of a run: "634 launches, 41.0 ms of kernels, …"
  bool thin = false;      // less high than others
  bool baseline = false;  // of the run that the other lanes are compared with
  std::vector<TimeBox> boxes;
};

struct Lanes {
  Axis x;
  std::vector<Lane> lanes;  // from the top
};

}  // namespace headroom::lessons
