// Kernels below their step's memory: on the same axis, with the model's names, selected, found and summed.
#include <algorithm>
#include <map>
#include <string>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/steps/step_lanes.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
using lessons::FigureData;
using lessons::Lane;
using lessons::TimeBox;
using record::KernelSpan;
using record::Mark;
using record::Nanoseconds;
using record::Recording;
using record::SpanKind;

namespace {

// CUPTI's clock is this far behind the marks' clock.
constexpr Nanoseconds kEarly = 170'000;
constexpr Nanoseconds kAfterMark = 200, kLaunchTime = 300;
constexpr std::uint16_t kNormOp = 200, kProjOp = 201, kCallName = 202, kOwnOp = 203, kProductName = 204;

// A GPU step whose layers launch a norm of two kernels and a GEMM at their marks.
Recording traced() {
  Recording recording = made_recording({.device = record::DeviceKind::kGpu, .steps = 2});
  record::RunInfo info = recording.info();
  info.provenance["traced"] = "kernels";
  recording.set_info(info);
  const std::vector<std::string> names = {"attention.rms_norm", "attention.q_proj", "cudaLaunchKernel",
                                          "headroom::kernels::row_norm", "nvjet_gemm"};
  recording.append_operators(kNormOp, names);
  std::vector<KernelSpan> spans;
  std::uint32_t correlation = 0;
  const std::vector<Mark> marks = recording.marks();
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    if (marks[i].step != 1) continue;
    const Nanoseconds room = marks[i + 1].device_time - marks[i].device_time;
    if (room < 10 * kAfterMark) continue;
    for (int k = 0; k < 3; ++k) {
      const Nanoseconds each = (room - 2 * kAfterMark) / 3;
      const Nanoseconds start = marks[i].device_time + kAfterMark + k * each - kEarly;
      KernelSpan span{.start = start,
                      .duration = each - 10,
                      .bytes = 1 << 20,
                      .correlation = ++correlation,
                      .step = 1,
                      .name = k < 2 ? kOwnOp : kProductName,
                      .op = k < 2 ? kNormOp : kProjOp,
                      .layer = marks[i].layer,
                      .kind = SpanKind::kKernel,
                      .phase = marks[i].phase};
      spans.push_back(span);
      span.kind = SpanKind::kRuntimeCall;
      span.name = kCallName;
      span.start = start - 1'000;
      span.duration = kLaunchTime;
      spans.push_back(span);
    }
  }
  recording.append(std::span<const KernelSpan>(spans));
  return recording;
}

FigureData build_lanes(const Recording& run, lessons::View view = {}, const Recording* baseline = nullptr,
                       std::string_view axis = "device") {
  const lessons::Figure* figure = lessons::find_figure("memory_timeline");
  record::Params params(figure->schema);
  REQUIRE(params.set("axis", axis).ok());
  const record::Ledger ledger(run);
  std::optional<record::Ledger> other;
  if (baseline != nullptr) other.emplace(*baseline);
  return figure->build({.run = &ledger, .baseline = other ? &*other : nullptr, .params = &params, .view = view});
}

const Lane& lane(const FigureData& figure, std::string_view label) {
  const std::vector<Lane>& lanes = lanes_of(figure);
  const auto found = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& each) { return each.label == label; });
  REQUIRE(found != lanes.end());
  return *found;
}

constexpr int kFine = 1'000'000;  // columns, so that every kernel has a box

}  // namespace

