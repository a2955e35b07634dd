// Figures of traced steps: launches, times and bytes.
#include <algorithm>
#include <string>

#include "demos/record/ledger.h"
#include "lessons/figure.h"
#include "lessons/steps/step_work.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
using lessons::FigureData;
using record::KernelSpan;
using record::Phase;
using record::SpanKind;

namespace {

constexpr std::uint16_t kSilu = 100, kNorm = 101, kProj = 102, kEagerName = 103, kOwnName = 104, kGemmName = 105,
                        kCall = 106, kCopyName = 107;

KernelSpan kernel(record::Nanoseconds start, record::Nanoseconds duration, std::uint16_t name, std::uint16_t op,
                  record::Bytes bytes = record::kUnknownBytes) {
  static std::uint32_t correlation = 0;
  return {.start = start,
          .duration = duration,
          .bytes = bytes,
          .correlation = ++correlation,
          .step = 1,
          .name = name,
          .op = op,
          .layer = 0,
          .kind = SpanKind::kKernel,
          .phase = Phase::kForward};
}

record::Recording with(std::vector<KernelSpan> spans, bool traced = true) {
  record::Recording recording = made_recording({.device = record::DeviceKind::kGpu, .steps = 2});
  record::RunInfo info = recording.info();
  if (traced) info.provenance["traced"] = "kernels, by CUPTI 13.0";
  recording.set_info(info);
  const std::vector<std::string> names = {"mlp.silu",
                                          "mlp.rms_norm",
                                          "mlp.gate_proj",
                                          "at::native::elementwise_kernel",
                                          "headroom::kernels::rms_norm",
                                          "nvjet_gemm",
                                          "cudaLaunchKernel",
                                          "copy, host to device"};
  recording.append_operators(kSilu, names);
  recording.append(std::span<const KernelSpan>(spans));
  return recording;
}

record::Recording eager() {
  std::vector<KernelSpan> spans = {
      kernel(10'000, 4'000, kGemmName, kProj, 3 << 20), kernel(14'000, 1'000, kEagerName, kNorm, 1 << 20),
      kernel(15'000, 1'000, kEagerName, kNorm), kernel(16'500, 1'000, kEagerName, kSilu, 1 << 20)};
  for (int i = 0; i < 4; ++i) {
    KernelSpan call = kernel(5'000 + i * 2'000, 1'500, kCall, kNorm);
    call.kind = SpanKind::kRuntimeCall;
    spans.push_back(call);
  }
  KernelSpan copy = kernel(17'500, 300, kCopyName, kNorm, 4'096);
  copy.kind = SpanKind::kCopy;
  spans.push_back(copy);
  KernelSpan before = kernel(100, 900'000, kGemmName, kProj);
  before.step = 0;  // warm-up
  spans.push_back(before);
  return with(spans);
}

record::Recording fused() {
  return with({kernel(10'000, 4'000, kGemmName, kProj, 3 << 20), kernel(14'000, 1'200, kOwnName, kNorm, 1 << 20)});
}

FigureData build_kernels(std::string_view id, const record::Recording& run, const record::Recording* baseline = nullptr,
                         lessons::View view = {}, std::string_view part = "step") {
  const lessons::Figure* figure = lessons::find_figure(id);
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  REQUIRE(params.set("part", part).ok());
  const record::Ledger ledger(run);
  std::optional<record::Ledger> other;
  if (baseline != nullptr) other.emplace(*baseline);
  return figure->build({.run = &ledger, .baseline = other ? &*other : nullptr, .params = &params, .view = view});
}

}  // namespace

TEST_CASE("the work of a step is the sum of its kernels, and the time between them is idle") {
  const record::Recording recording = eager();
  CHECK(lessons::last_traced_step(recording) == 1);
  CHECK(lessons::traced_steps(recording) == std::vector<std::int32_t>{0, 1});
  const lessons::StepWork work = lessons::work_of(lessons::spans_of(recording, {.step = 1}));
  CHECK(work.launches == 4);
  CHECK(work.copies == 1);
  CHECK(work.kernel_time == 7'000);
  CHECK(work.idle == 500);
  CHECK(work.length == 7'800);
  CHECK(work.bytes == (5 << 20) + 4'096);
  CHECK(lessons::work_of(lessons::spans_of(recording, {.step = 1, .op = "rms_norm"})).launches == 2);
  CHECK(lessons::spans_of(recording, {.step = 1, .phase = static_cast<int>(Phase::kBackward)}).empty());
}

TEST_CASE("kernels that overlap on two streams leave no gap") {
  KernelSpan beside = kernel(2'000, 9'000, kEagerName, kSilu);
  beside.stream = 1;
  const record::Recording recording =
      with({kernel(1'000, 2'000, kGemmName, kProj), beside, kernel(5'000, 1'000, kGemmName, kProj)});
  const lessons::StepWork work = lessons::work_of(lessons::spans_of(recording, {.step = 1}));
  CHECK(work.idle == 0);
  CHECK(work.length == 10'000);
}

TEST_CASE("a run that was not traced says so, or why it could not be") {
  CHECK(build_kernels("launches", with({}, false)).head.empty_reason == "The kernels of this run were not traced.");
  record::Recording refused = with({}, false);
  record::RunInfo info = refused.info();
  info.provenance["trace_trouble"] = "Another tool traces this process.";
  refused.set_info(info);
  CHECK(build_kernels("launches", refused).head.empty_reason == "Another tool traces this process.");
  CHECK(build_kernels("launches", eager(), nullptr, {}, "backward").head.empty_reason ==
        "This part of the step launched nothing.");
}

TEST_CASE("launches, time and bytes are side by side, by what they were for") {
  const record::Recording pinned = eager();
  const FigureData figure = build_kernels("launches", fused(), &pinned);
  REQUIRE(tests::charts_of(figure).size() == 3);
  const lessons::Chart& launches = *tests::charts_of(figure)[0];
  CHECK(launches.categories == std::vector<std::string>{"RMSNorm", "SwiGLU", "linear layers"});
  REQUIRE(launches.series.size() == 2);
  CHECK(launches.series[0].kind == lessons::SeriesKind::kEager);
  CHECK(launches.series[0].points[0].y == 2);
  CHECK(launches.series[1].points[0].y == 1);
  CHECK(launches.series[1].points[1].y == 0);  // only A has SwiGLU's kernel
  CHECK(tests::charts_of(figure)[1]->series[0].points[0].y == 2'000);
  CHECK(tests::charts_of(figure)[1]->series[1].points[0].y == 1'200);
  CHECK(tests::charts_of(figure)[2]->series[0].points[2].y == 3 << 20);
}
