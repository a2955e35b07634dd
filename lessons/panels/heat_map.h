// Panel: numbers in cells, on a gray ramp or by verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/predict/fits.h"
#include "lessons/panels/file_table.h"
#include "lessons/panels/set_param.h"

namespace headroom::lessons {

struct MapCell {
  std::size_t row = 0, column = 0;
};

struct HeatMap {
  std::string title;
  std::vector<std::string> columns, rows;      // names, one per column or row; columns may be empty
  int named_every = 1;                         // of every so many columns, only the middle one is named
  std::vector<std::vector<double>> cells;      // by row; NaN: empty
  double low = 0, high = 1;                    // ends of the ramp
  std::string low_text, high_text;             // meaning of the ramp's ends
  std::vector<std::vector<std::string>> tips;  // may be empty
  // Settings of the page that a click on a cell sets; may be empty.
  std::vector<std::vector<std::vector<SetParam>>> settings = {};
  bool numbers = true;                         // cells with room show their numbers
  // If not empty, verdicts replace the ramp, with a border around cells that fit.
  std::vector<std::vector<predict::Verdict>> states = {};
  std::optional<MapCell> chosen = {};  // cell of the shown settings
  std::string x_name = {};

  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