TEST_CASE("a kernel is where the memory of its layer is, whatever its clock says") {
  const Recording run = traced();
  const record::StepRange step = *record::last_whole_step(run);
  const record::TimeMap map(run, record::TimeAxis::kDevice, step.first, step.last);
  const FigureData figure = build_lanes(run, {.columns = kFine});
  REQUIRE(panel_of<lessons::Lanes>(figure) != nullptr);
  CHECK(panel_in<lessons::Lanes>(figure).x.low == timeline_of(figure).x.low);
  CHECK(panel_in<lessons::Lanes>(figure).x.high == timeline_of(figure).x.high);
  std::size_t compared = 0;
  for (const TimeBox& box : lane(figure, "Kernel").boxes) {
    REQUIRE(box.span);
    const KernelSpan& span = run.kernel_spans()[*box.span];
    for (std::size_t i = step.first_mark; i < step.last_mark; ++i) {
      const Mark& mark = run.marks()[i];
      if (mark.device_time + kAfterMark - kEarly != span.start) continue;
      CHECK(box.begin - map.position(mark) == Approx(kAfterMark).margin(10));
      // The layer's first allocation is between this mark and the next.
      CHECK(map.position(mark.event_index) >= map.position(mark));
      CHECK(map.position(mark.event_index) <= map.position(run.marks()[i + 1]));
      ++compared;
    }
  }
  CHECK(compared >= 4);
}

TEST_CASE("in the stored runs every kernel is within its layer's stretch") {
  for (const char* name : {"llama-3.2-1b_h200_fused_kernels", "llama-3.2-1b_h200_eager_kernels"}) {
    const auto run = Recording::read(std::string(HEADROOM_SOURCE_DIR) + "/assets/recordings/" + name + ".hrec");
    REQUIRE(run.ok());
    const record::StepRange step = *record::last_whole_step(run.value());
    const record::TimeMap map(run.value(), record::TimeAxis::kDevice, step.first, step.last);
    const lessons::StepSpans spans(run.value(), step, record::TimeAxis::kDevice);
    std::map<std::pair<record::Phase, std::uint16_t>, std::pair<double, double>> stretches;
    for (const record::PhaseSpan& each : record::phase_spans(run.value(), map, step, false))
      if (each.layer != record::kNoLayer) stretches[{each.phase, each.layer}] = {each.begin, each.end};
    REQUIRE(stretches.size() == 32);
    std::size_t inside = 0;
    for (std::size_t i = 0; i < spans.spans().size(); ++i) {
      const KernelSpan& span = spans.spans()[i];
      const auto stretch = stretches.find({span.phase, span.layer});
      if (span.kind != SpanKind::kKernel || stretch == stretches.end()) continue;
      CHECK(spans.begin(i) >= stretch->second.first);
      CHECK(spans.end(i) <= stretch->second.second);
      ++inside;
    }
    CHECK(inside > 500);
  }
}

TEST_CASE("lanes have the model's names, and a zone is as wide as its kernels") {
  const Recording run = traced();
  const FigureData figure = build_lanes(run, {.columns = kFine});
  std::vector<std::string> labels;
  for (const Lane& each : lanes_of(figure)) labels.push_back(each.label);
  CHECK(labels == std::vector<std::string>{"Layer", "Operation", "Kernel", "Host"});
  CHECK(lane(figure, "Layer").note.find("launches") != std::string::npos);
  const std::vector<TimeBox>& kernels = lane(figure, "Kernel").boxes;
  const std::vector<TimeBox>& operations = lane(figure, "Operation").boxes;
  REQUIRE(kernels.size() % 3 == 0);
  REQUIRE(operations.size() == kernels.size() / 3 * 2);
  for (std::size_t i = 0; i * 3 < kernels.size(); ++i) {
    const TimeBox &norm = operations[2 * i], &projection = operations[2 * i + 1];
    CHECK(norm.label == "RMSNorm");
    CHECK(norm.tip.find("2 kernels") != std::string::npos);
    CHECK(norm.begin == kernels[3 * i].begin);
    CHECK(norm.end == kernels[3 * i + 1].end);
    CHECK(projection.label == "q projection");
    CHECK(projection.end == kernels[3 * i + 2].end);
  }
  CHECK(kernels[0].label == "fused");
  CHECK(kernels[2].label == "matmul");
  CHECK(kernels[2].work == lessons::Work::kProduct);
  CHECK(kernels[2].tip.find("nvjet_gemm") != std::string::npos);  // only the tip has CUDA's name
  CHECK(kernels[2].tip.find("1.00 MiB") != std::string::npos);
  CHECK(kernels[2].tip.find("GB/s") != std::string::npos);
  const TimeBox& layer = lane(figure, "Layer").boxes.front();
  CHECK(layer.label == "0");
  CHECK(layer.tip.find("layer 0, forward") == 0);
}

