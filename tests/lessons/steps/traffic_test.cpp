// RMSNorm launch by launch: closed-form bytes equal recorded ones, and the copy was measured on the same device.
#include <cmath>
#include <filesystem>
#include <tuple>

#include "demos/record/ledger.h"
#include "lessons/figure.h"
#include "lessons/steps/kernel_rows.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using lessons::Traffic;
using lessons::TrafficForm;
using lessons::TrafficKernel;
using record::kMiB;

namespace {

lessons::FigureData build_traffic(const std::string& bench, const std::string& launches) {
  const record::Recording run = tests::stored(bench), traced = tests::stored(launches);
  const record::Ledger ledger(run), beside(traced);
  const record::Ledger* const all[] = {&beside};
  return lessons::find_figure("launch_traffic")->build({.run = &ledger, .beside = all});
}

int compared(const TrafficForm& form, const record::Recording& recording, const std::string& key) {
  int count = 0;
  std::size_t at = 0;
  for (const record::KernelSpan& span : recording.kernel_spans()) {
    if (span.step < 0 || span.kind == record::SpanKind::kRuntimeCall) continue;
    if (recording.op_name(span.op) != std::string(lessons::kFormPrefix) + key) continue;
    const TrafficKernel& kernel = form.kernels.at(at++);
    INFO(kernel.label);
    if (span.bytes < 0) continue;
    CHECK(std::abs(kernel.moved() - span.bytes) <= 16);  // operators also count scalars
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("the bytes of each kernel are those that were recorded") {
  for (const auto& [bench, launches, eager] :
       {std::tuple{"kernels_h200", "rms_norm_h200_launches", 6}, {"kernels_cpu", "rms_norm_cpu_launches", 7}}) {
    const lessons::FigureData data = build_traffic(bench, launches);
    INFO(bench << data.head.empty_reason);
    REQUIRE(data.head.empty_reason.empty());
    const auto& panel = tests::panel_in<Traffic>(data);
    const record::Recording recording = tests::stored(launches);
    CHECK(compared(panel.forms[0], recording, "eager") >= eager);
    CHECK(compared(panel.forms[1], recording, "fused") == 1);
    CHECK(panel.copy > 0);
  }
}

TEST_CASE("eight launches move nine times the bytes of one") {
  const lessons::FigureData data = build_traffic("kernels_h200", "rms_norm_h200_launches");
  const auto& panel = tests::panel_in<Traffic>(data);
  REQUIRE(panel.forms.size() == 2);
  const TrafficForm &eager = panel.forms[0], &fused = panel.forms[1];
  CHECK(eager.kernels.size() == 8);
  CHECK(fused.kernels.size() == 1);
  CHECK(eager.moved() / kMiB == 288);  // for 8,192 × 1,024 numbers, in MiB: 48 + 64 + 32 + 64 + 48 + 32
  CHECK(fused.moved() / kMiB == 32);
  CHECK(eager.kept() / kMiB == 48);  // x in fp32, and the numbers multiplied by w
  CHECK(fused.kept() == 4 * 1024);
  CHECK(panel.square == 4 * kMiB);
  CHECK(eager.kernels.front().begin == 0);
  CHECK(data.head.provenance.at("launches.gpu") == "NVIDIA H200");
}

TEST_CASE("launches of another device are not shown beside a run") {
  const lessons::FigureData data = build_traffic("kernels_cpu", "rms_norm_h200_launches");
  CHECK(data.panels.empty());
  CHECK(data.head.empty_reason.find("device of this run") != std::string::npos);
}
