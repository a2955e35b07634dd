#include "app/cli/tables/sweep_table.h"

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/tables/text_table.h"
#include "app/common/settings_json.h"
#include "app/common/summary.h"
#include "demos/record/file/json_fields.h"

namespace headroom::app {

using nlohmann::json;
using record::SweepPoint;

namespace {

std::vector<std::string> row_of(const SweepPoint& point) {
  const auto bytes = [](record::Bytes amount) { return amount > 0 ? record::format_bytes(amount) : std::string(); };
  return {point.series,
          point.label,
          outcome_words(point.outcome.kind),
          bytes(point.peak.allocated),
          bytes(point.peak.reserved),
          point.tokens_per_second > 0 ? fmt::format("{:.1f}", point.tokens_per_second) : "",
          point.loss ? fmt::format("{:.4f}", *point.loss) : ""};
}

}  // namespace

std::string sweep_table(const record::Recording& sweep) {
  std::vector<std::vector<std::string>> rows{{"series", "point", "outcome", "peak", "reserved", "tokens/s", "loss"}};
  for (const SweepPoint& point : sweep.sweep_points()) rows.push_back(row_of(point));
  return text_table(rows, 3);
}

json sweep_json(const record::Recording& sweep, std::size_t planned) {
  const record::RunInfo& info = sweep.info();
  json points = json::array();
  for (const SweepPoint& point : sweep.sweep_points()) {
    json entry = {{"series", point.series},
                  {"label", point.label},
                  {"params", settings_json(info.demo, point.params, info.provenance)},
                  {"outcome", record::key_of(point.outcome.kind)},
                  {"message", point.outcome.message},
                  {"peak_bytes", point.peak.allocated},
                  {"peak_requested_bytes", point.peak.requested},
                  {"peak_reserved_bytes", point.peak.reserved},
                  {"peak_host_bytes", point.peak.host},
                  {"peak_by_category", record::to_object(point.peak.by_category)},
                  {"peak_phase", record::key_of(point.peak.phase)},
                  {"tokens_per_second", nullptr},
                  {"loss", point.loss ? json(*point.loss) : json(nullptr)},
                  {"steps", point.steps}};
    if (point.tokens_per_second > 0) {
      entry["tokens_per_second"] = point.tokens_per_second;
      entry["tokens_per_second_spread"] = {{"p20", point.tokens_per_second_low}, {"p80", point.tokens_per_second_high}};
    }
    if (!point.provenance.empty()) entry["provenance"] = point.provenance;
    points.push_back(std::move(entry));
  }
  return {{"demo", sweep.info().demo},
          {"params", settings_json(info.demo, info.params, info.provenance)},
          {"provenance", sweep.info().provenance},
          {"device", record::key_of(sweep.info().device)},
          {"planned", planned},
          {"points", std::move(points)}};
}

}  // namespace headroom::app
