// Panel: numbers in cells, on one gray ramp from the least to the most, or by what they mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demos/predict/fits.h"

namespace headroom::lessons {

struct MapCell {
  std::size_t row = 0, column = 0;
};

struct HeatMap {
  std::string title;
  std::vector<std::string> columns, rows;      // names of the places, as many as cells; or no columns
  int named_every = 1;                         // below the columns: the name in the middle of each so many
  std::vector<std::vector<double>> cells;      // by row; not a number: an empty cell
  double low = 0, high = 1;                    // of the ramp
  std::string low_text, high_text;             // what the ends of the ramp mean
  std::vector<std::vector<std::string>> tips;  // of the cells; may be empty
  bool numbers = true;                         // written into the cells, where there is room
  // Of the cells, in place of the ramp, with a line around those that fit; empty: on the ramp.
  std::vector<std::vector<predict::Verdict>> states = {};
  std::optional<MapCell> chosen = {};  // that of the settings
  std::string x_name = {};             // what the columns are, below their names
};

}  // namespace headroom::lessons