TEST_CASE("operators have the names that books give them") {
  CHECK(lessons::operation_name("mlp.gate_proj") == "gate projection");
  CHECK(lessons::operation_name("final.rms_norm") == "RMSNorm");
  CHECK(lessons::operation_name("mlp.silu") == "SwiGLU");
  CHECK(lessons::operation_name("attention.scores") == "attention");
  CHECK(lessons::operation_name("lm_head") == "output head");
  CHECK(lessons::operation_name("loss.log_softmax") == "cross entropy");
  CHECK(lessons::operation_name("adamw") == "AdamW");
  CHECK(lessons::operation_name("layer.finite_check") == "finite check");
  CHECK(lessons::operation_name("").empty());
}

TEST_CASE("what is too short to see is drawn together and counted, and none is lost") {
  const Recording run = traced();
  const std::size_t all = lane(build_lanes(run, {.columns = kFine}), "Kernel").boxes.size();
  const FigureData coarse = build_lanes(run, {.columns = 12});
  std::size_t kernels = 0;
  for (const TimeBox& box : lane(coarse, "Kernel").boxes) kernels += static_cast<std::size_t>(box.count);
  CHECK(kernels == all);
  CHECK(lane(coarse, "Kernel").boxes.size() < all);
  const TimeBox& joined = lane(coarse, "Kernel").boxes.front();
  CHECK(joined.count > 1);
  CHECK_FALSE(joined.span);
  CHECK(joined.tip == std::to_string(joined.count) + " kernels");
  const FigureData chosen = build_lanes(run, {.columns = 12, .kernel = 0});
  const std::vector<TimeBox>& boxes = lane(chosen, "Kernel").boxes;
  CHECK(std::count_if(boxes.begin(), boxes.end(), [](const TimeBox& box) { return box.selected; }) == 1);
  const double end = timeline_of(chosen).x.high;
  CHECK(lane(build_lanes(run, {.begin = 0, .end = end / 4, .columns = kFine}), "Kernel").boxes.size() < all);
}

