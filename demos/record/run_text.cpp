// What a recording says in words, to JSON and back. Reading checks every type and range; fields that are not known are skipped.
#include "demos/record/run_text.h"

#include <cmath>

#include "demos/record/columns.h"  // kMostBytes
#include "demos/record/json_fields.h"

namespace headroom::record {
namespace {

constexpr int kNumSources = 4;
constexpr int kNumOutcomes = 6;
constexpr std::int64_t kMostSteps = 1'000'000'000;

json to_object(const ByCategory& amounts) {
  json object = json::object();
  for (int i = 0; i < kNumCategories; ++i)
    object[std::string(key_of(static_cast<Category>(i)))] = amounts[static_cast<std::size_t>(i)];
  return object;
}

json to_object(const OutOfMemoryFacts& facts) {
  return {{"requested", facts.requested},
          {"allocated", facts.allocated},
          {"reserved", facts.reserved},
          {"limit", facts.limit},
          {"op", facts.op},
          {"phase", key_of(facts.phase)},
          {"layer", facts.layer},
          {"by_category", to_object(facts.by_category)}};
}

json to_object(const Outcome& outcome) {
  json object = {{"kind", key_of(outcome.kind)}, {"message", outcome.message}};
  if (outcome.out_of_memory) object["out_of_memory"] = to_object(*outcome.out_of_memory);
  return object;
}

std::optional<ByCategory> by_category_from(const json* object) {
  if (object == nullptr) return std::nullopt;
  Fields fields(*object);
  ByCategory amounts{};
  for (int i = 0; i < kNumCategories; ++i)
    amounts[static_cast<std::size_t>(i)] =
        fields.whole(std::string(key_of(static_cast<Category>(i))).c_str(), kMostBytes);
  return fields.ok() ? std::optional(amounts) : std::nullopt;
}

std::optional<OutOfMemoryFacts> facts_from(const json& object) {
  Fields fields(object);
  OutOfMemoryFacts facts;
  facts.requested = fields.whole("requested", kMostBytes);
  facts.allocated = fields.whole("allocated", kMostBytes);
  facts.reserved = fields.whole("reserved", kMostBytes);
  facts.limit = fields.whole("limit", kMostBytes);
  facts.op = fields.text("op");
  facts.phase = fields.choice<Phase>("phase", kNumPhases);
  facts.layer = static_cast<std::uint16_t>(fields.whole("layer", kNoLayer));
  const std::optional<ByCategory> amounts = by_category_from(fields.find("by_category"));
  if (!amounts) return std::nullopt;
  facts.by_category = *amounts;
  return fields.ok() ? std::optional(facts) : std::nullopt;
}

std::optional<Outcome> outcome_from(const json& object) {
  Fields fields(object);
  Outcome outcome;
  outcome.kind = fields.choice<OutcomeKind>("kind", kNumOutcomes);
  outcome.message = fields.text("message");
  if (!fields.ok()) return std::nullopt;
  if (const auto facts = object.find("out_of_memory"); facts != object.end()) {
    outcome.out_of_memory = facts_from(*facts);
    if (!outcome.out_of_memory) return std::nullopt;
  }
  return outcome;
}

std::optional<SweepPoint> sweep_point_from(const json& object) {
  Fields fields(object);
  SweepPoint p;
  p.series = fields.text("series");
  p.label = fields.text("label");
  p.params = fields.texts("params");
  p.peak_allocated = fields.whole("peak_allocated", kMostBytes);
  p.peak_requested = fields.whole("peak_requested", kMostBytes);
  p.peak_reserved = fields.whole("peak_reserved", kMostBytes);
  p.peak_host = fields.whole("peak_host", kMostBytes);
  p.peak_phase = fields.choice<Phase>("peak_phase", kNumPhases);
  p.tokens_per_second = fields.number("tokens_per_second");
  p.tokens_per_second_low = fields.number("tokens_per_second_low");
  p.tokens_per_second_high = fields.number("tokens_per_second_high");
  if (const json* const loss = fields.find("loss"); loss != nullptr && !loss->is_null()) p.loss = fields.number("loss");
  p.steps = static_cast<int>(fields.whole("steps", kMostSteps));
  p.provenance = fields.texts("provenance");
  p.recording = fields.text("recording");
  const std::optional<ByCategory> by_category = by_category_from(fields.find("peak_by_category"));
  const json* const outcome = fields.find("outcome");
  const std::optional<Outcome> ended = outcome != nullptr ? outcome_from(*outcome) : std::nullopt;
  const bool in_order = p.tokens_per_second_low >= 0 && p.tokens_per_second_low <= p.tokens_per_second &&
                        p.tokens_per_second <= p.tokens_per_second_high;
  if (!fields.ok() || !in_order || !by_category || !ended) return std::nullopt;
  p.peak_by_category = *by_category;
  p.outcome = *ended;
  return p;
}

// Times and amounts are finite and not negative: JSON has no other numbers, and a figure divides by them.
std::optional<Measurement> measurement_from(const json& row) {
  Fields fields(row);
  Measurement m;
  m.panel = fields.text("panel");
  m.kernel = fields.text("kernel");
  m.variant = fields.text("variant");
  m.pass = fields.text("pass");
  m.timing = fields.text("timing");
  m.storage = fields.text("storage");
  m.label = fields.text("label");
  m.rows = fields.whole("rows", kMostBytes);
  m.width = fields.whole("width", kMostBytes);
  m.vocab = fields.whole("vocab", kMostBytes);
  m.median = fields.number("median");
  m.low = fields.number("low");
  m.high = fields.number("high");
  m.samples = fields.whole("samples", kMostBytes);
  m.bytes = fields.whole("bytes", kMostBytes);
  m.flops = fields.number("flops");
  if (const json* const error = fields.find("error"); error != nullptr && !error->is_null())
    m.error = fields.number("error");
  if (const json* const extra = fields.find("extra_memory"); extra != nullptr && !extra->is_null())
    m.extra_memory = fields.whole("extra_memory", kMostBytes);
  const bool in_range = m.low >= 0 && m.low <= m.median && m.median <= m.high && m.flops >= 0;
  return fields.ok() && in_range ? std::optional(m) : std::nullopt;
}

// Reals that are finite and not negative.
std::vector<double> reals_from(Fields& fields, const char* key) {
  std::vector<double> values;
  const json* const array = fields.array(key, kMostBins);
  if (array == nullptr) return values;
  for (const json& item : *array) {
    const bool good = item.is_number() && item.get<double>() >= 0 && std::isfinite(item.get<double>());
    values.push_back(good ? item.get<double>() : (fields.fail(), 0.0));
  }
  return values;
}

std::vector<std::int64_t> counts_from(Fields& fields, const char* key) {
  std::vector<std::int64_t> values;
  const json* const array = fields.array(key, kMostBins);
  if (array == nullptr) return values;
  for (const json& item : *array) {
    const bool good = item.is_number_unsigned() && item.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMostBytes);
    values.push_back(good ? item.get<std::int64_t>() : (fields.fail(), 0));
  }
  return values;
}

Histogram histogram_from(Fields& fields) {
  Histogram h;
  h.name = fields.text("name");
  h.step = static_cast<std::int32_t>(fields.whole("step", kMostSteps));
  // Written from the lowest exponent there is: no number in these files is negative.
  h.low_exponent =
      static_cast<std::int32_t>(fields.whole("low_exponent", kHighestExponent - kLowestExponent)) + kLowestExponent;
  h.counts = counts_from(fields, "counts");
  h.zeros = fields.whole("zeros", kMostBytes);
  h.not_finite = fields.whole("not_finite", kMostBytes);
  h.errors = reals_from(fields, "errors");
  if (!can_be(h)) fields.fail();
  return h;
}

CompilerMessage message_from(Fields& fields) {
  CompilerMessage message;
  message.line = fields.whole("line", kMostBytes);
  message.error = fields.text("severity") == "error";
  message.text = fields.text("text");
  return message;
}

KernelResources resources_from(Fields& fields) {
  KernelResources kernel;
  kernel.name = fields.text("name");
  kernel.registers = fields.whole("registers", kMostBytes);
  kernel.shared = fields.whole("shared", kMostBytes);
  kernel.stack = fields.whole("stack", kMostBytes);
  kernel.spilled = fields.whole("spilled", kMostBytes);
  return kernel;
}

// The rows of an array; nothing where one of them, or the array, is missing or wrong.
template <class Row>
std::optional<std::vector<Row>> rows_from(const json* rows, Row (*row_from)(Fields& fields)) {
  if (rows == nullptr || !rows->is_array()) return std::nullopt;
  std::vector<Row> all;
  for (const json& row : *rows) {
    Fields fields(row);
    all.push_back(row_from(fields));
    if (!fields.ok()) return std::nullopt;
  }
  return all;
}

}  // namespace

