// Reads CSV tables: lines of files, and whole tables that CMake compiles in (headroom_embed).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::record {

// In quotes, a comma is text and "" is a quote.
std::vector<std::string> csv_fields(std::string_view line);

// A missing column or a wrong number is a bug and throws.
class CsvRow {
 public:
  using Fields = std::map<std::string, std::string, std::less<>>;
  CsvRow(std::string_view file, Fields fields) : file_(file), fields_(std::move(fields)) {}

  const std::string& text(std::string_view column) const;
  std::int64_t whole(std::string_view column) const;
  double number(std::string_view column) const;
  std::optional<double> number_if_known(std::string_view column) const;

 private:
  template <class Number>
  Number parsed(std::string_view column) const;

  std::string_view file_;
  Fields fields_;
};

// The first line has the columns' names. Skips empty lines and lines that start with #.
std::vector<CsvRow> csv_rows(std::string_view table, std::string_view file);

}  // namespace headroom::record
