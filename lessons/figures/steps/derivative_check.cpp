// One operation's derivative on eight numbers in fp64: by its kernel's formula and by finite differences, and the
// difference of the two.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "lessons/figure.h"
#include "lessons/params.h"
#include "lessons/random.h"
#include "lessons/theory/derivatives.h"

namespace headroom::lessons {
namespace {

constexpr std::array kDerivativeCheckSchema{
    experiments::choice("operation", "Operation", "Function whose derivative is checked", kDerivativeNames, "rms_norm"),
    whole_param("numbers", "Numbers", "Seed of the eight numbers x and of dy; each draws others", 1, 999, 1),
    whole_param("element", "Element", "Which of the eight gets the value set next to it; 0: none", 0, 8, 0),
    whole_param("value", "Its value × 100", "Value of that element in hundredths: 250 is 2.5", 0, 400, 100),
    whole_param("digits", "Digits of h", "Step of the differences: h = 10 to the power of minus this", 1, 14, 5),
    experiments::needs(whole_param("position", "Position", "Position of the token in its sequence", 0, 131'071, 7),
                       "operation", "rope"),
    experiments::needs(whole_param("label", "Label", "Which of the eight entries is the right one", 1, 8, 3),
                       "operation", "cross_entropy"),
};

// Draws numbers from −2 to 2 in hundredths, the same on every machine.
class Draw {
 public:
  explicit Draw(std::int64_t seed) : state_(static_cast<std::uint64_t>(seed) * kGolden) {}
  double next() { return static_cast<double>(next_random(state_) % 401) / 100 - 2; }

 private:
  std::uint64_t state_;
};

DerivativeInput drawn(const record::Params& params) {
  Draw draw(params.integer("numbers"));
  DerivativeInput in;
  for (double& each : in.x) each = draw.next();
  for (double& each : in.dy) each = draw.next();
  for (double& each : in.weight) each = 1 + draw.next() / 4;
  if (params.text("operation") == "cross_entropy") in.dy = {1};  // y is the loss itself
  if (const std::int64_t element = params.integer("element"); element > 0)
    in.x[static_cast<std::size_t>(element - 1)] = static_cast<double>(params.integer("value")) / 100;
  in.position = params.integer("position");
  in.label = static_cast<std::size_t>(params.integer("label") - 1);
  return in;
}

std::size_t index_of(const record::Params& params) {
  const auto found = std::ranges::find(derivatives(), params.text("operation"), &Derivative::key);
  return static_cast<std::size_t>(found - derivatives().begin());
}

std::string number(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.starts_with('-')) text = "−" + text.substr(1);
  return text;
}

// "2e−11", or "0".
std::string small(double value) {
  if (value == 0) return "0";
  const std::string text = fmt::format("{:.0e}", value);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  return fmt::format("{}e{}{}", text.substr(0, e), exponent < 0 ? "−" : "", std::abs(exponent));
}

// "x4"; for SwiGLU "a4" and "b1".
std::string name_of(const Derivative& operation, std::size_t i) {
  if (operation.key != "swiglu") return fmt::format("x{}", i + 1);
  return i < kEight / 2 ? fmt::format("a{}", i + 1) : fmt::format("b{}", i + 1 - kEight / 2);
}

struct Checked {
  const Derivative& operation;
  DerivativeInput in;
  Eight formula, differences;

