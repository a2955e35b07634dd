// Kernels of real steps, traced by CUPTI in an engine started for tracing.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "demos/backend/backend.h"
#include "demos/experiments/demo.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace std::chrono_literals;
using record::Bytes;
using record::KernelSpan;
using record::Nanoseconds;
using record::Phase;
using record::Recording;
using record::SpanKind;

using Settings = std::map<std::string, std::string>;

const Settings kFused{{"fused.rms_norm", "on"},  {"fused.rope", "on"},  {"fused.swiglu", "on"},
                      {"fused.embedding", "on"}, {"fused.adamw", "on"}, {"loss", "flce"}};
constexpr int kSteps = 4, kLast = kSteps - 1;

backend::Backend& engine() {
  static const std::unique_ptr<backend::Backend> made = [] {
    const char* named = std::getenv("HEADROOM_ENGINE");
    return backend::make_engine({{named != nullptr ? named : HEADROOM_BIN_DIR "/headroom-engine"}});
  }();
  return *made;
}

std::shared_ptr<const Recording> run(bool trace, Settings settings) {
  settings.insert({{"model", "llama-3.2-1b"},
                   {"precision", "bf16"},
                   {"batch", "1"},
                   {"seq", "1024"},
                   {"device", "cuda"},
                   {"steps", std::to_string(kSteps)},
                   {"trace", trace ? "on" : "off"}});
  record::Params params(experiments::find_demo("train_step")->schema);
  for (const auto& [key, value] : settings) REQUIRE(params.set(key, std::string_view(value)).ok());
  REQUIRE(engine().start({.demo = "train_step", .params = params, .engine = {.traced = true}}).ok());
  const auto deadline = std::chrono::steady_clock::now() + 180s;
  while (engine().state() != backend::RunState::kFinished && std::chrono::steady_clock::now() < deadline) {
    engine().poll();
    std::this_thread::sleep_for(2ms);
  }
  const auto recording = engine().recording();
  REQUIRE(recording->outcome());
  INFO(recording->outcome()->message);
  REQUIRE(recording->outcome()->kind == record::OutcomeKind::kCompleted);
  return recording;
}

std::vector<KernelSpan> of_step(const Recording& recording, int step) {
  std::vector<KernelSpan> found;
  for (const KernelSpan& span : recording.kernel_spans())
    if (span.step == step) found.push_back(span);
  return found;
}

struct Traced {
  std::shared_ptr<const Recording> eager = run(true, {}), fused = run(true, kFused);
};
const Traced& traced() {
  static const Traced both;
  return both;
}

Nanoseconds kernel_time(const std::vector<KernelSpan>& spans) {
  Nanoseconds sum = 0;
  for (const KernelSpan& span : spans)
    if (span.kind == SpanKind::kKernel) sum += span.duration;
  return sum;
}

std::size_t launches(const std::vector<KernelSpan>& spans) {
  return static_cast<std::size_t>(
      std::count_if(spans.begin(), spans.end(), [](const auto& span) { return span.kind == SpanKind::kKernel; }));
}

// The last step's kernels.
std::vector<KernelSpan> kernels_of(const Recording& recording, std::string_view op, Phase phase, int layer) {
  std::vector<KernelSpan> found;
  for (const KernelSpan& span : of_step(recording, kLast))
    if (span.kind == SpanKind::kKernel && span.phase == phase && span.layer == layer &&
        recording.op_name(span.op) == op)
      found.push_back(span);
  return found;
}

}  // namespace

TEST_CASE("a traced run is marked as traced and reports no speed") {
  for (const auto& recording : {traced().eager, traced().fused}) {
    REQUIRE(recording->info().provenance.count("traced") == 1);
    CHECK(recording->info().provenance.at("traced").find("CUPTI") != std::string::npos);
    CHECK(recording->info().provenance.count("trace_trouble") == 0);
    CHECK(recording->dropped_events() == 0);
    for (const record::MetricSample& sample : recording->metrics()) CHECK(sample.kind == record::MetricKind::kLoss);
  }
}

