// One operation's time against its rows: launches take a constant time, bytes a time in proportion to rows. A form
// takes the longer of the two; the recorded run is a point.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "demos/predict/optimizers.h"
#include "lessons/figure.h"
#include "lessons/measurements/bench.h"
#include "lessons/params.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/steps/step_work.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::KernelSpan;
using record::Recording;

constexpr std::array<record::Choice, 3> kLaunches{{{"5000", "5 µs"}, {"2000", "2 µs"}, {"10000", "10 µs"}}};
// H200: measured on a large copy; others: from data sheets.
constexpr std::array<record::Choice, 4> kBandwidths{{{"4270", "H200, 4,270 GB/s"},
                                                     {"3350", "H100, 3,350 GB/s"},
                                                     {"2039", "A100, 2,039 GB/s"},
                                                     {"1008", "RTX 4090, 1,008 GB/s"}}};
constexpr std::array kLaunchCurveSchema{
    experiments::choice("launch", "Launch", "Host time to launch one kernel or one graph", kLaunches, "5000"),
    experiments::choice("bandwidth", "Bandwidth",
                        "Bandwidth of the device's memory: measured with a copy on an H200, else from data sheets",
                        kBandwidths, "4270"),
};

struct Form {
  std::string_view key;
  SeriesKind kind;
  bool asked = false;        // hidden until the answer
  std::int64_t kernels = 0;  // of the recorded run, like the members below
  std::int64_t launches = 0;
  double bytes = 0, measured = 0;  // measured: ns from first start to last end
};

Form form_of(const Recording& recording, std::string_view key, SeriesKind kind, bool asked) {
  const std::vector<KernelSpan> kernels = kernels_of(recording, key);
  Form form{.key = key, .kind = kind, .asked = asked};
  form.kernels = form.launches = static_cast<std::int64_t>(kernels.size());
  for (const KernelSpan& kernel : kernels) form.bytes += static_cast<double>(kernel.bytes);
  form.measured = length_of(kernels);
  return form;
}

// The graph launches the eager form's kernels with one launch.
std::array<Form, 3> forms_of(const Recording& recording) {
  std::array<Form, 3> forms{form_of(recording, "eager", SeriesKind::kEager, false),
                            form_of(recording, "graph", SeriesKind::kLibrary, true),
                            form_of(recording, "fused", SeriesKind::kFused, false)};
  forms[1].bytes = forms[0].bytes;
  forms[1].launches = std::min<std::int64_t>(1, forms[1].kernels);
  return forms;
}

// Times in ns of launches and of traffic.
struct Model {
  double launch = 0, bytes_per_ns = 0, rows = 0;  // rows: of the recorded run

  double launches(const Form& form) const { return launch * static_cast<double>(form.launches); }
  double traffic(const Form& form, double at) const { return form.bytes / rows * at / bytes_per_ns; }
  double time(const Form& form, double at) const { return std::max(launches(form), traffic(form, at)); }
  // Rows from which bytes take longer than launches.
  double turn(const Form& form) const { return launches(form) / traffic(form, 1); }
};

ChartReference line_of(const Model& model, const Form& form, double until) {
  const double turn = std::min(model.turn(form), until);
  return {.label = fmt::format("{}, formula", form.key),
          .x = {0, turn, until},
          .y = {model.time(form, 0), model.time(form, turn), model.time(form, until)}};
}

Chart times(const Model& model, const std::array<Form, 3>& forms, bool hidden) {
  const double highest = 2 * model.rows;
  Chart chart;
  chart.joined = false;
  double longest = 0;
  for (const Form& form : forms) longest = std::max({longest, form.measured, model.time(form, highest)});
  const ShownUnit unit = time_unit(longest);
  for (const Form& form : forms) {
    if (form.kernels == 0 || (hidden && form.asked)) continue;
    // The graph's line ends where it meets the eager line: from there on both are equal.
    chart.references.push_back(line_of(model, form, form.asked ? std::min(model.turn(forms[0]), highest) : highest));
    const std::string text = amount_text(form.measured, unit);
    chart.series.push_back(
        {.label = fmt::format("{}, measured", form.key),
         .kind = form.kind,
         .points = {
             exact_point(model.rows, form.measured,
                         fmt::format("{}, {} rows: {} from the first kernel's start to the last one's end", form.key,
                                     record::format_count(static_cast<std::int64_t>(model.rows)), text),
                         text)}});
  }
  chart.x = number_axis(0, 1.03 * highest, "rows");
  chart.y = {.unit = AxisUnit::kNanoseconds, .shown = unit};
  fit_y(chart);
  return chart;
}

Table turns(const Model& model, const std::array<Form, 3>& forms, bool hidden) {
  Table table{.head = "Launches and bytes",
              .columns = {"kernels", "launches take", "bytes per row", "bytes take longer from"}};
  for (const Form& form : forms) {
    if (form.kernels == 0 || (hidden && form.asked)) continue;
    table.rows.push_back(
        {.name = std::string(form.key),
         .cells = {record::format_count(form.kernels), time_text(model.launches(form)),
                   record::format_count(static_cast<std::int64_t>(form.bytes / model.rows)) + " B",
                   fmt::format("{} rows", record::format_count(static_cast<std::int64_t>(model.turn(form)) + 1))}});
  }
  return table;
}

// The run's rows; 0 without a run of the demo `launches`.
double rows_of(const Recording& recording) {
  const auto& params = recording.info().params;
  return params.contains("kernel") ? std::atof(value_of(params, "rows").c_str()) : 0;
}

void add_launch_curve_panels(FigureData& figure, const FigureInput& input) {
  const Recording& recording = input.run->recording();
  if (const std::string why = why_not_traced(recording); !why.empty()) return figure.leave_empty(why);
  const std::array<Form, 3> forms = forms_of(recording);
  const Model model{.launch = std::stod(input.params->text("launch")),
                    .bytes_per_ns = std::stod(input.params->text("bandwidth")),
                    .rows = rows_of(recording)};
  if (recording.info().device == record::DeviceKind::kCpu)
    return figure.leave_empty("On a CPU nothing is launched: this figure needs a run on a GPU.");
  if (model.rows <= 0 || forms[0].bytes <= 0 || forms[2].bytes <= 0)
    return figure.leave_empty("This run does not compare forms of one operation: run the demo `launches`.");
  figure.head.provenance_line += fmt::format(", {}, {} rows", panel_title(recording.info().params.at("kernel")),
                                             record::format_count(static_cast<std::int64_t>(model.rows)));
  figure.add(times(model, forms, input.view.hidden));
  figure.add(turns(model, forms, input.view.hidden));
}

}  // namespace

extern const Figure kLaunchCurve;
constinit const Figure kLaunchCurve{
    .id = "launch_curve",
    .title = "Launches or bytes",
    .caption =
        "The time of an operation over its rows: the longer of its launch and memory times, and the recorded run",
    .schema = kLaunchCurveSchema,
    .add_panels = add_launch_curve_panels,
};

}  // namespace headroom::lessons
