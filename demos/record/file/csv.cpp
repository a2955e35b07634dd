#include "demos/record/file/csv.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/record/file/split.h"

namespace headroom::record {

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

const std::string& CsvRow::text(std::string_view column) const {
  const auto found = fields_.find(column);
  if (found == fields_.end()) throw std::logic_error(fmt::format("{} has no column {}", file_, column));
  return found->second;
}

template <class Number>
Number CsvRow::parsed(std::string_view column) const {
  const std::string& field = text(column);
  Number value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size() || value < 0)
    throw std::logic_error(fmt::format("{}: {} is \"{}\"", file_, column, field));
  return value;
}

std::int64_t CsvRow::whole(std::string_view column) const { return parsed<std::int64_t>(column); }

double CsvRow::number(std::string_view column) const { return parsed<double>(column); }

std::optional<double> CsvRow::number_if_known(std::string_view column) const {
  return text(column).empty() ? std::nullopt : std::optional(number(column));
}

std::vector<CsvRow> csv_rows(std::string_view table, std::string_view file) {
  std::vector<CsvRow> rows;
  std::vector<std::string> columns;
  for (const std::string& line : split(table, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> fields = csv_fields(line);
    if (columns.empty()) {
      columns = fields;
      continue;
    }
    if (fields.size() != columns.size()) throw std::logic_error(fmt::format("{}: {}", file, line));
    CsvRow::Fields named;
    for (std::size_t i = 0; i < fields.size(); ++i) named.emplace(columns[i], fields[i]);
    rows.emplace_back(file, std::move(named));
  }
  return rows;
}

}  // namespace headroom::record
