// Runs batches on both sides of a predicted border.
#include "app/common/validation_border.h"

#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "app/common/validation_draw.h"
#include "demos/record/split.h"

namespace headroom::app {

using record::Params;

namespace {

// True if it completes under its cap; empty if stopped or in trouble.
std::optional<bool> completes(Params params, std::int64_t batch, const ValidationTools& tools, std::string& trouble) {
  if (auto set = params.set("batch", record::ParamValue(batch)); !set) {
    trouble = set.error().message;
    return std::nullopt;
  }
  const auto run = measured_run(params, tools, trouble);
  return run == nullptr ? std::nullopt : std::optional(!ran_out(*run));
}

}  // namespace

std::optional<ComparedBorder> validate_border(const Params& params, StepPlanner& planner,
                                              const ValidationTools& tools) {
  ComparedBorder border{.params = params, .trouble = {}};
  Params without_cap = params;
  (void)without_cap.set("cap", record::ParamValue(std::int64_t{0}));
  const PlannedCard limit{.name = {}, .memory = params.integer("cap"), .process = {}};
  const auto predicted = planner.largest(without_cap, "batch", limit);
  if (tools.stop()) return std::nullopt;
  if (!predicted) {
    border.trouble = "The planner refused a batch during the search for the border.";
    return border;
  }
  border.predicted = *predicted;
  std::int64_t fits = border.predicted;
  bool from_below = false;
  for (;; --fits) {  // down to a batch that runs
    const auto runs = fits == 0 ? true : completes(params, fits, tools, border.trouble);
    if (!runs) return tools.stop() ? std::nullopt : std::optional(border);
    if (*runs) break;
    from_below = true;
  }
  while (!from_below) {  // up to a batch that does not
    const auto runs = completes(params, fits + 1, tools, border.trouble);
    if (!runs) return tools.stop() ? std::nullopt : std::optional(border);
    if (!*runs) break;
    ++fits;
  }
  border.measured = fits;
  return border;
}

std::string border_head() { return "settings,trouble,predicted_largest_batch,largest_batch\n"; }

std::string border_row(const ComparedBorder& border) {
  return fmt::format("{},{},{},{}\n", as_line(border.params), as_cell(border.trouble), border.predicted,
                     border.measured);
}

std::optional<ComparedBorder> border_of_row(const std::string& row) {
  const std::vector<std::string> cells = record::split(row, ',');
  if (cells.size() != 4) return std::nullopt;
  auto params = from_line(cells[0]);
  if (!params) return std::nullopt;
  return ComparedBorder{.params = std::move(params).value(),
                        .trouble = cells[1],
                        .predicted = std::strtoll(cells[2].c_str(), nullptr, 10),
                        .measured = std::strtoll(cells[3].c_str(), nullptr, 10)};
}

void BorderSummary::add(const ComparedBorder& border) {
  if (!border.trouble.empty()) {
    ++with_trouble;
    return;
  }
  ++compared;
  exact += border.predicted == border.measured ? 1 : 0;
  one_off += std::abs(border.predicted - border.measured) == 1 ? 1 : 0;
  too_large += border.predicted > border.measured ? 1 : 0;
}

std::string BorderSummary::text() const {
  std::string text = fmt::format(
      "{} borders compared: the largest batch is exact in {}, off by one in {}, off by more in {}; {} predicted to "
      "fit ran out of memory\n",
      compared, exact, one_off, compared - exact - one_off, too_large);
  if (with_trouble > 0) text += fmt::format("{} could not be compared: see the column trouble\n", with_trouble);
  return text;
}

}  // namespace headroom::app
