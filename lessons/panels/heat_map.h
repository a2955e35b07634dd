// Panel: numbers in cells, one gray ramp from the least to the most.
#pragma once

#include <string>
#include <vector>

namespace headroom::lessons {

struct HeatMap {
  std::string title;
  std::vector<std::string> columns, rows;      // names of the places, as many as cells; or no columns
  int named_every = 1;                         // below the columns: the name in the middle of each so many
  std::vector<std::vector<double>> cells;      // by row; not a number: an empty cell
  double low = 0, high = 1;                    // of the ramp
  std::string low_text, high_text;             // what the ends of the ramp mean
  std::vector<std::vector<std::string>> tips;  // of the cells; may be empty
  bool numbers = true;                         // written into the cells, where there is room
};

}  // namespace headroom::lessons
