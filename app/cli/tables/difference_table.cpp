#include "app/cli/tables/difference_table.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/tables/text_table.h"
#include "demos/record/text.h"
#include "lessons/shown_unit.h"

namespace headroom::app {

using lessons::DifferenceRow;
using lessons::StepDifference;
using nlohmann::json;

namespace {

// One table with a head per group, so that all columns are aligned.
class Rows {
 public:
  Rows(const lessons::ShownUnit& unit, const ComparedSide& run, const ComparedSide& other) : unit_(unit) {
    rows_.push_back({"", other.name, run.name, "difference"});
  }

  void add(std::string_view head, const std::vector<DifferenceRow>& rows) {
    rows_.push_back({std::string(head), "", "", ""});
    for (const DifferenceRow& row : rows) add(row, "  ");
  }
  void add(const DifferenceRow& row, std::string_view indent = {}) {
    rows_.push_back({std::string(indent) + row.name, lessons::bytes_text(row.other, unit_),
                     lessons::bytes_text(row.run, unit_), lessons::change_text(row.change(), unit_)});
  }
  std::string text() const { return text_table(rows_, 1); }

 private:
  lessons::ShownUnit unit_;
  std::vector<std::vector<std::string>> rows_;
};

json row_json(const DifferenceRow& row, const ComparedSide& run, const ComparedSide& other) {
  return {{"name", row.name},
          {other.key + "_bytes", row.other},
          {run.key + "_bytes", row.run},
          {"difference_bytes", row.change()}};
}

json rows_json(const std::vector<DifferenceRow>& rows, const ComparedSide& run, const ComparedSide& other) {
  json all = json::array();
  for (const DifferenceRow& row : rows) all.push_back(row_json(row, run, other));
  return all;
}

}  // namespace

std::string difference_text(const StepDifference& difference, const ComparedSide& run, const ComparedSide& other) {
  std::string text = "  " + lessons::difference_words(difference) + ".\n";
  if (const auto& parting = difference.pairs.parting()) {
    const lessons::PartingWords words =
        parting_words(*parting, run.ledger, other.ledger, lessons::EventBytes::kRounded);
    const std::size_t widest = std::max(run.name.size(), other.name.size()) + 1;
    text += fmt::format("    {:<{}} {}\n    {:<{}} {}\n", other.name + ":", widest, record::printable(words.other),
                        run.name + ":", widest, record::printable(words.run));
  }
  const record::Bytes most = std::max(difference.peak.run, difference.peak.other);
  Rows rows(lessons::byte_unit(static_cast<double>(most)), run, other);
  rows.add(difference.peak);
  rows.add("At the peak, by kind", difference.kinds);
  rows.add("At the peak, by layer", difference.layers);
  rows.add("Peak of each phase", difference.phases);
  return text + rows.text();
}

json difference_json(const StepDifference& difference, const ComparedSide& run, const ComparedSide& other) {
  json parting = nullptr;
  if (difference.pairs.parting()) {
    const lessons::PartingWords words =
        parting_words(*difference.pairs.parting(), run.ledger, other.ledger, lessons::EventBytes::kExact);
    parting = {{other.key, words.other}, {run.key, words.run}};
  }
  return {{"equal", difference.pairs.equal()},
          {"equal_events", difference.pairs.size()},
          {"first_difference", parting},
          {"peak", row_json(difference.peak, run, other)},
          {"kinds", rows_json(difference.kinds, run, other)},
          {"layers", rows_json(difference.layers, run, other)},
          {"phases", rows_json(difference.phases, run, other)}};
}

}  // namespace headroom::app
