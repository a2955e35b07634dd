// Collects the shapes from the kernels' records.
#include "demos/experiments/info/bench_plan.h"

#include <utility>

namespace headroom::experiments {

std::vector<BenchCase> bench_plan(const record::Params& params, record::DeviceKind device) {
  const std::string &wanted = params.text("kernel"), &panel = params.text("panel");
  const kernels::ShapeRequest request{.gpu = device == record::DeviceKind::kGpu,
                                      .quick = params.on("quick"),
                                      .rows = params.integer("rows"),
                                      .width = params.integer("width")};
  std::string storage = params.text("storage");
  if (storage == "auto") storage = request.gpu ? "bf16" : "fp32";
  std::vector<BenchCase> cases;
  const auto add = [&](const kernels::KernelInfo& kernel, const std::string& name,
                       std::vector<kernels::MeasuredShape> shapes) {
    if (wanted != "all" && wanted != kernel.id) return;
    for (kernels::MeasuredShape& each : shapes)
      cases.push_back({.panel = name,
                       .kernel = std::string(kernel.id),
                       .storage = each.storage.empty() ? storage : std::move(each.storage),
                       .label = std::move(each.label),
                       .shape = each.shape});
  };
  for (const kernels::KernelInfo* kernel : kernels::kernels())
    if (panel != "report" && kernel->bench.shapes != nullptr)
      add(*kernel, std::string(kernel->id), kernel->bench.shapes(request));
  for (const kernels::KernelInfo* kernel : kernels::report_kernels()) {
    if (panel == "kernels") break;
    auto shapes = kernel->report.shapes(request);
    if (request.quick && shapes.size() > 1) shapes.resize(1);
    add(*kernel, "report." + std::string(kernel->id), std::move(shapes));
  }
  return cases;
}

std::vector<record::Choice> kernel_choices(bool with_all, bool (*offered)(const kernels::KernelBench& bench)) {
  std::vector<record::Choice> choices;
  if (with_all) choices.push_back({"all", "all"});
  for (const kernels::KernelInfo* kernel : kernels::kernels())
    if (kernel->bench.shapes != nullptr && (offered == nullptr || offered(kernel->bench)))
      choices.push_back({kernel->id, kernel->title});
  return choices;
}

}  // namespace headroom::experiments