TEST_CASE("each kernel has an earlier launch, a name and its part of the model") {
  const Recording& recording = *traced().eager;
  const std::vector<KernelSpan> spans = of_step(recording, kLast);
  REQUIRE(launches(spans) > 500);
  std::map<std::uint32_t, KernelSpan> calls;
  for (const KernelSpan& span : spans)
    if (span.kind == SpanKind::kRuntimeCall) calls.emplace(span.correlation, span);
  std::size_t without_call = 0, before_its_call = 0, without_name = 0;
  Nanoseconds without_op = 0;
  for (const KernelSpan& span : spans) {
    if (span.kind == SpanKind::kRuntimeCall) continue;
    const auto call = calls.find(span.correlation);
    without_call += call == calls.end();
    // 50 µs of tolerance: two clocks are joined by interpolation.
    before_its_call += call != calls.end() && span.start < call->second.start - 50'000;
    without_name += recording.op_name(span.name).empty();
    if (recording.op_name(span.op).empty()) without_op += span.duration;
  }
  CHECK(without_call == 0);
  CHECK(before_its_call == 0);
  CHECK(without_name == 0);
  CHECK(without_op < kernel_time(spans) / 20);
}

TEST_CASE("kernels run in the order of the phases, between the device's marks") {
  const Recording& recording = *traced().eager;
  const auto steps = record::steps_of(recording);
  REQUIRE(steps.size() == kSteps);
  Nanoseconds first[record::kNumPhases], last[record::kNumPhases];
  std::fill(std::begin(first), std::end(first), INT64_MAX);
  std::fill(std::begin(last), std::end(last), INT64_MIN);
  for (const KernelSpan& span : of_step(recording, kLast)) {
    if (span.kind != SpanKind::kKernel) continue;
    const auto phase = static_cast<std::size_t>(span.phase);
    first[phase] = std::min(first[phase], span.start);
    last[phase] = std::max(last[phase], span.start + span.duration);
  }
  const auto index = [](Phase phase) { return static_cast<std::size_t>(phase); };
  CHECK(last[index(Phase::kForward)] <= first[index(Phase::kLoss)]);
  CHECK(last[index(Phase::kLoss)] <= first[index(Phase::kBackward)]);
  CHECK(last[index(Phase::kBackward)] <= first[index(Phase::kOptimizer)]);
  for (std::size_t i = steps[kLast].first_mark; i < steps[kLast].last_mark; ++i) {
    const record::Mark& mark = recording.marks()[i];
    if (mark.phase != Phase::kOptimizer || mark.step != kLast) continue;
    CHECK(std::abs(mark.device_time - first[index(Phase::kOptimizer)]) < 1'000'000);
  }
}

TEST_CASE("a fused kernel is one launch where the eager composition has several, and moves fewer bytes") {
  const auto eager = kernels_of(*traced().eager, "mlp.rms_norm", Phase::kForward, 3);
  const auto fused = kernels_of(*traced().fused, "mlp.rms_norm", Phase::kForward, 3);
  CHECK(eager.size() >= 4);
  REQUIRE(fused.size() == 1);
  CHECK(traced().fused->op_name(fused[0].name).find("headroom::kernels") != std::string_view::npos);
  // x, the residual, their sum and the norm's result, [1024, 2048] in bf16; the weight, and a number per row.
  CHECK(fused[0].bytes == 4 * 1024 * 2048 * 2 + 2048 * 2 + 1024 * 4);
  Bytes moved = 0;
  for (const KernelSpan& span : eager) moved += std::max<Bytes>(span.bytes, 0);
  CHECK(moved > fused[0].bytes);
  CHECK(launches(of_step(*traced().fused, kLast)) < launches(of_step(*traced().eager, kLast)) / 2);
  CHECK(kernel_time(of_step(*traced().fused, kLast)) < kernel_time(of_step(*traced().eager, kLast)));
  // Activations [1024, 2048], weight [8192, 2048], output [1024, 8192].
  const auto gate = kernels_of(*traced().fused, "mlp.gate_proj", Phase::kForward, 3);
  REQUIRE_FALSE(gate.empty());
  CHECK(gate[0].bytes == 2 * (1024 * 2048 + 8192 * 2048 + 1024 * 8192));
}

TEST_CASE("tracing takes no device memory that a recording would show") {
  const auto plain = run(false, kFused);
  CHECK(plain->kernel_spans().empty());
  CHECK(plain->info().provenance.count("traced") == 0);
  CHECK(record::Ledger(*plain).peak().totals.allocated == record::Ledger(*traced().fused).peak().totals.allocated);
  const auto speed = std::count_if(plain->metrics().begin(), plain->metrics().end(), [](const auto& sample) {
    return sample.kind == record::MetricKind::kTokensPerSecond;
  });
  CHECK(speed == kSteps);
}
