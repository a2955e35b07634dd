// RMSNorm's forward pass launch by launch, composed and fused: when each kernel ran, which bytes it moved and how fast.
// The copy is from a benchmark run, the launches from a traced run of the same device.
#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "lessons/measurements/bench.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/kernel_rows.h"
#include "lessons/wording.h"

namespace headroom::lessons {
namespace {

using record::Bytes;
using record::KernelSpan;
using record::Recording;

// `kept`: autograd keeps what the operation writes.
struct TrafficOperation {
  std::string_view label;
  Bytes read = 0, written = 0;        // bytes per number
  int read_rows = 0, write_rows = 0;  // fp32 numbers per row
  bool kept = false;
};

// y = w · to(x32 · rsqrt(mean(x32²) + ε)), as PyTorch runs it. fp32 needs no conversion; on a CPU, the mean is a sum
// and a division. Autograd keeps the inputs of products and powers: x32 (x in fp32) and the results of rsqrt() and
// to().
std::vector<TrafficOperation> composition(Bytes size, bool on_cpu) {
  std::vector<TrafficOperation> all;
  const bool converts = size != 4;
  if (converts) all.push_back({.label = "to fp32", .read = size, .written = 4, .kept = true});
  all.push_back({.label = "pow", .read = 4, .written = 4});
  if (on_cpu) {
    all.push_back({.label = "sum", .read = 4, .write_rows = 1});
    all.push_back({.label = "÷ H", .read_rows = 1, .write_rows = 1});
  } else {
    all.push_back({.label = "mean", .read = 4, .write_rows = 1});
  }
  all.push_back({.label = "+ ε", .read_rows = 1, .write_rows = 1});
  all.push_back({.label = "rsqrt", .read_rows = 1, .write_rows = 1, .kept = true});
  all.push_back({.label = "mul", .read = 4, .written = 4, .read_rows = 1, .kept = !converts});
  if (converts) all.push_back({.label = "to 16 bits", .read = 4, .written = size, .kept = true});
  all.push_back({.label = "mul w", .read = size, .written = size});
  return all;
}

struct TrafficShape {
  Bytes rows = 0, width = 0, size = 0;  // rows, numbers per row, bytes per number
};

// The shape, from the requested rows and the fused kernel's bytes: x, y, w, and one fp32 number per row.
std::optional<TrafficShape> shape_of(const Recording& recording, Bytes fused) {
  const bool on_cpu = recording.info().device == record::DeviceKind::kCpu;
  const std::string storage = value_of(recording.info().params, "storage");
  TrafficShape shape{.size = storage == "fp32" || (storage == "auto" && on_cpu) ? 4 : 2};
  shape.rows = std::atoll(value_of(recording.info().params, "rows").c_str());
  if (shape.rows <= 0 || fused <= 4 * shape.rows) return std::nullopt;
  const Bytes of_a_column = shape.size * (2 * shape.rows + 1);
  shape.width = (fused - 4 * shape.rows) / of_a_column;
  if (shape.width <= 0 || (fused - 4 * shape.rows) % of_a_column != 0) return std::nullopt;
  return shape;
}

std::string tip_of(const TrafficKernel& kernel, const Traffic& panel) {
  const ShownUnit bytes = panel.bytes_unit();
  return fmt::format("{}: {}, reads {}, writes {}{}, {}", kernel.label,
                     amount_text(kernel.end - kernel.begin, unit_of(panel.x)), bytes_text(kernel.read, bytes),
                     bytes_text(kernel.written, bytes), kernel.kept > 0 ? ", kept for backward" : "",
                     amount_text(kernel.rate(), unit_of(panel.rate)));
}

TrafficKernel kernel_of(const KernelSpan& span, record::Nanoseconds origin) {
  TrafficKernel kernel;
  kernel.begin = static_cast<double>(span.start - origin);
  kernel.end = kernel.begin + static_cast<double>(span.duration);
  return kernel;
}

TrafficForm eager_form(const std::vector<KernelSpan>& spans, const std::vector<TrafficOperation>& operations,
                       TrafficShape shape) {
  TrafficForm form{.label = "Eager"};
  const Bytes numbers = shape.rows * shape.width;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const TrafficOperation& operation = operations[i];
    TrafficKernel kernel = kernel_of(spans[i], spans.front().start);
    kernel.label = operation.label;
    kernel.read = operation.read * numbers + operation.read_rows * 4 * shape.rows;
    if (operation.label == "mul w") kernel.read += shape.size * shape.width;
    kernel.written = operation.written * numbers + operation.write_rows * 4 * shape.rows;
    kernel.kept = operation.kept ? kernel.written : 0;
    form.kernels.push_back(std::move(kernel));
  }
  return form;
}

TrafficForm fused_form(const KernelSpan& span, TrafficShape shape) {
  TrafficForm form{.label = "Fused", .ours = true};
  TrafficKernel kernel = kernel_of(span, span.start);
  kernel.label = "rms_norm";
  kernel.read = shape.size * (shape.rows + 1) * shape.width;
  kernel.kept = 4 * shape.rows;
  kernel.written = shape.size * shape.rows * shape.width + kernel.kept;
  form.kernels.push_back(std::move(kernel));
  return form;
}

std::string note_of(const TrafficForm& form, bool on_cpu, const ShownUnit& unit) {
  double time = 0;
  for (const TrafficKernel& kernel : form.kernels) time += kernel.end - kernel.begin;
  const std::size_t count = form.kernels.size();
  return fmt::format("{} {}{}, {}", count, on_cpu ? "operator" : "launch",
                     count == 1 ? ""
                     : on_cpu   ? "s"
                                : "es",
                     amount_text(time, unit));
}

void add_copy(Traffic& panel, const Recording& bench) {
  for (const Measurement& row : bench.measurements())
    if (row.panel == Measurement::kCopy && row.timing == main_timing(bench) && row.median > 0)
      panel.copy = rate_of(row);
  if (panel.copy > 0) panel.copy_label = "a large copy: " + amount_text(panel.copy, unit_of(panel.rate));
}

// Bytes per square: a power of two, such that the form that moves most has at most eighty squares.
Bytes square_of(Bytes most) {
  Bytes square = record::kKiB;
  while (most / square > 80) square *= 2;
  return square;
}

const Recording* launches_beside(const FigureInput& input) {
  const record::RunInfo& run = input.run->recording().info();
  for (const record::Ledger* each : input.beside) {
    const record::RunInfo& info = each->recording().info();
    if (info.demo == "launches" && info.device == run.device && device_name(info) == device_name(run))
      return &each->recording();
  }
  return nullptr;
}

void add_launch_traffic_panels(FigureData& figure, const FigureInput& input) {
  const Recording* launches = launches_beside(input);
  if (launches == nullptr)
    return figure.leave_empty("No traced launches of RMSNorm are stored for the device of this run.");
  const bool on_cpu = launches->info().device == record::DeviceKind::kCpu;
  const auto eager = kernels_of(*launches, "eager"), fused = kernels_of(*launches, "fused");
  const auto shape = fused.size() == 1 ? shape_of(*launches, fused.front().bytes) : std::nullopt;
  const auto& params = launches->info().params;
  if (!shape || value_of(params, "kernel") != "rms_norm" || value_of(params, "pass") != "forward")
    return figure.leave_empty("The launches stored with this run are not those of one forward pass of RMSNorm.");
  const std::vector<TrafficOperation> operations = composition(shape->size, on_cpu);
  if (eager.size() != operations.size())
    return figure.leave_empty(
        fmt::format("RMSNorm was composed of {} operations in this run, not of {}.", eager.size(), operations.size()));
  Traffic panel;
  panel.forms = {eager_form(eager, operations, *shape), fused_form(fused.front(), *shape)};
  double end = 0, fastest = 0;
  for (const TrafficForm& form : panel.forms)
    for (const TrafficKernel& kernel : form.kernels) {
      end = std::max(end, kernel.end);
      fastest = std::max(fastest, kernel.rate());
    }
  panel.square = square_of(panel.forms.front().moved());
  panel.x = time_axis({}, end);
  // GB/s, because the slowest kernels reach a thousandth of a copy's rate.
  panel.rate = {.unit = AxisUnit::kBytesPerSecond, .shown = rate_unit(1e9)};
  add_copy(panel, input.run->recording());
  panel.rate.high = 1.12 * std::max(fastest, panel.copy);
  for (TrafficForm& form : panel.forms) {
    form.note = note_of(form, on_cpu, unit_of(panel.x));
    for (TrafficKernel& kernel : form.kernels) kernel.tip = tip_of(kernel, panel);
  }
  figure.head.provenance_line = fmt::format("RMSNorm forward, {} × {}, {}, {}", record::format_count(shape->rows),
                                            record::format_count(shape->width), shape->size == 4 ? "fp32" : "16 bits",
                                            device_name(launches->info()));
  for (const auto& [key, value] : full_provenance(*launches, record::Params()))
    figure.head.provenance["launches." + key] = value;
  figure.add(std::move(panel));
}

}  // namespace

extern const Figure kLaunchTraffic;
constinit const Figure kLaunchTraffic{
    .id = "launch_traffic",
    .title = "Launch by launch",
    .caption = "RMSNorm composed and fused: when each kernel ran, which bytes it moved, and how fast",
    .schema = {},
    .add_panels = add_launch_traffic_panels,
};

}  // namespace headroom::lessons