std::string_view key_of(KernelVerdict verdict) {
  static constexpr std::array<std::string_view, kNumKernelVerdicts> kKeys = {"not_compiled",  "compiled", "crashed",
                                                                             "out_of_bounds", "wrong",    "right"};
  return kKeys.at(static_cast<std::size_t>(verdict));
}

std::string_view key_of(OutcomeKind outcome) {
  static constexpr std::array<std::string_view, kNumOutcomes> kKeys = {"completed", "out_of_memory", "cancelled",
                                                                       "refused",   "engine_lost",   "failed"};
  return kKeys.at(static_cast<std::size_t>(outcome));
}

std::string to_json(const RunInfo& info) {
  return dump({{"demo", info.demo},
               {"params", json(info.params)},
               {"provenance", json(info.provenance)},
               {"device", key_of(info.device)},
               {"source", key_of(info.source)},
               {"cap", info.cap},
               {"device_memory", info.device_memory}});
}

std::string to_json(const Outcome& outcome) { return dump(to_object(outcome)); }

std::string to_json(std::span<const Measurement> measurements) {
  json rows = json::array();
  for (const Measurement& m : measurements) {
    rows.push_back({{"panel", m.panel},
                    {"kernel", m.kernel},
                    {"variant", m.variant},
                    {"pass", m.pass},
                    {"timing", m.timing},
                    {"storage", m.storage},
                    {"label", m.label},
                    {"rows", m.rows},
                    {"width", m.width},
                    {"vocab", m.vocab},
                    {"median", m.median},
                    {"low", m.low},
                    {"high", m.high},
                    {"samples", m.samples},
                    {"bytes", m.bytes},
                    {"flops", m.flops},
                    {"error", m.error >= 0 ? json(m.error) : json()},
                    {"extra_memory", m.extra_memory >= 0 ? json(m.extra_memory) : json()}});
  }
  return dump({{"measurements", rows}});
}

