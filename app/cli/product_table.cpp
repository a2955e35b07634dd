#include "app/cli/product_table.h"

#include <fmt/format.h>

#include "lessons/measurements/bench.h"
#include "lessons/measurements/product_peaks.h"

namespace headroom::app {

using record::Measurement;

namespace {

constexpr double kTera = 1e12;

std::string line_of(const Measurement& row) {
  const std::string name = fmt::format("  {:<6} {:>7}", row.storage, record::format_count(row.rows));
  if (row.median <= 0) return name + "  out of memory\n";
  return fmt::format("{} {:>9} {:>21} {:>4} {:>9.4g}\n", name, lessons::time_text(row.median),
                     fmt::format("[{}, {}]", lessons::time_text(row.low), lessons::time_text(row.high)), row.samples,
                     lessons::product_rate(row) / kTera);
}

}  // namespace

std::string product_table(const record::Recording& recording) {
  std::string text;
  const auto device = recording.info().provenance.find("device");
  if (device != recording.info().provenance.end()) text += device->second + "\n";
  text += fmt::format("One GEMM x Wᵀ of N × N matrices; time: {}\n\n", lessons::main_timing(recording) == "cold"
                                                                           ? "device, cold cache, [20 %, 80 %]"
                                                                           : "the host's clock, [20 %, 80 %]");
  text +=
      fmt::format("  {:<6} {:>7} {:>9} {:>21} {:>4} {:>9}\n", "format", "N", "time", "[20 %, 80 %]", "n", "TFLOP/s");
  for (const Measurement& row : recording.measurements()) text += line_of(row);
  const predict::Card* const card = lessons::card_of(recording);
  text += "\nfastest\n";
  for (const Measurement* row : lessons::fastest_products(recording)) {
    const double rate = lessons::product_rate(*row);
    text += fmt::format("  {:<6} {:>8.4g} TFLOP/s", row->storage, rate / kTera);
    const lessons::CardPeak peak = lessons::card_peak(row->storage);
    const double sheet = card == nullptr || peak == nullptr ? 0 : (card->*peak).value_or(0);
    text +=
        sheet > 0 ? fmt::format(", {:.1f} % of the data sheet's {:.4g}\n", 100 * rate / sheet, sheet / kTera) : "\n";
  }
  return text;
}

}  // namespace headroom::app
