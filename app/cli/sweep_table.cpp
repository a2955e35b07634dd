#include "app/cli/sweep_table.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/record/json_fields.h"

namespace headroom::app {

using nlohmann::json;
using record::OutcomeKind;
using record::SweepPoint;

namespace {

using Row = std::array<std::string, 7>;

std::string ended(OutcomeKind outcome) {
  std::string text(outcome == OutcomeKind::kCompleted ? "done" : record::key_of(outcome));
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

Row row_of(const SweepPoint& point) {
  const auto bytes = [](record::Bytes amount) { return amount > 0 ? record::format_bytes(amount) : std::string(); };
  return {point.series,
          point.label,
          ended(point.outcome.kind),
          bytes(point.peak_allocated),
          bytes(point.peak_reserved),
          point.tokens_per_second > 0 ? fmt::format("{:.1f}", point.tokens_per_second) : "",
          point.loss ? fmt::format("{:.4f}", *point.loss) : ""};
}

// Characters, not bytes: "×" is two of these.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string sweep_table(const record::Recording& sweep) {
  std::vector<Row> rows{{"series", "point", "outcome", "peak", "reserved", "tokens/s", "loss"}};
  for (const SweepPoint& point : sweep.sweep_points()) rows.push_back(row_of(point));
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t widest = 0;
      bool used = false;
      for (const Row& other : rows) {
        widest = std::max(widest, width_of(other[column]));
        used = used || (&other != &rows.front() && !other[column].empty());
      }
      if (!used) continue;
      const std::string pad(widest - width_of(row[column]), ' ');
      const bool number = column >= 3;
      line += (line.empty() ? "  " : "   ") + (number ? pad + row[column] : row[column] + pad);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

json sweep_json(const record::Recording& sweep, std::size_t planned) {
  json points = json::array();
  for (const SweepPoint& point : sweep.sweep_points()) {
    json entry = {{"series", point.series},
                  {"label", point.label},
                  {"params", point.params},
                  {"outcome", record::key_of(point.outcome.kind)},
                  {"message", point.outcome.message},
                  {"peak_bytes", point.peak_allocated},
                  {"peak_requested_bytes", point.peak_requested},
                  {"peak_reserved_bytes", point.peak_reserved},
                  {"peak_host_bytes", point.peak_host},
                  {"peak_by_category", record::to_object(point.peak_by_category)},
                  {"peak_phase", record::key_of(point.peak_phase)},
                  {"tokens_per_second", nullptr},
                  {"loss", point.loss ? json(*point.loss) : json(nullptr)},
                  {"steps", point.steps}};
    if (point.tokens_per_second > 0) {
      entry["tokens_per_second"] = point.tokens_per_second;
      entry["tokens_per_second_spread"] = {{"p20", point.tokens_per_second_low}, {"p80", point.tokens_per_second_high}};
    }
    if (!point.provenance.empty()) entry["provenance"] = point.provenance;
    points.push_back(std::move(entry));
  }
  return {{"demo", sweep.info().demo},
          {"params", sweep.info().params},
          {"provenance", sweep.info().provenance},
          {"device", record::key_of(sweep.info().device)},
          {"planned", planned},
          {"points", std::move(points)}};
}

}  // namespace headroom::app
