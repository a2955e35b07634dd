// The memory timeline: contents, hiding of the answer, stable axes.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/form_recording.h"
#include "demos/predict/step_settings.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/llama_step.h"
#include "tests/support/made_prediction.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;

namespace {

const lessons::Figure& figure() { return *lessons::find_figure("memory_timeline"); }

struct Built : lessons::Timeline {
  lessons::FigureHead head;
};

Built build_timeline(const lessons::FigureInput& input) {
  const lessons::FigureData data = figure().build(input);
  return {tests::timeline_of(data), data.head};
}

record::Bytes total(const record::ByCategory& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), record::Bytes{0});
}

double highest(const lessons::Timeline& data) {
  record::Bytes most = 0;
  for (const auto& column : data.stack) most = std::max(most, total(column.high));
  return static_cast<double>(most);
}

const lessons::Band* band(const lessons::Timeline& data, std::string_view label) {
  for (const auto& each : data.bands) {
    if (each.label == label) return &each;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the stack reaches the ledger's peak, however few columns it has") {
  for (const bool on_gpu : {false, true}) {
    const record::Recording run =
        tests::made_recording({.device = on_gpu ? record::DeviceKind::kGpu : record::DeviceKind::kCpu});
    const record::Ledger ledger(run);
    for (const int columns : {1, 7, 100, 1000, 5000}) {
      const auto data = build_timeline({.run = &ledger, .view = {.columns = columns}});
      const auto steps = record::steps_of(run);
      const auto peak = ledger.peak(steps.back().first, steps.back().last).totals.allocated;
      REQUIRE(data.peak);
      CHECK(data.peak->y == static_cast<double>(peak));
      CHECK(highest(data) == data.peak->y);
      CHECK(data.y.high >= data.peak->y);
      CHECK(data.stack.size() <= static_cast<std::size_t>(columns));
    }
  }
}

TEST_CASE("columns follow each other and end with the data") {
  const record::Recording run = tests::llama_recording();
  const record::Ledger ledger(run);
  const auto data = build_timeline({.run = &ledger});
  REQUIRE(data.stack.size() > 900);
  for (std::size_t i = 1; i < data.stack.size(); ++i)
    REQUIRE(data.stack[i].begin == Approx(data.stack[i - 1].end).margin(1e-6));
  CHECK(data.stack.front().begin == 0);
  CHECK(data.stack.back().end < data.x.high);
  CHECK(data.bands.back().end == Approx(data.stack.back().end));
}

TEST_CASE("phases are marked, recompute half as high within backward") {
  const record::Recording run = tests::llama_recording({.checkpointing = true});
  const record::Ledger ledger(run);
  const auto data = build_timeline({.run = &ledger});
  for (const char* label : {"forward", "loss", "backward", "optimizer"}) CHECK(band(data, label) != nullptr);
  const auto* backward = band(data, "backward");
  int recomputed = 0;
  for (const auto& each : data.bands) {
    if (!each.half) continue;
    ++recomputed;
    CHECK(each.begin >= backward->begin);
    CHECK(each.end <= backward->end);
  }
  CHECK(recomputed == 16);
}

TEST_CASE("weights and optimizer state are quiet only while they do not change") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  record::Params params(figure().schema);
  REQUIRE(params.set("show", "step").ok());
  const auto first = build_timeline({.run = &ledger, .params = &params});  // step 0 creates the optimizer state
  CHECK(first.quiet[0]);
  CHECK_FALSE(first.quiet[1]);
  const auto last = build_timeline({.run = &ledger});
  CHECK(last.quiet[0]);
  CHECK(last.quiet[1]);
  CHECK_FALSE(last.quiet[3]);
}

TEST_CASE("the whole run and the other axes") {
  const record::Recording run = tests::made_recording({.device = record::DeviceKind::kGpu});
  const record::Ledger ledger(run);
  record::Params params(figure().schema);
  REQUIRE(params.set("show", "run").ok());
  REQUIRE(params.set("axis", "event").ok());
  const auto data = build_timeline({.run = &ledger, .params = &params});
  CHECK(data.x.unit == lessons::AxisUnit::kEvents);
  CHECK(data.stack.back().end == Approx(static_cast<double>(run.events().size())).margin(1.5));
  REQUIRE(params.set("show", "last_step").ok());
  REQUIRE(params.set("axis", "host").ok());
  const auto host = build_timeline({.run = &ledger, .params = &params});
  REQUIRE(params.set("axis", "device").ok());
  const auto device = build_timeline({.run = &ledger, .params = &params});
  CHECK(device.x.high > 5 * host.x.high);  // the host only launches
  CHECK(highest(device) == highest(host));
}

