// Panel: series as bars, marks, lines or stacked areas over named places or a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"

namespace headroom::lessons {

// Whose numbers a series of a chart has: its ink, its mark and its line. Color belongs to memory.
enum class SeriesKind : std::uint8_t { kFused, kEager, kLibrary, kOther };

struct ChartPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;    // quantiles 0.2 and 0.8 of y; both y where there is no spread
  std::string label = {};      // "42 µs", where there is room
  std::string tip = {};        // "RMSNorm, 8,192 × 4,096: 42 µs (41 to 43), 51 repeats"
  bool out_of_memory = false;  // y is what was allocated until then, or, if `would_be`, what it would have taken
  bool would_be = false;
};

struct ChartSeries {
  std::string label;  // "eager"
  SeriesKind kind = SeriesKind::kOther;
  bool published = false;                         // measured elsewhere: behind the others, hollow and dashed
  std::optional<record::Category> category = {};  // of bars: memory of this kind, in its color
  std::vector<ChartPoint> points;
  bool named_at_end = false;  // of marks: beside its last point where there is room, and not in the legend
  std::string legend = {};    // that several series share; empty: its label
  bool over = false;          // of stacked areas: marks and their line over the stack, not in it
};

// What the device itself can do, dashed: a level or a roof. Two points or more.
struct ChartReference {
  std::string label;  // "copy, 4.27 TB/s"
  std::vector<double> x, y;
  bool limit = false;  // a card's memory: what is above it does not fit
};

// A stretch of the x axis behind the series, with its name at the top. Tone: which of the phases' grays.
struct ChartSpan {
  std::string label;
  double low = 0, high = 0;
  int tone = 0;
};

// One plot of series over named places or a number; several are side by side.
struct Chart {
  std::string title;  // above it; empty where the figure's title says it
  Axis x, y;
  std::vector<std::string> categories;  // of an x axis of kCategory
  bool bars = false;                    // else marks joined by lines
  bool joined = true;                   // marks: false where neighbors are no sequence
  bool stacked = false;                 // bars of one place, or areas, are stacked, the first series at the bottom
  std::vector<ChartSeries> series;
  std::vector<ChartReference> references;
  std::vector<ChartSpan> spans;
  bool asked = false;  // the question is about its y axis, which carries the reader's guess
};

}  // namespace headroom::lessons
