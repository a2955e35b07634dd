// Panel: series as bars, marks, lines or stacked areas over categories or numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/axis.h"
#include "lessons/panels/file_table.h"

namespace headroom::lessons {

// Sets a series's ink, mark and line, because color is reserved for memory.
enum class SeriesKind : std::uint8_t { kFused, kEager, kLibrary, kOther };

struct ChartPoint {
  double x = 0, y = 0;
  double low = 0, high = 0;  // quantiles 0.2 and 0.8 of y; without spread, both are y
  std::string label = {};    // drawn if it fits
  std::string tip = {};
  bool out_of_memory = false;  // y: bytes allocated by then or, if `would_be`, bytes needed
  bool would_be = false;
};

inline ChartPoint exact_point(double x, double y, std::string tip = {}, std::string label = {}) {
  return {.x = x, .y = y, .low = y, .high = y, .label = std::move(label), .tip = std::move(tip)};
}

struct ChartSeries {
  std::string label;
  SeriesKind kind = SeriesKind::kOther;
  bool published = false;                         // measured elsewhere: hollow and dashed, behind the others
  std::optional<record::Category> category = {};  // bars in this kind's color
  std::vector<ChartPoint> points;
  bool named_at_end = false;  // its label is at its last point, not in the legend
  std::string legend = {};    // entry shared by several series; empty: `label`
  bool over = false;          // a marked line over stacked areas
};

// A dashed level or roof, with two points or more.
struct ChartReference {
  std::string label;
  std::vector<double> x, y;
  bool limit = false;  // it is a card's memory
};

// A named stretch of the x axis behind the series. `tone`: which of the phases' grays.
struct ChartSpan {
  std::string label;
  double low = 0, high = 0;
  int tone = 0;
};

struct Chart {
  std::string title;
  Axis x, y;
  std::vector<std::string> categories;  // names for kCategory
  bool bars = false;                    // false: marks joined by lines
  bool joined = true;                   // false: the marks are no sequence
  bool stacked = false;                 // stacks bars or areas, the first series at the bottom
  std::vector<ChartSeries> series;
  std::vector<ChartReference> references;
  std::vector<ChartSpan> spans;
  bool asked = false;  // its y axis carries the reader's guess

  void add_level(std::string label, double level, bool limit = false) {
    references.push_back({std::move(label), {x.low, x.high}, {level, level}, limit});
  }

  Axes axes() const { return {x, y}; }
  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

std::pair<double, double> range_of(const std::vector<ChartSeries>& series, double ChartPoint::*member);

// Columns of a chart's table, shared by similar panels.
std::vector<Cell> chart_columns();

}  // namespace headroom::lessons
