// Panels of horizontal bars of bytes: a peak by category, and the ladder of techniques rung by rung.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// One horizontal bar of "peak by category".
struct Bar {
  record::Category category = record::Category::kOther;
  std::string label;
  double value = 0;                     // bytes
  std::string value_text;               // "1.96 GiB"
  std::string note;                     // "8.8 %"
  std::optional<double> baseline = {};  // bytes of the run that this one is compared with
};

struct Bars {
  Axis x;
  std::string total_label;  // above the bars: "peak 22.31 GiB"
  record::Bytes total = 0;
  std::vector<Bar> bars;
};

// One rung of the ladder of techniques: the peak with this switch and all before it. One that ran out of memory has what
// was alive then; one that did not run has no bytes.
struct Rung {
  std::string label;  // "+ checkpointing"
  record::ByCategory bytes{};
  record::Bytes before = 0;  // total of the rung that this one is compared with; 0: none
  bool out_of_memory = false;
  std::string value;       // "12.34 GiB"
  std::string delta;       // "−3.10 GiB"
  double speed = 0;        // tokens/s; 0: not measured
  std::string speed_text;  // "71,400"
  std::string loss;        // "5.251"
  std::string note;        // what this switch turns off, behind the bar; or, instead of a bar, why there is none
  std::string tip;
  bool predicted = false;   // or by the closed form: drawn with a dashed edge
  bool pending = false;     // the ladder that is being run has not come to it: drawn pale
  bool off = false;         // the reader has switched it off
  std::string speed_delta;  // "+1,200"
  bool speed_told = true;   // false: it is noise
};

struct Rungs {
  Axis peaks, speeds;
  std::string foot;  // below the rungs: how they are to be read; may be empty
  std::vector<Rung> rungs;
};

}  // namespace headroom::lessons
