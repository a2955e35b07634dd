#include "app/cli/commands/bench.h"

#include <fmt/format.h>

#include "lessons/measurements/bench.h"
#include "lessons/measurements/product_peaks.h"

namespace headroom::app {

using record::Measurement;
using record::Recording;

namespace {

bool same_case(const Measurement& a, const Measurement& b) {
  return a.panel == b.panel && a.pass == b.pass && a.storage == b.storage && a.label == b.label && a.rows == b.rows &&
         a.width == b.width && a.vocab == b.vocab;
}

// The same case in another form or timing; null if not measured or out of memory.
const Measurement* beside(const Recording& recording, const Measurement& row, std::string_view variant,
                          std::string_view timing) {
  for (const Measurement& other : recording.measurements())
    if (other.variant == variant && other.timing == timing && other.samples > 0 && same_case(other, row)) return &other;
  return nullptr;
}

std::string or_blank(double value, std::string text) { return value >= 0 ? std::move(text) : std::string(); }

std::string column(const Recording& recording, const Measurement& row, std::string_view timing) {
  const Measurement* other = beside(recording, row, row.variant, timing);
  return other == nullptr ? std::string() : lessons::time_text(other->median);
}

std::string form_line(const Recording& recording, const Measurement& row) {
  const std::string name = fmt::format("    {:<9} {:<24}", row.pass, lessons::variant_label(row.variant));
  if (row.samples == 0) return name + " out of memory\n";
  const BenchRow beside_it = bench_row(recording, row);
  const double mib = static_cast<double>(row.extra_memory) / static_cast<double>(record::kMiB);
  // GPU rows show the cold time first, then graph and host times.
  const bool cold = row.timing == "cold";
  return fmt::format(
      "{} {:>9} {:>19} {:>3} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9}\n", name, lessons::time_text(row.median),
      fmt::format("[{}, {}]", lessons::time_text(row.low), lessons::time_text(row.high)), row.samples,
      or_blank(beside_it.bytes_per_second,
               fmt::format("{:.{}f}", beside_it.bytes_per_second / 1e9, beside_it.bytes_per_second < 1e11 ? 1 : 0)),
      or_blank(beside_it.part_of_copy, fmt::format("{:.1f} %", 100 * beside_it.part_of_copy)),
      beside_it.to_products >= 0 ? fmt::format("{:.3f} P", beside_it.to_products)
                                 : or_blank(beside_it.over_eager, fmt::format("{:.2f}x", beside_it.over_eager)),
      or_blank(mib, fmt::format("{:.1f}", mib)), or_blank(row.error, fmt::format("{:.1e}", row.error)),
      cold ? column(recording, row, "graph") : "", cold ? column(recording, row, "wall") : "");
}

std::string head_of(const Measurement& row) {
  std::string shape = record::format_count(row.rows) + " × " + record::format_count(row.width);
  if (row.vocab > 0) shape += ", V " + record::format_count(row.vocab);
  if (!row.label.empty()) shape += ", " + row.label;
  const std::string where = row.panel.starts_with("report.") ? " (the report's panel)" : "";
  return fmt::format("{}{}  {}  {}\n", lessons::panel_title(row.panel), where, shape, row.storage);
}

std::string copy_line(const Recording& recording) {
  for (const Measurement& row : recording.measurements())
    if (row.panel == Measurement::kCopy && row.median > 0)
      return fmt::format("large copy: {} of reads and writes in {}, {:.0f} GB/s\n", record::format_bytes(row.bytes),
                         lessons::time_text(row.median), static_cast<double>(row.bytes) / row.median);
  return {};
}

constexpr double kTera = 1e12;

std::string line_of(const Measurement& row) {
  const std::string name = fmt::format("  {:<6} {:>7}", row.storage, record::format_count(row.rows));
  if (row.median <= 0) return name + "  out of memory\n";
  return fmt::format("{} {:>9} {:>21} {:>4} {:>9.4g}\n", name, lessons::time_text(row.median),
                     fmt::format("[{}, {}]", lessons::time_text(row.low), lessons::time_text(row.high)), row.samples,
                     lessons::product_rate(row) / kTera);
}

std::string device_line(const Recording& recording) {
  const std::string device = record::fact_of(recording.info().provenance, "device");
  return device.empty() ? "" : device + "\n";
}

}  // namespace

BenchRow bench_row(const Recording& recording, const Measurement& row) {
  BenchRow result;
  if (row.median <= 0) return result;
  if (const Measurement* copy = beside(recording, row, "copy", row.timing)) {
    result.bytes_per_second = static_cast<double>(row.bytes) / row.median * 1e9;
    result.part_of_copy = copy->median / row.median;
  } else if (row.panel == Measurement::kCopy) {
    result.bytes_per_second = static_cast<double>(row.bytes) / row.median * 1e9;
  }
  if (const Measurement* eager = beside(recording, row, "eager", row.timing); eager != nullptr && row.variant != "copy")
    result.over_eager = eager->median / row.median;
  if (const Measurement* products = beside(recording, row, "matmul", row.timing))
    result.to_products = row.median / products->median;
  return result;
}

std::string bench_table(const Recording& recording) {
  std::string text = device_line(recording) + copy_line(recording);
  const std::string main = lessons::main_timing(recording);
  text += main == "cold" ? "time: device, cold cache, [20 %, 80 %]; graph: replay; host: launch and wait\n"
                         : "time: the host's clock, [20 %, 80 %]\n";
  text +=
      "P: time as a multiple of the three full GEMMs; MiB: memory beyond the inputs (for fused linear cross entropy, "
      "also beyond gradients)\n\n";
  text += fmt::format("    {:<9} {:<24} {:>9} {:>19} {:>3} {:>7} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "pass", "form",
                      "time", "[20 %, 80 %]", "n", "GB/s", "of copy", "speed", "MiB", "error",
                      main == "cold" ? "graph" : "", main == "cold" ? "host" : "");
  const Measurement* before = nullptr;
  for (const Measurement& row : recording.measurements()) {
    if (row.timing != main || row.panel == Measurement::kCopy) continue;
    Measurement shape = row;
    if (before != nullptr) shape.pass = before->pass;  // the passes of one shape share a heading line
    if (before == nullptr || !same_case(*before, shape)) text += head_of(row);
    text += form_line(recording, row);
    before = &row;
  }
  return text;
}

std::string product_table(const Recording& recording) {
  std::string text = device_line(recording);
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
