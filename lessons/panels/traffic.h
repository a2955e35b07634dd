// Panel: forms of one operation, kernel by kernel: times, speeds and bytes.
#pragma once

#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"
#include "lessons/panels/file_table.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {

struct TrafficKernel {
  std::string label;
  double begin = 0, end = 0;            // ns, from the form's first kernel
  record::Bytes read = 0, written = 0;  // bytes that must move
  record::Bytes kept = 0;               // written and kept until the backward pass
  std::string tip;
  record::Bytes moved() const { return read + written; }
  double rate() const { return end > begin ? static_cast<double>(moved()) / (end - begin) * 1e9 : 0; }  // bytes/s
};

struct TrafficForm {
  std::string label;
  std::string note;
  bool ours = false;  // one kernel of the program: ink
  std::vector<TrafficKernel> kernels;

  record::Bytes moved() const;
  record::Bytes kept() const;
};

struct Traffic {
  Axis x;                    // ns
  Axis rate;                 // bytes/s
  record::Bytes square = 1;  // bytes per square
  double copy = 0;           // bytes/s of a copy on the same device; 0: unknown
  std::string copy_label;
  std::vector<TrafficForm> forms;

  ShownUnit bytes_unit() const;  // suits the form that moves most
  Axes axes() const { return {x, rate}; }
  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