std::string to_json(const KernelReport& report) {
  json messages = json::array(), kernels = json::array();
  for (const CompilerMessage& m : report.messages)
    messages.push_back({{"line", m.line}, {"severity", m.error ? "error" : "warning"}, {"text", m.text}});
  for (const KernelResources& k : report.kernels)
    kernels.push_back({{"name", k.name},
                       {"registers", k.registers},
                       {"shared", k.shared},
                       {"stack", k.stack},
                       {"spilled", k.spilled}});
  const auto measured = [](double value) { return value >= 0 ? json(value) : json(); };
  return dump({{"verdict", key_of(report.verdict)},
               {"sentence", report.sentence},
               {"exercise", report.exercise},
               {"architecture", report.architecture},
               {"compiler", report.compiler},
               {"messages", messages},
               {"kernels", kernels},
               {"launches", report.launches},
               {"error", measured(report.error)},
               {"error_limit", measured(report.error_limit)}});
}

std::string to_json(std::span<const SweepPoint> points) {
  json rows = json::array();
  for (const SweepPoint& p : points)
    rows.push_back({{"series", p.series},
                    {"label", p.label},
                    {"params", json(p.params)},
                    {"outcome", to_object(p.outcome)},
                    {"peak_allocated", p.peak_allocated},
                    {"peak_requested", p.peak_requested},
                    {"peak_reserved", p.peak_reserved},
                    {"peak_host", p.peak_host},
                    {"peak_by_category", to_object(p.peak_by_category)},
                    {"peak_phase", key_of(p.peak_phase)},
                    {"tokens_per_second", p.tokens_per_second},
                    {"tokens_per_second_low", p.tokens_per_second_low},
                    {"tokens_per_second_high", p.tokens_per_second_high},
                    {"loss", p.loss ? json(*p.loss) : json()},
                    {"steps", p.steps},
                    {"provenance", json(p.provenance)},
                    {"recording", p.recording}});
  return dump({{"sweep_points", rows}});
}