TEST_CASE("a figure says which part of the run it shows, and on which clock") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  const auto last = build_timeline({.run = &ledger});
  CHECK(last.head.title == "Memory over one step");
  CHECK(last.head.provenance.at("figure.show") == "last_step");
  CHECK(last.head.provenance.at("figure.step") == "2");
  CHECK(last.head.provenance.at("figure.axis") == "phase");
  record::Params params(figure().schema);
  REQUIRE(params.set("show", "run").ok());
  REQUIRE(params.set("axis", "event").ok());
  const auto whole = build_timeline({.run = &ledger, .params = &params});
  CHECK(whole.head.title == "Memory over the whole run");
  CHECK(whole.head.provenance.count("figure.step") == 0);
  CHECK(whole.head.provenance.at("figure.axis") == "event");
  const auto bars = lessons::find_figure("peak_by_category")->build({.run = &ledger});
  CHECK(bars.head.provenance.at("figure.step") == "2");
}

TEST_CASE("the cursor shows what is alive there, without one the list is the peak's") {
  const record::Recording run = tests::llama_recording();
  const record::Ledger ledger(run);
  const auto at_peak = build_timeline({.run = &ledger});
  REQUIRE(at_peak.alive);
  CHECK_FALSE(at_peak.alive->at_cursor);
  CHECK(static_cast<double>(at_peak.alive->total) == at_peak.peak->y);
  CHECK(at_peak.alive->when == "27.3 ms, loss");
  const auto early = build_timeline({.run = &ledger, .view = {.cursor = 15e6}});
  CHECK(early.alive->at_cursor);
  CHECK(early.alive->when == "15.0 ms, forward, layer 9");
  CHECK(early.alive->total < at_peak.alive->total);
  const auto outside = build_timeline({.run = &ledger, .view = {.cursor = 1e18}});
  CHECK(outside.alive->position == outside.stack.back().end);
  CHECK(outside.alive->total == ledger.at(record::steps_of(run).back().last - 1).allocated);
}

TEST_CASE("of a closed form the forward pass is shown before the answer, as of a run") {
  const record::Params settings(experiments::training_step().schema);
  const record::Recording form =
      predict::recording_of(predict::closed_form(predict::step_settings(settings)), settings);
  const record::Ledger ledger(form);
  const auto open = build_timeline({.run = &ledger});
  const auto hidden = build_timeline({.run = &ledger, .view = {.hidden = true}});
  REQUIRE(hidden.hidden_from);
  REQUIRE(band(open, "forward") != nullptr);
  CHECK(*hidden.hidden_from == Approx(band(open, "forward")->end));
  CHECK(highest(hidden) < highest(open));
  CHECK_FALSE(hidden.peak);
}

TEST_CASE("while the answer is hidden nothing gives it away") {
  for (const bool checkpointing : {false, true}) {
    const record::Recording run = tests::llama_recording({.checkpointing = checkpointing});
    const record::Ledger ledger(run);
    const auto open = build_timeline({.run = &ledger, .view = {.asked = true}});
    const auto hidden = build_timeline({.run = &ledger, .view = {.cursor = 1e18, .guess = 10e9, .hidden = true}});
    REQUIRE(hidden.hidden_from);
    CHECK(*hidden.hidden_from == Approx(band(open, "forward")->end));
    CHECK(highest(hidden) < highest(open));
    for (const auto& column : hidden.stack) REQUIRE(column.end <= *hidden.hidden_from + 1e-6);
    CHECK_FALSE(hidden.peak);
    CHECK_FALSE(hidden.failed);
    CHECK(hidden.lines.empty());  // reserved memory would reveal the peak
    CHECK(hidden.alive->position <= *hidden.hidden_from);
    for (const auto& level : hidden.levels) CHECK(static_cast<double>(level.bytes) <= highest(hidden));
    CHECK(hidden.y.high == open.y.high);
    CHECK(hidden.x.high == open.x.high);
  }
}

