// Measured and computed numbers in pages, from assets/text/numbers.csv. A page names them like live numbers:
// {rms_norm.eager.time}.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lessons/pages/document.h"

namespace headroom::lessons {

struct StoredNumber {
  std::string text;    // as printed, "127 µs"; its spaces do not break
  std::string source;  // recording, document or formula
  int line = 0;
  bool used = false;
};
using StoredNumbers = std::map<std::string, StoredNumber, std::less<>>;

// Parses a header, then lines of name,text,source.
StoredNumbers parse_numbers(std::string_view text, std::string_view file, Problems& problems);

// Inserts stored numbers and marks them as used. Live numbers stay; a name of neither kind is a problem.
std::string with_stored_numbers(std::string_view text, std::string_view file, StoredNumbers& numbers,
                                Problems& problems);

void check_numbers_used(const StoredNumbers& numbers, std::string_view file, Problems& problems);

}  // namespace headroom::lessons