TEST_CASE("an arrow goes from the launch to the kernel, and from forward to the same operation of backward") {
  const Recording run = traced();
  const FigureData plain = build_lanes(run, {.columns = kFine});
  CHECK(panel_in<lessons::Lanes>(plain).flows.empty());
  const std::vector<TimeBox>& kernels = lane(plain, "Kernel").boxes;
  const TimeBox kernel = *std::find_if(kernels.begin(), kernels.end(), [](const TimeBox& box) {
    return box.tip.find("q projection, layer 1, forward") == 0;
  });
  const FigureData figure = build_lanes(run, {.columns = kFine, .kernel = kernel.span});
  const auto& lanes = panel_in<lessons::Lanes>(figure);
  REQUIRE(lanes.flows.size() == 2);
  const lessons::Flow& launch = lanes.flows[0];
  CHECK(lanes.lanes[launch.from_lane].label == "Host");
  CHECK(lanes.lanes[launch.to_lane].label == "Kernel");
  CHECK(launch.to == kernel.begin);
  CHECK(launch.from == Approx(kernel.begin - 1'000));
  const lessons::Flow& counterpart = lanes.flows[1];
  CHECK(lanes.lanes[counterpart.from_lane].label == "Operation");
  const auto holds = [&](const TimeBox& box, double x) { return box.begin <= x && x <= box.end; };
  for (const TimeBox& box : lane(figure, "Operation").boxes) {
    if (holds(box, counterpart.from)) CHECK(box.tip.find("layer 1, forward") != std::string::npos);
    if (holds(box, counterpart.to)) CHECK(box.tip.find("layer 1, backward") != std::string::npos);
  }
  CHECK(counterpart.from < counterpart.to);
}

TEST_CASE("a marked range has count, sum, median and busy share of its kernels") {
  const Recording run = traced();
  const FigureData figure = build_lanes(run, {.columns = kFine});
  const std::vector<TimeBox>& kernels = lane(figure, "Kernel").boxes;
  const double begin = kernels[1].begin, end = kernels[4].begin + 10;  // kernels 1, 2, 3 and 10 ns of 4
  std::vector<double> durations;
  for (std::size_t i = 1; i <= 4; ++i) durations.push_back(kernels[i].end - kernels[i].begin);
  const double sum = durations[0] + durations[1] + durations[2] + durations[3];
  std::sort(durations.begin(), durations.end());
  const lessons::StepSpans step(run, *record::last_whole_step(run), record::TimeAxis::kDevice);
  const lessons::SpanSums sums = lessons::sums_of(step, begin, end);
  CHECK(sums.count == 4);
  CHECK(sums.sum == Approx(sum));
  CHECK(sums.median == Approx((durations[1] + durations[2]) / 2));
  const double busy = sum - (kernels[4].end - kernels[4].begin) + 10;
  CHECK(sums.busy == Approx(busy / (end - begin)));
  const FigureData marked = build_lanes(run, {.range = std::pair{begin, end}});
  CHECK(panel_in<lessons::Lanes>(marked).marked == lessons::sums_text(sums));
  CHECK(lessons::sums_text({.count = 48, .sum = 1.2e6, .median = 23'100, .busy = 0.918}) ==
        "48 kernels, 1,200 µs in total, median 23.1 µs, 92 % busy");
  CHECK(lessons::sums_text({}) == "0 kernels, 0 % busy");
}

TEST_CASE("a search finds kernels by the model's name and by CUDA's, in the order of time") {
  const Recording run = traced();
  const std::size_t all = lane(build_lanes(run, {.columns = kFine}), "Kernel").boxes.size();
  CHECK(panel_in<lessons::Lanes>(build_lanes(run)).found.empty());
  const FigureData norms = build_lanes(run, {.find = "rmsnorm"});
  CHECK(panel_in<lessons::Lanes>(norms).found.size() == all / 3 * 2);
  CHECK(panel_in<lessons::Lanes>(build_lanes(run, {.find = "nvjet"})).found.size() == all / 3);
  CHECK(panel_in<lessons::Lanes>(build_lanes(run, {.find = "flash"})).found.empty());
  const auto& found = panel_in<lessons::Lanes>(norms).found;
  CHECK(std::is_sorted(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; }));
}

TEST_CASE("run A's kernels are below on the same axis, stretched with its phases where those align") {
  const Recording run = traced(), other = traced();
  const FigureData figure = build_lanes(run, {.columns = kFine}, &other, "phase");
  const std::vector<TimeBox>&b = lane(figure, "B: Kernel").boxes, &a = lane(figure, "A: Kernel").boxes;
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i].begin == Approx(b[i].begin).margin(1));
  CHECK(lane(figure, "A: Host").baseline);
  CHECK(timeline_of(figure).x.name == "phases as wide as in B");
}

TEST_CASE("there are no lanes without a trace, by event, and while the answer is hidden") {
  const Recording run = traced();
  CHECK(panel_of<lessons::Lanes>(build_lanes(made_recording({.device = record::DeviceKind::kGpu}))) == nullptr);
  CHECK(panel_of<lessons::Lanes>(build_lanes(run, {}, nullptr, "event")) == nullptr);
  CHECK(panel_of<lessons::Lanes>(build_lanes(run, {.hidden = true})) == nullptr);
  CHECK(panel_of<lessons::Lanes>(build_lanes(run, {}, nullptr, "host")) != nullptr);
}
