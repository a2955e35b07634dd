// A value in a number format: bits to flip, rounding around it, and range and precision of eight formats.
#include "lessons/theory/number_format.h"
#include "lessons/params.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "demos/record/units.h"
#include "lessons/figure.h"

namespace headroom::lessons {
namespace {

constexpr double kMostValue = 0x1.fffffep127;
constexpr auto kFormats = [] {
  std::array<record::Choice, kNumberFormats.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) choices[i] = {kNumberFormats[i].key, kNumberFormats[i].name};
  return choices;
}();
constexpr std::array<record::Choice, 3> kRoundings{
    {{"nearest", "to nearest"}, {"toward_zero", "toward zero"}, {"stochastic", "stochastically"}}};
constexpr std::array kNumberFormatSchema{
    experiments::choice("format", "Format", "Format that stores the value", kFormats, "bf16"),
    experiments::choice("round", "Round", "Neighbor that replaces a value that the format cannot represent", kRoundings,
                        "nearest"),
    real_param("value", "Value", "Value to store; clicking a bit flips it and changes the value", -kMostValue,
               kMostValue, 1),
};

Rounding rounding_of(const record::Params& params) {
  const std::string& key = params.text("round");
  return key == "nearest" ? Rounding::kNearest : key == "stochastic" ? Rounding::kStochastic : Rounding::kTowardZero;
}

std::string exact(double value) { return number_text(value, 9); }

// Bits from the highest down in groups, with names above and meanings below.
class BitDiagram {
 public:
  BitDiagram(const NumberFormat& format, double number) : format_(format), code_(code_of(format, number)) {
    // Fits fp32's 32 bits with gaps, or TF32's 19; shorter formats are narrower.
    diagram_.width = format.bits() > 19 ? 36 : 24;
    diagram_.height = 3.2;
    diagram_.unit = "bits";
    group("sign", 1, std::signbit(number) ? "−" : "+");
    if (!format.whole()) group("exponent", format.exponent_bits, exponent_words(number));
    group(format.whole() ? "whole number" : "fraction", format.fraction_bits,
          format.whole() ? exact(number) : fraction_words(number));
  }

  Diagram take(std::string title) {
    diagram_.title = std::move(title);
    return std::move(diagram_);
  }

 private:
  static constexpr double kMargin = 0.7, kGap = 1.4, kWords = 0.8, kBits = 0.95, kMeanings = 2.35;

  bool is_subnormal(double number) const { return std::abs(number) < std::ldexp(1.0, format_.least_normal()); }

  std::string exponent_words(double number) const {
    if (!std::isfinite(number)) return "all ones";
    return power_of_two(number == 0 || is_subnormal(number) ? format_.least_normal() : std::ilogb(number));
  }

  std::string fraction_words(double number) const {
    if (!std::isfinite(number)) return number_text(std::abs(number));
    const int exponent = number == 0 || is_subnormal(number) ? format_.least_normal() : std::ilogb(number);
    return "× " + exact(std::ldexp(std::abs(number), -exponent));
  }

  void words(const std::string& id, double y, double width, std::string text) {
    diagram_.boxes.push_back({.id = id,
                              .x = x_ - kMargin,
                              .y = y,
                              .width = width + 2 * kMargin,
                              .height = kWords,
                              .label = std::move(text)});
  }

  void group(const std::string& name, int bits, std::string meaning) {
    words(name, 0, bits, name);
    words(name + "_means", kMeanings, bits, std::move(meaning));
    for (int i = 0; i < bits; ++i) bit(x_ + i);
    x_ += bits + kGap;
  }

  void bit(double x) {
    const int place = --next_;
    const bool one = (code_ >> place & 1U) != 0;
    DiagramBox box{.id = fmt::format("bit{}", place),
                   .x = x,
                   .y = kBits,
                   .width = 0.9,
                   .height = 1.25,
                   .label = one ? "1" : "0",
                   .state = one ? BoxState::kOne : BoxState::kZero,
                   .value = one ? 1 : 0};
    const double flipped = number_of_code(format_, code_ ^ (1U << place));
    box.tip = fmt::format("Click: {}", exact(flipped));
    if (std::isfinite(flipped)) box.action = SetParam{"value", fmt::format("{}", flipped)};
    if (!std::isfinite(flipped)) box.tip = fmt::format("Flipped, it would be {}", number_text(flipped));
    diagram_.boxes.push_back(std::move(box));
  }

