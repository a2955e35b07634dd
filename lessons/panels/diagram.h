// Panel: boxes and arrows in abstract units, each box with a state; a click on a box may set a parameter of the figure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"

namespace headroom::lessons {

enum class BoxState : std::uint8_t {
  kPlain,       // part of another box
  kNotYet,      // not computed yet
  kAlive,       // in memory
  kRecomputed,  // in memory, computed a second time
  kFreed,       // computed and no longer in memory
  kSame,        // a part of a model, as in the one that it is compared with
  kChanged,     // and another than there
  kZero,        // a bit of a number
  kOne,         //
};

// What a click does: set this parameter of the figure to this value.
struct SetParam {
  std::string key, value;
};

struct DiagramBox {
  std::string id;                                        // "f2", in files
  double x = 0, y = 0;                                   // upper left corner
  double width = 1, height = 1;                          //
  std::string label = {};                                // "f2"
  std::string note = {};                                 // below it, where there is room: "256 × 128,256"
  BoxState state = BoxState::kPlain;                     //
  double filled = 1;                                     // share of the height that is in memory, from the top
  bool marked = false;                                   // with a second outline: a checkpoint
  record::Category category = record::Category::kOther;  // whose color it has while it is in memory
  std::optional<double> value = {};                      // in files, in the diagram's unit
  std::string tip = {};                                  //
  std::optional<SetParam> action = {};
};

// From the edge of one box to the edge of another, both by index.
struct DiagramArrow {
  std::size_t from = 0, to = 0;
  bool active = false;  // of this frame: ink
  bool dashed = false;  // a second input
};

struct Diagram {
  std::string title;
  double width = 1, height = 1;  // of the abstract plane, y downwards
  std::string unit;              // of the values of boxes: "bytes", "nodes"
  std::vector<DiagramBox> boxes;
  std::vector<DiagramArrow> arrows;
};

std::string_view key_of(BoxState state);    // "not_yet", in files
std::string_view label_of(BoxState state);  // "not computed yet"

}  // namespace headroom::lessons
