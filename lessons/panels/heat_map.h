// Panel: numbers in cells, on a gray ramp or by verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/predict/fits.h"
#include "lessons/panels/file_table.h"

namespace headroom::lessons {

struct MapCell {
  std::size_t row = 0, column = 0;
};

struct HeatMap {
  std::string title;
  std::vector<std::string> columns, rows;      // names, as many as cells; columns may be empty
  int named_every = 1;                         // only the middle one of so many columns is named
  std::vector<std::vector<double>> cells;      // by row; NaN: empty
  double low = 0, high = 1;                    // of the ramp
  std::string low_text, high_text;             // meaning of the ramp's ends
  std::vector<std::vector<std::string>> tips;  // may be empty
  bool numbers = true;                         // written into the cells if they fit
  // Verdicts that replace the ramp if not empty, with a border around cells that fit.
  std::vector<std::vector<predict::Verdict>> states = {};
  std::optional<MapCell> chosen = {};  // cell of the settings
  std::string x_name = {};             // below the columns' names

  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