TEST_CASE("the hidden y axis does not depend on what it hides") {
  // The same forward pass; the second run's loss allocates far more.
  const record::Recording run = tests::llama_recording({.steps = 1});
  record::Recording higher(run.info());
  std::vector<record::MemEvent> events = run.events();
  for (auto& event : events) {
    if (event.category == record::Category::kLogits) event.block *= 8, event.requested *= 8;
  }
  higher.append(std::span(events));
  higher.append(std::span(run.marks()));
  higher.set_outcome(*run.outcome());
  const record::Ledger low(run), high(higher);
  REQUIRE(high.peak().totals.allocated > 2 * low.peak().totals.allocated);
  const lessons::View view{.hidden = true};
  CHECK(build_timeline({.run = &high, .view = view}).y.high == build_timeline({.run = &low, .view = view}).y.high);
}

TEST_CASE("while the answer is hidden the first allocation of the loss stays hidden, on the axis of events, too") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  record::Params params(figure().schema);
  for (const char* axis : {"device", "event"}) {
    INFO(axis);
    REQUIRE(params.set("axis", axis).ok());
    for (const std::optional<double> cursor : {std::optional<double>(), std::optional(1e18)}) {
      const auto data = build_timeline({.run = &ledger, .params = &params, .view = {.cursor = cursor, .hidden = true}});
      CHECK(static_cast<double>(data.alive->total) <= highest(data));
      CHECK(data.alive->when.find("forward") != std::string::npos);
      CHECK(std::none_of(data.alive->rows.begin(), data.alive->rows.end(),
                         [](const auto& row) { return row.category == record::Category::kLogits; }));
    }
  }
}

TEST_CASE("running out of memory is drawn where it happened") {
  const record::Recording run = tests::llama_recording({.batch = 8, .steps = 1, .cap = 24 * record::kGiB});
  const record::Ledger ledger(run);
  const auto data = build_timeline({.run = &ledger});
  REQUIRE(data.failed);
  CHECK(data.failed->label == "requested 3.91 GiB");  // fp32 logits of 8,192 tokens
  CHECK(data.failed->base == static_cast<double>(ledger.at(ledger.size() - 1).allocated));
  CHECK(data.failed->base + data.failed->bytes > data.cap->y);
  CHECK(data.failed->base + data.failed->bytes < data.y.high);
  CHECK(data.failed->x == Approx(data.stack.back().end));
  CHECK(data.cap->label == "24 GiB card");
  CHECK(data.alive->total == run.outcome()->out_of_memory->allocated);
}

TEST_CASE("a run that ran out shows the step in which it did, not the last whole one") {
  const record::Recording run = tests::made_recording({.out_of_memory = true});
  const auto steps = record::steps_of(run);
  REQUIRE(steps.size() == 2);
  REQUIRE(steps[0].complete);
  const record::Ledger ledger(run);
  const auto data = build_timeline({.run = &ledger});
  REQUIRE(data.failed);
  CHECK(data.peak->y == static_cast<double>(ledger.peak(steps[1].first).totals.allocated));
}

TEST_CASE("a cap below the weights, and one far above the data") {
  const record::Recording low = tests::llama_recording({.steps = 1, .cap = record::kGiB});
  const record::Ledger ledger(low);
  const auto data = build_timeline({.run = &ledger});
  REQUIRE(data.failed);
  CHECK(data.head.empty_reason.empty());
  CHECK(data.y.high > data.cap->y);
  const record::Recording high = tests::llama_recording({.steps = 1, .cap = 1000 * record::kGiB});
  const record::Ledger far(high);
  const auto flat = build_timeline({.run = &far});
  CHECK(flat.cap->y > flat.y.high);  // named, not drawn, since it would flatten the data
  CHECK(flat.y.high < 2 * flat.peak->y);
}

TEST_CASE("the axis reaches what the process takes outside the allocator, if that is not far more") {
  const auto line_of = [](record::Bytes outside) {
    const record::Recording run = tests::llama_recording({.context = outside});
    const record::Ledger ledger(run);
    const auto data = build_timeline({.run = &ledger});
    const auto line = std::ranges::find(data.lines, lessons::LineStyle::kProcess, &lessons::StepLine::style);
    if (line != data.lines.end()) CHECK(line->y.front() < data.y.high);
    return line == data.lines.end() ? std::string() : line->label;
  };
  CHECK(line_of(record::kGiB).ends_with(" GiB, 1.0 GiB of it outside the allocator"));
  CHECK(line_of(5 * record::kGiB).ends_with(" GiB, 5.0 GiB of it outside the allocator"));
  CHECK(line_of(50 * record::kGiB).empty());
}

