// Axes, steps, phases and columns.
#include "demos/record/timeline.h"

#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

constexpr TimeAxis kAxes[] = {TimeAxis::kDevice, TimeAxis::kHost, TimeAxis::kEvent};

Recording empty_gpu_run(Source source = Source::kLive) {
  RunInfo info;
  info.device = DeviceKind::kGpu;
  info.source = source;
  return Recording(info);
}

void add_event(Recording& recording, Nanoseconds time) {
  const MemEvent event{.time = time,
                       .storage = recording.events().size(),
                       .requested = 512,
                       .block = 512,
                       .device = recording.info().device};
  recording.append(std::span(&event, 1));
}

void add_mark(Recording& recording, Nanoseconds host, Nanoseconds device, std::int32_t step, Phase phase,
              std::uint16_t layer = kNoLayer) {
  const Mark mark{.host_time = host,
                  .device_time = device,
                  .event_index = recording.events().size(),
                  .step = step,
                  .phase = phase,
                  .layer = layer};
  recording.append(std::span(&mark, 1));
}

// Host and device start together; the host issues in 30 ns what takes the device 3,000 ns.
Recording small_gpu_run(Nanoseconds end_on_device = 3'000) {
  Recording recording = empty_gpu_run();
  add_mark(recording, 0, 0, 0, Phase::kForward);
  add_event(recording, 5);
  add_event(recording, 10);
  add_mark(recording, 20, 1'000, 0, Phase::kBackward);
  add_event(recording, 21);
  add_event(recording, 25);
  add_mark(recording, 30, end_on_device, -1, Phase::kSetup);
  return recording;
}

}  // namespace

