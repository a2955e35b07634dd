// Panels of horizontal bars of bytes: a peak by category, and the ladder of techniques.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"
#include "lessons/panels/file_table.h"

namespace headroom::lessons {

struct Bar {
  record::Category category = record::Category::kOther;
  std::string label;
  double value = 0;  // bytes
  std::string value_text;
  std::string note;
  std::optional<double> baseline = {};  // bytes of the compared run
};

struct Bars {
  Axis x;
  std::string total_label;
  record::Bytes total = 0;
  std::vector<Bar> bars;

  Axes axes() const { return {x, {}}; }
  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

struct RungSpeed {
  double value = 0;  // tokens/s; 0: not measured
  std::string text;
  std::string delta;
  bool told = true;  // false: the difference is noise
};

// A rung of the ladder: the peak with this switch and all before it. If memory ran out, `bytes` is what was alive then;
// a rung that did not run has no bytes.
struct Rung {
  std::string label;
  record::ByCategory bytes{};
  record::Bytes before = 0;  // total of the compared rung; 0: none
  bool out_of_memory = false;
  std::string value;
  std::string delta;
  RungSpeed speed;
  std::string loss;
  std::string source;  // "predicted", "H200, stored", "here, 12:53"; empty: as the figure's head says
  std::string note;    // what this switch turns off, or why there is no bar
  std::string tip;
  bool predicted = false;  // predicted or by closed form: dashed edge
  bool pending = false;    // the ladder in progress has not reached it: pale
  bool off = false;        // switched off by the reader
};

// The memory that a card leaves for tensors.
struct CardLine {
  std::string label;
  record::Bytes bytes = 0;
};

struct Rungs {
  Axis peaks, speeds;
  std::optional<CardLine> card;  // not if it is far beyond the bars
  std::string foot;
  std::vector<Rung> rungs;

  Axes axes() const { return {peaks, speeds}; }
  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