TEST_CASE("a process line that was sampled before the allocator took its memory is left out") {
  const auto has_process = [](const record::Recording& run) {
    const record::Ledger ledger(run);
    const auto data = build_timeline({.run = &ledger});
    return std::any_of(data.lines.begin(), data.lines.end(),
                       [](const auto& line) { return line.style == lessons::LineStyle::kProcess; });
  };
  CHECK(has_process(tests::llama_recording()));
  record::Recording stale = tests::llama_recording({.context = 0});
  stale.append(record::CounterSample{0, 8 * record::kGiB, record::CounterKind::kProcessBytes});
  CHECK_FALSE(has_process(stale));
}

TEST_CASE("run A is behind, on axes that hold both") {
  const record::Recording plain = tests::llama_recording();
  const record::Recording b = tests::llama_recording({.checkpointing = true});
  const record::Ledger baseline(plain), run(b);
  const auto data = build_timeline({.run = &run, .baseline = &baseline});
  REQUIRE(data.baseline_peak);
  CHECK(data.baseline_peak->label == "A peak 16.5 GiB");
  CHECK(data.y.high >= data.baseline_peak->y);
  CHECK(std::any_of(data.lines.begin(), data.lines.end(),
                    [](const auto& line) { return line.style == lessons::LineStyle::kBaseline; }));
  const auto hidden = build_timeline({.run = &run, .baseline = &baseline, .view = {.hidden = true}});
  // The question is about run B, so run A is complete, and the only line.
  REQUIRE(hidden.baseline_peak);
  CHECK(hidden.baseline_peak->y == data.baseline_peak->y);
  REQUIRE(hidden.lines.size() == 1);
  CHECK(hidden.lines[0].end > *hidden.hidden_from);
  CHECK(*std::max_element(hidden.lines[0].y.begin(), hidden.lines[0].y.end()) == hidden.baseline_peak->y);
  CHECK_FALSE(hidden.peak);
}

TEST_CASE("while a run grows its axes move seldom") {
  std::vector<double> x, y;
  for (std::uint64_t events = 1; events < 2000; events += 13) {
    const record::Recording run = tests::llama_recording({.source = record::Source::kLive, .stop_after = events});
    const record::Ledger ledger(run);
    const auto data = build_timeline({.run = &ledger, .view = {.columns = 50}});
    if (!data.head.empty_reason.empty()) continue;
    CHECK(data.head.growing);
    if (data.peak) CHECK(data.y.high >= data.peak->y);
    if (x.empty() || x.back() != data.x.high) x.push_back(data.x.high);
    if (data.stack.empty()) continue;
    const bool trains = data.stack.back().high[1] > 4 * record::kGiB;  // with weights and optimizer state
    if (trains && (y.empty() || y.back() != data.y.high)) y.push_back(data.y.high);
  }
  CHECK(x.size() <= 30);  // 1, 2, 5 times powers of ten over six decades, again per step
  CHECK(y.size() <= 4);   // 8, 12, 16 and 24 GiB
}

TEST_CASE("after a step is done the next one has its length") {
  const record::Recording whole = tests::llama_recording({.steps = 3});
  const auto steps = record::steps_of(whole);
  const record::Recording run =
      tests::llama_recording({.steps = 3, .source = record::Source::kLive, .stop_after = steps[1].first + 40});
  const record::Ledger ledger(run);
  const auto data = build_timeline({.run = &ledger});
  const record::Ledger done(whole);
  CHECK(data.x.high == Approx(build_timeline({.run = &done}).x.high).epsilon(0.02));
  CHECK(data.stack.back().end < 0.3 * data.x.high);
}

TEST_CASE("nothing, an empty recording and one event") {
  CHECK_FALSE(build_timeline({}).head.empty_reason.empty());
  const record::Recording empty;
  const record::Ledger no_events(empty);
  CHECK_FALSE(build_timeline({.run = &no_events}).head.empty_reason.empty());
  record::Recording one;
  const record::MemEvent event{.storage = 1, .requested = 1000, .block = 1024};
  one.append(std::span(&event, 1));
  const record::Ledger ledger(one);
  for (const bool hidden : {false, true}) {
    const auto data = build_timeline({.run = &ledger, .view = {.cursor = 0.0, .hidden = hidden}});
    CHECK(data.x.high > data.x.low);
    CHECK(data.y.high > data.y.low);
  }
}

TEST_CASE("views that make no sense give axes that do") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  for (const auto& [begin, end] : {std::pair{5e6, 5e6}, {9e6, 1e6}, {-1e9, -1e8}, {1e12, 2e12}}) {
    const auto data = build_timeline({.run = &ledger, .view = {.begin = begin, .end = end, .columns = 0}});
    CHECK(data.x.high > data.x.low);
  }
}