TEST_CASE("an allocation on the device's axis is where its stream reached it") {
  const Recording recording = small_gpu_run();
  const TimeMap map(recording, TimeAxis::kDevice, 0, 4);
  CHECK(map.last() == 4);
  // 0 … 20 on the host is 0 … 1,000 on the device; 20 … 30 is 1,000 … 3,000.
  CHECK(map.position(0) == Approx(250));
  CHECK(map.position(1) == Approx(500));
  CHECK(map.position(2) == Approx(1'200));
  CHECK(map.position(3) == Approx(2'000));
  CHECK(map.end() == Approx(3'000));
  CHECK(map.event_at(1'199) == 1);
  CHECK(map.event_at(1'200) == 2);
  CHECK(map.event_at(100) == 0);
  CHECK(map.event_at(1e9) == 3);
  CHECK(map.event_from(1'200) == 2);
  CHECK(map.event_from(1'201) == 3);
  CHECK(map.event_from(1e9) == 4);

  const TimeMap host(recording, TimeAxis::kHost, 0, 4);
  CHECK(host.position(2) == 21);
  CHECK(host.end() == 30);
  const TimeMap count(recording, TimeAxis::kEvent, 1, 4);
  CHECK(count.position(2) == 1);
  CHECK(count.end() == 3);
  CHECK(count.event_at(1.5) == 2);
}

TEST_CASE("a live run is drawn up to the last mark that the device has reached") {
  const Recording pending = small_gpu_run(kPending);
  const TimeMap map(pending, TimeAxis::kDevice, 0, kNever);
  CHECK(map.last() == 2);
  CHECK(map.end() == Approx(1'000));
  CHECK(TimeMap(pending, TimeAxis::kHost, 0, kNever).last() == 4);  // the host's clock does not wait
  CHECK_FALSE(steps_of(pending)[0].complete);

  Recording nothing = empty_gpu_run();
  add_mark(nothing, 0, kPending, 0, Phase::kForward);
  add_event(nothing, 5);
  const TimeMap none(nothing, TimeAxis::kDevice, 0, kNever);
  CHECK(none.last() == 0);
  CHECK(none.end() == 0);
}

TEST_CASE("a finished run's events without device times are placed by the host's clock") {
  Recording over = small_gpu_run(kPending);
  over.set_outcome({.kind = OutcomeKind::kOutOfMemory, .message = "", .out_of_memory = {}});
  const TimeMap map(over, TimeAxis::kDevice, 0, kNever);
  CHECK(map.last() == 4);
  CHECK(map.position(1) == Approx(500));
  CHECK(map.position(3) == Approx(1'005));  // 5 after the mark at 20
  CHECK(map.end() == Approx(1'005));

  Recording prediction = empty_gpu_run(Source::kPredicted);  // predictions may have no device times
  add_mark(prediction, 0, kPending, 0, Phase::kForward);
  add_event(prediction, 5);
  add_event(prediction, 9);
  CHECK(TimeMap(prediction, TimeAxis::kDevice, 0, kNever).position(1) == Approx(4));
}

TEST_CASE("the device's clock of a CPU is the host's") {
  const Recording recording = made_recording();
  const TimeMap device(recording, TimeAxis::kDevice, 0, kNever);
  const TimeMap host(recording, TimeAxis::kHost, 0, kNever);
  CHECK(device.axis() == TimeAxis::kDevice);
  CHECK(device.end() == host.end());
  for (std::uint64_t e = 0; e < recording.events().size(); ++e) CHECK(device.position(e) == host.position(e));
}

TEST_CASE("positions never decrease on any axis, and finding inverts placing") {
  Recording ragged = empty_gpu_run(Source::kRecorded);
  std::mt19937_64 random(3);
  for (int i = 0; i < 600; ++i) {
    if (random() % 9 == 0)  // including device times that decrease
      add_mark(ragged, static_cast<Nanoseconds>(random() % 4 == 0 ? i * 10 : i * 10 + random() % 30),
               static_cast<Nanoseconds>(i * 50 + random() % 400), i / 150 - 1,
               static_cast<Phase>(random() % kNumPhases));
    add_event(ragged, static_cast<Nanoseconds>(i * 10 + random() % 40));
  }
  const Recording cpu = made_recording(), gpu = made_recording({.device = DeviceKind::kGpu, .checkpointing = true});
  for (const Recording* recording : std::initializer_list<const Recording*>{&ragged, &cpu, &gpu}) {
    const std::uint64_t events = recording->events().size();
    for (const TimeAxis axis : kAxes)
      for (const auto& [first, last] :
           {std::pair<std::uint64_t, std::uint64_t>{0, kNever}, {17, 120}, {events - 1, events}, {events, events}}) {
        const TimeMap map(*recording, axis, first, last);
        double before = 0;
        for (std::uint64_t e = map.first(); e < map.last(); ++e) {
          const double at = map.position(e);
          REQUIRE(at >= before);
          REQUIRE(at <= map.end());
          REQUIRE(map.position(map.event_at(at)) == at);
          REQUIRE(map.event_at(at) >= e);
          REQUIRE(map.event_from(at) <= e);
          before = at;
        }
        REQUIRE(map.position(map.last()) == map.end());
      }
  }
}

TEST_CASE("steps are between their marks") {
  const Recording recording = made_recording();
  const std::vector<StepRange> steps = steps_of(recording);
  REQUIRE(steps.size() == 3);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(steps[i].step == static_cast<std::int32_t>(i));
    CHECK(steps[i].complete);
    CHECK(recording.marks()[steps[i].first_mark].event_index == steps[i].first);
    CHECK(recording.marks()[steps[i].last_mark].event_index == steps[i].last);
    CHECK(recording.marks()[steps[i].last_mark].step == -1);
    if (i > 0) CHECK(steps[i].first >= steps[i - 1].last);
  }
  CHECK(steps[0].first == 4);  // after weights and table
  CHECK(steps[2].last == recording.events().size());

  const std::vector<StepRange> cut = steps_of(made_recording({.finished = false}));
  REQUIRE(cut.size() == 3);
  CHECK(cut[1].complete);
  CHECK_FALSE(cut[2].complete);
  CHECK(steps_of(Recording()).empty());

  CHECK(last_whole_step(recording)->step == 2);
  CHECK(last_whole_step(made_recording({.finished = false}))->step == 1);
  CHECK_FALSE(last_whole_step(Recording()));
}

TEST_CASE("steps that touch are measured by their own marks") {
  Recording recording = empty_gpu_run(Source::kRecorded);
  add_mark(recording, 0, 0, 0, Phase::kForward);
  add_event(recording, 5);
  add_mark(recording, 10, 100, 0, Phase::kCopies);
  add_mark(recording, 20, 200, -1, Phase::kSetup);
  add_mark(recording, 30, 900, 1, Phase::kSetup);
  add_mark(recording, 31, 910, 1, Phase::kForward);
  add_event(recording, 35);
  add_mark(recording, 40, 1'000, -1, Phase::kSetup);
  const std::vector<StepRange> steps = steps_of(recording);
  REQUIRE(steps.size() == 2);
  const TimeMap first(recording, TimeAxis::kDevice, steps[0].first, steps[0].last);
  CHECK(first.end() == Approx(200));
  const TimeMap second(recording, TimeAxis::kDevice, steps[1].first, steps[1].last);
  CHECK(second.end() == Approx(100));
  CHECK(second.position(1) == Approx(10 + 90.0 * 4 / 9));
  const std::vector<PhaseSpan> spans = phase_spans(recording, first, steps[0], true);
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].phase == Phase::kForward);
  CHECK(spans[0].end == Approx(100));
  CHECK(spans[1].phase == Phase::kCopies);
  CHECK(spans[1].end == Approx(200));
}

TEST_CASE("phases follow each other without a gap, with recompute inside backward") {
  for (const bool gpu : {false, true}) {
    const Recording recording =
        made_recording({.device = gpu ? DeviceKind::kGpu : DeviceKind::kCpu, .checkpointing = true});
    const StepRange step = steps_of(recording)[1];
    for (const TimeAxis axis : kAxes) {
      const TimeMap map(recording, axis, step.first, step.last);
      const std::vector<PhaseSpan> spans = phase_spans(recording, map, step, true);
      std::vector<Phase> order;
      double end = 0;
      for (const PhaseSpan& span : spans) {
        if (span.phase == Phase::kRecompute) continue;
        CHECK(span.layer == kNoLayer);
        CHECK(span.begin == end);
        end = span.end;
        order.push_back(span.phase);
      }
      CHECK(end == map.end());
      CHECK(order == std::vector{Phase::kSetup, Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kOptimizer,
                                 Phase::kCopies});
      const PhaseSpan backward = spans[3];
      int recomputed = 0;
      for (const PhaseSpan& span : spans) {
        if (span.phase != Phase::kRecompute) continue;
        ++recomputed;
        CHECK(span.begin >= backward.begin);
        CHECK(span.end < backward.end);
      }
      CHECK(recomputed == 2);  // one stretch per layer
      CHECK(spans.back().phase == Phase::kRecompute);

      const std::vector<PhaseSpan> single = phase_spans(recording, map, step, false);
      std::vector<std::uint16_t> recompute_layers;
      for (const PhaseSpan& span : single)
        if (span.phase == Phase::kRecompute) recompute_layers.push_back(span.layer);
      CHECK(recompute_layers == std::vector<std::uint16_t>{1, 0});
      CHECK(single.size() ==
            12);  // setup, forward + 2, loss, backward, 2 x (recompute, backward), optimizer, copies: not merged
    }
  }
}

TEST_CASE("every column shows totals that existed, and the peak is never lost") {
  std::vector<Recording> recordings;
  recordings.push_back(made_recording());
  recordings.push_back(made_recording({.device = DeviceKind::kGpu, .checkpointing = true}));
  recordings.push_back(empty_gpu_run(Source::kRecorded));
  recordings.back().append(random_events(8, 5'000));
  for (const Recording& recording : recordings) {
    const Ledger ledger(recording);
    for (const TimeAxis axis : kAxes)
      for (const int columns : {1, 3, 50, 1'200}) {
        const TimeMap map(recording, axis, 0, kNever);
        const std::vector<Column> picture = reduce(ledger, map, 0, map.end(), columns);
        REQUIRE(picture.size() == static_cast<std::size_t>(columns));
        CHECK(picture.front().begin == 0);
        CHECK(picture.back().end == map.end());
        Bytes highest = 0;
        for (const Column& column : picture) {
          if (column.high_event == 0 && column.high.allocated == 0) continue;
          REQUIRE(column.low.by_category == ledger.at(column.low_event).by_category);
          REQUIRE(column.high.by_category == ledger.at(column.high_event).by_category);
          REQUIRE(column.low.allocated <= column.high.allocated);
          highest = std::max(highest, column.high.allocated);
        }
        CHECK(highest == ledger.peak().totals.allocated);
      }
  }
}

TEST_CASE("a column covers the totals at its start and its events") {
  RunInfo info;
  Recording recording(info);
  add_mark(recording, 0, 0, 0, Phase::kForward);
  for (const Nanoseconds time : {10, 11, 25, 40}) add_event(recording, time);  // 512 B each
  const Ledger ledger(recording);
  const TimeMap map(recording, TimeAxis::kHost, 0, kNever);
  const std::vector<Column> picture = reduce(ledger, map, 0, 40, 4);
  REQUIRE(picture.size() == 4);
  CHECK(picture[0].high.allocated == 0);   // [0, 10): nothing yet
  CHECK(picture[1].low.allocated == 512);  // [10, 20)
  CHECK(picture[1].high.allocated == 1'024);
  CHECK(picture[2].low.allocated == 1'024);
  CHECK(picture[2].high.allocated == 1'536);
  CHECK(picture[3].low.allocated == 1'536);  // [30, 40], with the last event at its end
  CHECK(picture[3].high.allocated == 2'048);
  const std::vector<Column> gap = reduce(ledger, map, 12, 24, 3);
  REQUIRE(gap.size() == 3);
  for (const Column& column : gap) {
    CHECK(column.low.allocated == 1'024);
    CHECK(column.high.allocated == 1'024);
  }
  CHECK(reduce(ledger, map, 0, 80, 8).size() == 5);  // nothing after the end
  CHECK(reduce(ledger, map, 5, 5, 10).empty());
  CHECK(reduce(ledger, map, 0, 40, 0).empty());
}
