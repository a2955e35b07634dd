// Panel: boxes with states, and arrows, in abstract units. A click on a box may set a parameter of the figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/file_table.h"
#include "lessons/panels/set_param.h"

namespace headroom::lessons {

enum class BoxState : std::uint8_t {
  kPlain,       // part of another box
  kNotYet,      // not computed yet
  kAlive,       // in memory
  kRecomputed,  // in memory, recomputed
  kFreed,       // computed, no longer in memory
  kSame,        // as in the compared model
  kChanged,     // different from the compared model
  kZero,        // a bit that is 0
  kOne,         // a bit that is 1
};

struct DiagramBox {
  std::string id;       // "f2", in files
  double x = 0, y = 0;  // upper left corner
  double width = 1, height = 1;
  std::string label = {};
  std::string note = {};  // below the label
  BoxState state = BoxState::kPlain;
  double filled = 1;                                     // share in memory, from the top
  bool marked = false;                                   // has a second outline: a checkpoint
  record::Category category = record::Category::kOther;  // gives its color while in memory
  std::optional<double> value = {};                      // for files, in the diagram's unit
  std::string tip = {};
  std::optional<SetParam> action = {};
};

// An arrow between the edges of two boxes, by index.
struct DiagramArrow {
  std::size_t from = 0, to = 0;
  bool active = false;  // in use in this frame; drawn in the ink color
  bool dashed = false;  // a second input
};

struct Diagram {
  std::string title;
  double width = 1, height = 1;  // size of the plane; y points down
  std::string unit;              // of box values: "bytes", "nodes"
  std::vector<DiagramBox> boxes;
  std::vector<DiagramArrow> arrows;

  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

std::string_view label_of(BoxState state);

}  // namespace headroom::lessons