  const NumberFormat& format_;
  std::uint32_t code_;
  double x_ = kMargin;
  int next_ = format_.bits();
  Diagram diagram_;
};

// Digits against size: a line's width is the format's range, its height the precision.
Chart ranges(const NumberFormat& chosen) {
  Chart chart;
  chart.title = "How wide and how fine";
  for (const NumberFormat& format : kNumberFormats) {
    const bool own = &format == &chosen;
    ChartSeries series{.label = std::string(format.name), .named_at_end = true};
    series.kind = own ? SeriesKind::kFused : SeriesKind::kOther;
    // So many points per power of two that the line is drawn without marks.
    const int each = 2 + 240 / (format.most_exponent + 1 - format.least());
    series.points.push_back({.x = static_cast<double>(format.least())});
    for (int exponent = format.least(); exponent <= format.most_exponent; ++exponent) {
      const double digits = digits_at(format, exponent);
      for (int i = 0; i < each; ++i) {
        const double x = exponent + static_cast<double>(i) / (each - 1);
        series.points.push_back(exact_point(x, digits));
      }
      series.points.back().tip = fmt::format("{}: {} binary digits from {} up, to at most {}", format.name, digits,
                                             power_of_two(exponent), number_text(format.most));
    }
    chart.series.push_back(std::move(series));
  }
  chart.x = number_axis(-160, 180, "size, as a power of two");
  chart.y = number_axis(0, 28, "binary digits");
  return chart;
}

// Output against input, both in spacings from the middle number.
Chart stairs(const NumberFormat& format, double value, Rounding rounding) {
  const double middle = rounded(format, std::clamp(value, -format.most, format.most));
  const double spacing = spacing_at(format, middle);
  constexpr double kReach = 4;  // spacings shown to each side
  Chart chart;
  chart.title = fmt::format("Around {}: steps of {}", exact(middle), exact(spacing));
  const auto add = [&](std::string label, SeriesKind kind, double random) {
    ChartSeries series{.label = std::move(label), .kind = kind};
    constexpr int kPoints = 320;
    for (int i = 0; i <= kPoints; ++i) {
      const double x = kReach * (2.0 * i / kPoints - 1);
      const double y = (rounded(format, middle + x * spacing, rounding, random) - middle) / spacing;
      if (std::isfinite(y)) series.points.push_back(exact_point(x, y));
    }
    chart.series.push_back(std::move(series));
  };
  if (rounding == Rounding::kStochastic) {
    add("away from zero: the nearer, the likelier", SeriesKind::kFused, 0);
    add("or toward zero", SeriesKind::kOther, 1);
  } else {
    add({}, SeriesKind::kFused, 0);
  }
  const double at = (value - middle) / spacing;
  if (std::abs(at) < kReach) {
    const double y = rounding == Rounding::kStochastic ? at : (rounded(format, value, rounding) - middle) / spacing;
    ChartPoint point = exact_point(at, y, exact(value), exact(value));
    chart.series.push_back({.kind = SeriesKind::kEager, .points = {point}});
  }
  chart.references.push_back({.x = {-kReach, kReach}, .y = {-kReach, kReach}});
  chart.x = number_axis(-kReach, kReach, "goes in, in steps");
  chart.y = number_axis(-kReach, kReach, "comes out");
  return chart;
}

std::string title_of(const NumberFormat& format, double value, double number, Rounding rounding) {
  if (number == value) return fmt::format("{} in {}", exact(value), format.name);
  if (rounding != Rounding::kStochastic)
    return fmt::format("{} becomes {} in {}", exact(value), exact(number), format.name);
  const double other = rounded(format, value, rounding, 0);  // the neighbor away from zero
  return fmt::format("{} becomes {} or {} in {}", exact(value), exact(number), exact(other), format.name);
}

std::string limits(const NumberFormat& format) {
  const std::int64_t from_one = numbers_between(format, 1, 2);
  return fmt::format("; largest {}, smallest {}, {} {} from 1 to 2", number_text(format.most),
                     number_text(std::ldexp(1.0, format.least())), record::format_count(from_one),
                     from_one == 1 ? "number" : "numbers");
}

void add_number_format_panels(FigureData& figure, const FigureInput& input) {
  const NumberFormat& format = number_format(input.params->text("format"));
  const Rounding rounding = rounding_of(*input.params);
  const double value = input.params->real("value");
  constexpr double kNever = 1;  // makes stochastic rounding choose the number nearer to zero
  const double number = rounded(format, value, rounding, kNever);
  figure.head.provenance_line =
      fmt::format("{}, rounded {}", format.name, record::label_of(kNumberFormatSchema[1], input.params->text("round")));
  figure.add(BitDiagram(format, number)
                 .take(title_of(format, value, number, rounding) + (input.view.hidden ? "" : limits(format))));
  if (input.view.hidden) return;
  figure.add(stairs(format, value, rounding));
  figure.add(ranges(format));
}

}  // namespace

extern const Figure kNumberFormat;
constinit const Figure kNumberFormat{
    .id = "number_format",
    .title = "Which numbers exist",
    .caption = "A value's bits in a number format, how it is rounded, and the range and precision of eight formats",
    .schema = kNumberFormatSchema,
    .basis = Basis::kParameters,
    .add_panels = add_number_format_panels,
};

}  // namespace headroom::lessons