std::string to_json(std::span<const Histogram> histograms) {
  json rows = json::array();
  for (const Histogram& h : histograms)
    rows.push_back({{"name", h.name},
                    {"step", h.step},
                    {"low_exponent", h.low_exponent - kLowestExponent},
                    {"counts", h.counts},
                    {"zeros", h.zeros},
                    {"not_finite", h.not_finite},
                    {"errors", h.errors}});
  return dump({{"histograms", rows}});
}

std::optional<RunInfo> run_info_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  RunInfo info;
  info.demo = fields.text("demo");
  info.params = fields.texts("params");
  info.provenance = fields.texts("provenance");
  info.device = fields.choice<DeviceKind>("device", kNumDeviceKinds);
  info.source = fields.choice<Source>("source", kNumSources);
  info.cap = fields.whole("cap", kMostBytes);
  info.device_memory = fields.whole("device_memory", kMostBytes);
  return fields.ok() ? std::optional(info) : std::nullopt;
}

std::optional<std::vector<Measurement>> measurements_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  const json* const rows = fields.find("measurements");
  if (rows == nullptr || !rows->is_array()) return std::nullopt;
  std::vector<Measurement> measurements;
  for (const json& row : *rows) {
    const std::optional<Measurement> measurement = measurement_from(row);
    if (!measurement) return std::nullopt;
    measurements.push_back(*measurement);
  }
  return measurements;
}

std::optional<KernelReport> kernel_report_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  KernelReport report;
  report.verdict = fields.choice<KernelVerdict>("verdict", kNumKernelVerdicts);
  report.sentence = fields.text("sentence");
  report.exercise = fields.text("exercise");
  report.architecture = fields.text("architecture");
  report.compiler = fields.text("compiler");
  auto messages = rows_from(fields.find("messages"), message_from);
  auto kernels = rows_from(fields.find("kernels"), resources_from);
  if (!messages || !kernels) return std::nullopt;
  report.messages = std::move(*messages);
  report.kernels = std::move(*kernels);
  report.launches = fields.whole("launches", kMostBytes);
  const auto measured = [&](const char* key) {
    const json* const value = fields.find(key);
    return value == nullptr || value->is_null() ? -1.0 : fields.number(key);
  };
  report.error = measured("error");
  report.error_limit = measured("error_limit");
  return fields.ok() ? std::optional(report) : std::nullopt;
}

std::optional<std::vector<SweepPoint>> sweep_points_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  const json* const rows = fields.find("sweep_points");
  if (rows == nullptr || !rows->is_array()) return std::nullopt;
  std::vector<SweepPoint> points;
  for (const json& row : *rows) {
    std::optional<SweepPoint> point = sweep_point_from(row);
    if (!point) return std::nullopt;
    points.push_back(std::move(*point));
  }
  return points;
}

std::optional<std::vector<Histogram>> histograms_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  if (!object) return std::nullopt;
  Fields fields(*object);
  return rows_from(fields.find("histograms"), histogram_from);
}

std::optional<Outcome> outcome_from_json(std::string_view text) {
  const std::optional<json> object = parse(text);
  return object ? outcome_from(*object) : std::nullopt;
}

}  // namespace headroom::record
