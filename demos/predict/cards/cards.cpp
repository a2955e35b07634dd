// The table of cards, embedded by CMake.
#include "demos/predict/cards/cards.h"

#include <vector>

#include "cards_csv.h"  // assets/cards.csv, by CMake
#include "demos/record/file/csv.h"

namespace headroom::predict {

namespace {

std::optional<double> scaled(const std::optional<double>& number, double unit) {
  return number ? std::optional(*number * unit) : std::nullopt;
}

Card card_of(const record::CsvRow& row) {
  constexpr double kTera = 1e12;
  const auto peak = [&row](std::string_view format) { return scaled(row.number_if_known(format), kTera); };
  Card card{.name = row.text("name"),
            .driver_name = row.text("driver_name"),
            .compute_capability = row.number_if_known("compute_capability"),
            .bandwidth = scaled(row.number_if_known("bandwidth_gb_per_s"), 1e9),
            .fp32 = peak("fp32"),
            .tf32 = peak("tf32"),
            .bf16 = peak("bf16"),
            .fp16 = peak("fp16"),
            .fp8 = peak("fp8"),
            .source = row.text("source")};
  if (!row.text("memory_mib").empty()) card.memory = row.whole("memory_mib") * record::kMiB;
  return card;
}

}  // namespace

std::span<const Card> cards() {
  static const std::vector<Card> all = [] {
    std::vector<Card> table;
    for (const record::CsvRow& row : record::csv_rows(kCardsCsv, "assets/cards.csv")) table.push_back(card_of(row));
    return table;
  }();
  return all;
}

}  // namespace headroom::predict
