// A square GEMM per number format: the fastest next to the data sheet's peak, and the rate at each size.
#include <algorithm>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/measurements/product_peaks.h"
#include "lessons/shown_unit.h"

namespace headroom::lessons {
namespace {

using record::Measurement;
using record::Recording;

// A run with GEMM rates: the shown run or one of the page's other runs.
const Recording* rates_of(const FigureInput& input) {
  if (input.run != nullptr && has_product_rates(input.run->recording())) return &input.run->recording();
  for (const record::Ledger* each : input.beside)
    if (has_product_rates(each->recording())) return &each->recording();
  return nullptr;
}

std::string format_name(const std::string& storage) { return storage == "tf32" ? "TF32" : storage; }

struct Units {
  ShownUnit rate, time;
};

std::string tip_of(const Measurement& row, const Units& units) {
  const auto at = [&](double nanoseconds) { return in_unit(row.flops / nanoseconds * 1e9, units.rate); };
  return fmt::format("{}, {} × {} × {}: {} ({} to {}), {}, {} repeats", format_name(row.storage),
                     record::format_count(row.rows), record::format_count(row.rows), record::format_count(row.rows),
                     amount_text(product_rate(row), units.rate), at(row.high), at(row.low),
                     amount_text(row.median, units.time), row.samples);
}

ChartPoint point_of(const Measurement& row, double x, const Units& units) {
  return {.x = x,
          .y = product_rate(row),
          .low = row.flops / row.high * 1e9,
          .high = row.flops / row.low * 1e9,
          .label = in_unit(product_rate(row), units.rate),
          .tip = tip_of(row, units)};
}

// The data sheet's peak of the format; 0 if missing.
double sheet_peak(const predict::Card* card, std::string_view format) {
  const CardPeak peak = card_peak(format);
  return card == nullptr || peak == nullptr ? 0 : (card->*peak).value_or(0);
}

Chart peaks_of(const std::vector<const Measurement*>& fastest, const predict::Card* card, const Units& units) {
  Chart chart{.title = "The fastest size of each format", .bars = true};
  ChartSeries sheet{.label = "data sheet", .kind = SeriesKind::kOther, .published = true};
  ChartSeries measured{.label = "measured", .kind = SeriesKind::kFused};
  for (const Measurement* row : fastest) {
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(format_name(row->storage));
    measured.points.push_back(point_of(*row, x, units));
    const double peak = sheet_peak(card, row->storage);
    if (peak <= 0) continue;
    sheet.points.push_back(exact_point(x, peak,
                                       fmt::format("{}: {} by the data sheet of the {}", format_name(row->storage),
                                                   amount_text(peak, units.rate), card->name),
                                       in_unit(peak, units.rate)));
    measured.points.back().tip += fmt::format("; {:.0f} % of the data sheet's", 100 * product_rate(*row) / peak);
  }
  if (!sheet.points.empty()) chart.series.push_back(std::move(sheet));
  chart.series.push_back(std::move(measured));
  chart.x = category_axis(chart.categories.size());
  chart.y = {.unit = AxisUnit::kFlopsPerSecond, .shown = units.rate};
  fit_y(chart);
  return chart;
}

Table sizes_of(const Recording& rates, const std::vector<const Measurement*>& fastest, const Units& units) {
  std::vector<std::int64_t> sides;
  for (const Measurement& row : rates.measurements())
    if (row.panel == Measurement::kProductRates && std::ranges::find(sides, row.rows) == sides.end())
      sides.push_back(row.rows);
  std::ranges::sort(sides);
  Table table{.head = fmt::format("{} by matrix side N", units.rate.name)};
  for (const std::int64_t side : sides) table.columns.push_back(record::format_count(side));
  for (const Measurement* top : fastest) {
    TableRow row{.category = {}, .name = format_name(top->storage), .tip = tip_of(*top, units)};
    for (const std::int64_t side : sides) {
      const auto found = std::ranges::find_if(rates.measurements(), [&](const Measurement& each) {
        return each.panel == Measurement::kProductRates && each.storage == top->storage && each.rows == side;
      });
      const bool measured = found != rates.measurements().end();
      row.cells.push_back(!measured            ? std::string("–")
                          : found->median <= 0 ? std::string("no memory")
                                               : in_unit(product_rate(*found), units.rate));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

void add_product_rates_panels(FigureData& figure, const FigureInput& input) {
  const Recording* const rates = rates_of(input);
  if (rates == nullptr) return figure.leave_empty("No GEMMs were timed here: run `headroom bench products`.");
  set_run(figure.head, *rates, *input.params);
  const std::vector<const Measurement*> fastest = fastest_products(*rates);
  const predict::Card* const card = card_of(*rates);
  double most = 0, longest = 0;
  for (const Measurement* row : fastest) {
    longest = std::max(longest, row->median);
    most = std::max({most, product_rate(*row), sheet_peak(card, row->storage)});
  }
  const Units units{.rate = unit_for(AxisUnit::kFlopsPerSecond, most), .time = time_unit(longest)};
  figure.add(peaks_of(fastest, card, units));
  if (rates->measurements().size() > fastest.size()) figure.add(sizes_of(*rates, fastest, units));
}

}  // namespace

extern const Figure kProductRates;
constinit const Figure kProductRates{
    .id = "product_rates",
    .title = "Rates of matrix products",
    .caption = "What one large GEMM reaches in each number format, next to the data sheet's peak, and by its size",
    .schema = {},
    .add_panels = add_product_rates_panels,
};

}  // namespace headroom::lessons
