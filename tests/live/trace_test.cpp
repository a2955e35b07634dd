// Recordings of traced runs on the CPU: operators instead of kernels.
#include <algorithm>
#include <map>
#include <string>

#include "demos/record/timeline.h"
#include "tests/live/engine_child.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::KernelSpan;
using record::Phase;
using record::SpanKind;
using tests::EngineChild;

using SettingMap = std::map<std::string, std::string>;

protocol::StartRun traced_run(std::uint64_t run, const SettingMap& more = {}) {
  SettingMap params = more;
  params.insert({{"model", "tiny"}, {"batch", "2"}, {"seq", "64"}, {"device", "cpu"}, {"steps", "2"}, {"trace", "on"}});
  return {.run = run, .demo = "train_step", .params = params};
}

void run(EngineChild& engine, const protocol::StartRun& start) {
  engine.new_recording();
  engine.send(start);
  const auto finished = engine.next_of<protocol::RunFinished>();
  REQUIRE(finished);
  REQUIRE(finished->outcome.kind == record::OutcomeKind::kCompleted);
  CHECK(engine.refused_chunks() == 0);
}

std::vector<KernelSpan> of_step(const record::Recording& recording, int step) {
  std::vector<KernelSpan> found;
  for (const KernelSpan& span : recording.kernel_spans())
    if (span.step == step) found.push_back(span);
  return found;
}

std::size_t metrics_of(const record::Recording& recording, record::MetricKind kind) {
  return static_cast<std::size_t>(std::count_if(recording.metrics().begin(), recording.metrics().end(),
                                                [kind](const auto& sample) { return sample.kind == kind; }));
}

}  // namespace

TEST_CASE("a traced CPU run records each operator's time, duration, purpose and bytes") {
  EngineChild engine({"--trace"});
  run(engine, traced_run(1));
  const record::Recording& recording = engine.recording();
  CHECK(recording.info().provenance.at("traced") == "operators");
  CHECK(recording.info().provenance.count("trace_trouble") == 0);
  const auto steps = record::steps_of(recording);
  REQUIRE(steps.size() == 2);
  const std::vector<KernelSpan> spans = of_step(recording, 1);
  CHECK(spans.size() > 100);
  const record::Nanoseconds begin = recording.marks()[steps[1].first_mark].host_time;
  REQUIRE(steps[1].last_mark < recording.marks().size());
  const record::Nanoseconds end = recording.marks()[steps[1].last_mark].host_time;
  record::Nanoseconds until = begin, busy = 0;
  bool in_order = true, known = true;
  int products = 0;
  for (const KernelSpan& span : spans) {
    in_order = in_order && span.start >= until && span.duration >= 0;
    until = span.start + span.duration;
    busy += span.duration;
    known = known && span.kind == SpanKind::kHostOperator && span.bytes > 0 && !recording.op_name(span.name).empty();
    products += recording.op_name(span.name) == "mm" && span.layer == 2 && span.phase == Phase::kForward;
  }
  CHECK(in_order);  // no time counts twice
  CHECK(known);
  CHECK(until <= end);
  CHECK(busy > (end - begin) / 4);
  CHECK(products == 7);  // q, k, v, o, gate, up, down
  // [128, 256] · [704, 256]ᵀ in fp32, each matrix moved once.
  const auto gate = std::find_if(spans.begin(), spans.end(), [&](const KernelSpan& span) {
    return recording.op_name(span.op) == "mlp.gate_proj" && span.phase == Phase::kForward && span.layer == 0;
  });
  REQUIRE(gate != spans.end());
  CHECK(gate->bytes == 4 * (128 * 256 + 704 * 256 + 128 * 704));
}

TEST_CASE("a traced run reports no speed, because tracing costs time") {
  EngineChild engine({"--trace"});
  run(engine, traced_run(1));
  CHECK(metrics_of(engine.recording(), record::MetricKind::kLoss) == 2);
  CHECK(metrics_of(engine.recording(), record::MetricKind::kTokensPerSecond) == 0);
  CHECK(metrics_of(engine.recording(), record::MetricKind::kStepNanoseconds) == 0);
  run(engine, traced_run(2, {{"trace", "off"}}));
  CHECK(engine.recording().kernel_spans().empty());
  CHECK(engine.recording().info().provenance.count("traced") == 0);
  CHECK(metrics_of(engine.recording(), record::MetricKind::kTokensPerSecond) == 2);
}

TEST_CASE("a fused kernel is one operator with its moved bytes") {
  EngineChild engine({"--trace"});
  run(engine, traced_run(1));
  const auto norms = [&] {
    std::vector<KernelSpan> found;
    for (const KernelSpan& span : of_step(engine.recording(), 1))
      if (engine.recording().op_name(span.op) == "mlp.rms_norm" && span.phase == Phase::kForward && span.layer == 1)
        found.push_back(span);
    return found;
  };
  const std::vector<KernelSpan> eager = norms();
  run(engine, traced_run(2, {{"fused.rms_norm", "on"}}));
  const std::vector<KernelSpan> fused = norms();
  CHECK(eager.size() > 2);
  REQUIRE(fused.size() == 1);
  record::Bytes moved = 0;
  for (const KernelSpan& span : eager) moved += span.bytes;
  // x, the residual, their sum and the norm's result, each [128, 256] in fp32; the weight, and a number per row.
  CHECK(fused[0].bytes == 4 * (4 * 128 * 256 + 256 + 128));
  CHECK(fused[0].bytes < moved);
}

TEST_CASE("an engine without --trace says that it traces nothing, and runs") {
  EngineChild engine;
  run(engine, traced_run(1));
  CHECK(engine.recording().kernel_spans().empty());
  CHECK(engine.recording().info().provenance.count("traced") == 0);
  CHECK(engine.recording().info().provenance.at("trace_trouble").find("--trace") != std::string::npos);
  CHECK(metrics_of(engine.recording(), record::MetricKind::kTokensPerSecond) == 2);
}