TEST_CASE("a recording of a million events is drawn in well under a second") {
  const record::Recording run = tests::llama_recording({.steps = 1, .extra_events = 63'000});
  REQUIRE(run.events().size() > 1'000'000);
  const record::Ledger ledger(run);
  const auto began = std::chrono::steady_clock::now();
  const auto data = build_timeline({.run = &ledger});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  CHECK(highest(data) == data.peak->y);
  CHECK(took.count() < 0.5);  // about 0.1 s on an idle machine
}

namespace {

const lessons::StepLine* predicted_line(const lessons::Timeline& data) {
  const auto line = std::ranges::find(data.lines, lessons::LineStyle::kPredicted, &lessons::StepLine::style);
  return line == data.lines.end() ? nullptr : &*line;
}

std::vector<double> tops_of(const lessons::Timeline& data) {
  std::vector<double> tops;
  for (const auto& column : data.stack) tops.push_back(static_cast<double>(total(column.high)));
  return tops;
}

}  // namespace

TEST_CASE("an exact prediction lies on the measured stack in each column, whatever is in view") {
  for (const auto device : {record::DeviceKind::kCpu, record::DeviceKind::kGpu}) {
    const record::Recording run = tests::made_recording({.device = device, .steps = 5});
    const record::Recording prediction = tests::made_prediction({.device = device, .steps = 2});
    const record::Ledger ledger(run), predicted(prediction);
    const double end = build_timeline({.run = &ledger}).x.high;
    for (const int columns : {7, 333, 800, 1600}) {
      for (const auto& [low, high] : {std::pair{0.0, 1.0}, {0.2, 0.3}, {0.71, 0.99}}) {
        const auto data = build_timeline({.run = &ledger,
                                          .predicted = &predicted,
                                          .view = {.begin = low * end, .end = high * end, .columns = columns}});
        const lessons::StepLine* const line = predicted_line(data);
        REQUIRE(line != nullptr);
        CHECK(line->y == tops_of(data));
        CHECK(line->x.front() == data.stack.front().begin);
        CHECK(line->end == data.stack.back().end);
        CHECK_FALSE(data.parting);
      }
    }
  }
}

TEST_CASE("from the first event that differs a prediction is aligned by phases, and the place is marked") {
  const record::Recording run = tests::made_recording({.steps = 3});
  int logits = 0;
  const record::Recording prediction = tests::made_prediction({.steps = 2}, [&](record::MemEvent& event, std::size_t) {
    const bool allocates = event.kind == record::EventKind::kAlloc && event.category == record::Category::kLogits;
    if (allocates && ++logits == 3) event.requested = event.block = 2 * record::kMiB;
  });
  const record::Ledger ledger(run), predicted(prediction);
  const auto data = build_timeline({.run = &ledger, .predicted = &predicted, .view = {.columns = 600}});
  REQUIRE(data.parting);
  CHECK(data.parting->x >= band(data, "loss")->begin);
  CHECK(data.parting->x <= band(data, "loss")->end);
  CHECK(data.parting->tip ==
        "Prediction and measurement part here. Predicted: allocate 2,097,152 B, logits and loss, loss, output head. "
        "Measured: "
        "allocate 524,288 B, logits and loss, loss, output head");
  const lessons::StepLine* const line = predicted_line(data);
  REQUIRE(line != nullptr);
  for (std::size_t i = 0; i < data.stack.size() && data.stack[i].end < data.parting->x; ++i)
    CHECK(line->y[i] == static_cast<double>(total(data.stack[i].high)));
  CHECK(std::ranges::is_sorted(line->x));
  const double peak = *std::ranges::max_element(line->y);
  CHECK(peak == static_cast<double>(predicted.peak().totals.allocated));
  const auto at_peak = static_cast<std::size_t>(std::ranges::find(line->y, peak) - line->y.begin());
  CHECK(line->x[at_peak] >= data.parting->x - (data.x.high - data.x.low) / 600);
  CHECK(line->x[at_peak] < band(data, "backward")->begin);
}

TEST_CASE("a prediction of other settings is not paired") {
  const record::Recording run = tests::made_recording({}), other = tests::made_prediction({.checkpointing = true});
  const record::Ledger ledger(run), predicted(other);
  const auto data = build_timeline({.run = &ledger, .predicted = &predicted});
  CHECK(predicted_line(data) != nullptr);
  CHECK_FALSE(data.parting);
}