  double largest() const {
    double most = 0;
    for (std::size_t i = 0; i < kEight; ++i) most = std::max(most, std::abs(formula[i] - differences[i]));
    return most;
  }
};

// Marks are side by side, as equal marks would cover each other. `shift` is from the middle.
ChartSeries series(const Checked& checked, const Eight& values, std::string label, SeriesKind kind, double shift) {
  ChartSeries made{.label = std::move(label), .kind = kind};
  for (std::size_t i = 0; i < kEight; ++i)
    made.points.push_back(
        exact_point(static_cast<double>(i) + shift, values[i],
                    fmt::format("{}: {} {}", name_of(checked.operation, i), made.label, number(values[i], 6))));
  return made;
}

Chart derivatives_chart(const Checked& checked, bool hidden) {
  Chart chart{.title = "dx, element by element"};
  chart.joined = false;
  if (checked.operation.key == "rms_norm" && !hidden)
    chart.series.push_back(
        series(checked, rms_norm_first_term(checked.in), "first term alone, g / r", SeriesKind::kEager, -0.2));
  chart.series.push_back(series(checked, checked.formula, "by the formula", SeriesKind::kFused, 0));
  chart.series.push_back(series(checked, checked.differences, "by differences", SeriesKind::kLibrary, 0.2));
  const auto [low, high] = range_of(chart.series, &ChartPoint::y);
  const double most = std::max({0.1, -low, high});
  for (std::size_t i = 0; i < kEight; ++i) chart.categories.push_back(name_of(checked.operation, i));
  chart.x = category_axis(kEight);
  chart.y = {.unit = AxisUnit::kNumber, .low = -1.15 * most, .high = 1.15 * most};
  return chart;
}

// The component of dx along x; for RMSNorm, also that of dx's first term.
std::string along_x(const Checked& checked) {
  const double along = dot(checked.in.x, checked.formula);
  if (checked.operation.key == "rms_norm")
    return fmt::format("Dot product with x: {} for the first term alone, {} for dx.",
                       number(dot(checked.in.x, rms_norm_first_term(checked.in)), 4), number(along, 4));
  return fmt::format("Dot product of dx with x: {}.", number(along, 4));
}

template <class Text>
TableRow row(std::string name, Text text) {
  TableRow made{.name = std::move(name)};
  for (std::size_t i = 0; i < kEight; ++i) made.cells.push_back(text(i));
  return made;
}

Table numbers_of(const Checked& checked, bool hidden) {
  Table table{.head = "in fp64"};
  for (std::size_t i = 0; i < kEight; ++i) table.columns.push_back(name_of(checked.operation, i));
  const std::size_t results = checked.operation.forward(checked.in).size();
  table.rows = {
      row("x", [&](std::size_t i) { return number(checked.in.x[i], 2); }),
      row("dy", [&](std::size_t i) { return i < results ? number(checked.in.dy[i], 2) : std::string(); }),
      row("dx, formula", [&](std::size_t i) { return number(checked.formula[i], 4); }),
      row("differences", [&](std::size_t i) { return number(checked.differences[i], 4); }),
      row("apart", [&](std::size_t i) { return small(std::abs(checked.formula[i] - checked.differences[i])); })};
  table.foot = fmt::format("Largest difference: {}.", small(checked.largest()));
  if (!hidden) table.foot += " " + along_x(checked);
  return table;
}

void add_derivative_check_panels(FigureData& figure, const FigureInput& input) {
  const record::Params& params = *input.params;
  const Derivative& operation = derivatives()[index_of(params)];
  const DerivativeInput in = drawn(params);
  const double h = std::pow(10.0, -static_cast<double>(params.integer("digits")));
  const Checked checked{operation, in, operation.formula(in), differences(operation, in, h)};
  figure.head.provenance_line = fmt::format("{}, fp64, h = {}", operation.label, small(h));
  figure.add(derivatives_chart(checked, input.view.hidden));
  figure.add(numbers_of(checked, input.view.hidden));
}

}  // namespace

extern const Figure kDerivativeCheck;
constinit const Figure kDerivativeCheck{
    .id = "derivative_check",
    .title = "The derivative, derived and checked",
    .caption = "Gradients of eight numbers by the formula of a kernel and by finite differences",
    .schema = kDerivativeCheckSchema,
    .basis = Basis::kParameters,
    .add_panels = add_derivative_check_panels,
};

}  // namespace headroom::lessons
