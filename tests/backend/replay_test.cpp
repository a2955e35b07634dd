// A replay looks like a run and ends equal to its recording.
#include "tests/backend/support.h"

using namespace headroom;
using namespace headroom::tests;
using backend::make_replay;
using backend::ReplayPace;
using backend::RunState;
using record::Nanoseconds;
using record::OutcomeKind;
using record::Recording;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

// Three steps of 100 ms; a GPU reaches each mark 30 ms after the host.
std::shared_ptr<Recording> made_run(record::DeviceKind device) {
  const bool gpu = device == record::DeviceKind::kGpu;
  auto recording =
      std::make_shared<Recording>(record::RunInfo{.demo = "train_step",
                                                  .params = {{"batch", "4"}},
                                                  .provenance = {{"gpu", "NVIDIA H200"}, {"cpu", "CPU, 2 cores"}},
                                                  .device = device,
                                                  .device_memory = 3 * record::kGiB});
  const std::vector<std::string> names = {"embedding", "attention.q_proj", "gemm_kernel"};
  recording->append_operators(1, names);
  for (int step = 0; step < 3; ++step) {
    const Nanoseconds start = step * 100 * kMillisecond;
    record::Mark mark{.host_time = start,
                      .device_time = gpu ? record::kPending : start,
                      .event_index = recording->events().size(),
                      .step = step,
                      .phase = record::Phase::kForward};
    recording->append(std::span(&mark, 1));
    for (int i = 0; i < 50; ++i) {
      const record::MemEvent event{.time = start + i * kMillisecond,
                                   .storage = static_cast<std::uint64_t>(step * 50 + i + 1),
                                   .requested = 100,
                                   .block = 512,
                                   .op = static_cast<std::uint16_t>(1 + i % 2)};
      recording->append(std::span(&event, 1));
    }
    recording->append(record::CounterSample{.time = start + 5, .value = step});
    recording->append(record::MetricSample{.time = start + 90 * kMillisecond, .value = 1.0 / (step + 1), .step = step});
    const record::KernelSpan span{.start = start + 7, .duration = 4, .step = step, .name = 3, .op = 2};
    recording->append(std::span(&span, 1));
    const Nanoseconds reached = start + 30 * kMillisecond;
    if (gpu) recording->append_device_times(std::span(&reached, 1));
  }
  recording->append(record::Measurement{.panel = "rms_norm", .median = 5, .low = 4, .high = 6});
  recording->append(record::SweepPoint{.series = "hf", .label = "batch=4", .peak_allocated = 28});
  recording->append(record::Placement{.storage = 9, .segment = 3, .offset = 512});
  recording->append(record::Histogram{.name = "gradients", .step = 1, .low_exponent = -3, .counts = {1, 2}});
  recording->set_kernel_report({.sentence = "It is right."});
  recording->add_dropped(7);
  recording->set_outcome({.kind = OutcomeKind::kOutOfMemory, .message = "no room"});
  return recording;
}

void check_equal(const Recording& played, const Recording& source) {
  record::for_each_row_kind([&](const auto& kind) {
    using Row = record::RowOf<decltype(kind)>;
    INFO(kind.name);
    CHECK_FALSE(source.rows<Row>().empty());
    CHECK((played.rows<Row>() == source.rows<Row>()));
  });
  CHECK((played.kernel_report() == source.kernel_report()));
  CHECK(played.op_name(3) == "gemm_kernel");
  CHECK(played.op_name(1) == "embedding");
  CHECK(played.op_name(2) == "attention.q_proj");
  CHECK(played.dropped_events() == source.dropped_events());
  CHECK(played.info().demo == source.info().demo);
  CHECK(played.info().params == source.info().params);
  CHECK(played.info().source == record::Source::kRecorded);
  REQUIRE(played.outcome());
  CHECK(played.outcome()->kind == source.outcome()->kind);
  CHECK(played.outcome()->message == source.outcome()->message);
}

}  // namespace

TEST_CASE("a replay at once is the recording after one poll") {
  const auto source = made_run(GENERATE(record::DeviceKind::kCpu, record::DeviceKind::kGpu));
  const auto replay = make_replay(source, ReplayPace::kAtOnce);
  CHECK(replay->state() == RunState::kIdle);
  REQUIRE(replay->start({}).ok());
  CHECK(replay->state() == RunState::kRunning);
  CHECK(replay->poll());
  CHECK(replay->state() == RunState::kFinished);
  check_equal(*replay->recording(), *source);
  CHECK_FALSE(replay->poll());
}

TEST_CASE("a paced replay grows as the run did and ends as the recording") {
  const bool gpu = GENERATE(false, true);
  const auto source = made_run(gpu ? record::DeviceKind::kGpu : record::DeviceKind::kCpu);
  const auto replay = make_replay(source, ReplayPace::kAsRecorded);
  const auto begin = Clock::now();
  REQUIRE(replay->start({}).ok());
  std::size_t growths = 0, pending_marks = 0;
  while (replay->state() != RunState::kFinished && Clock::now() - begin < kPatience) {
    const auto before = (Clock::now() - begin) / 1ns;
    const std::size_t events = replay->recording()->events().size();
    replay->poll();
    const auto after = (Clock::now() - begin) / 1ns;
    const Recording& grown = *replay->recording();
    if (grown.events().size() > events) ++growths;
    if (replay->state() == RunState::kFinished) break;
    CHECK_FALSE(grown.outcome());
    // Exactly what has happened by now.
    for (const auto& event : grown.events()) REQUIRE(event.time <= after);
    for (const auto& mark : grown.marks()) {
      REQUIRE(mark.host_time <= after);
      REQUIRE(mark.event_index <= grown.events().size());
      REQUIRE(mark.device_time <= after);
      if (mark.device_time == record::kPending) ++pending_marks;
    }
    if (grown.events().size() < source->events().size())
      REQUIRE(source->events()[grown.events().size()].time > before - 20 * kMillisecond);
    CHECK(replay->progress().fraction <= 1);
    std::this_thread::sleep_for(2ms);
  }
  const auto took = Clock::now() - begin;
  CHECK(took >= 289ms);
  CHECK(growths > 5);
  CHECK((pending_marks > 0) == gpu);
  check_equal(*replay->recording(), *source);
}

TEST_CASE("a replay shows progress by steps and time") {
  const auto replay = make_replay(made_run(record::DeviceKind::kCpu), ReplayPace::kAsRecorded);
  REQUIRE(replay->start({}).ok());
  REQUIRE(wait_for(*replay, [&] { return replay->progress().step == 2; }));
  CHECK(replay->progress().steps == 3);
  CHECK(replay->progress().fraction > 0.3);
  CHECK(replay->progress().time_left > 0);
  CHECK(replay->progress().time_left < 190 * kMillisecond);
  CHECK(replay->progress().doing == "replaying step 2 of 3");
}

TEST_CASE("a replay can be stopped and played again") {
  const auto source = made_run(record::DeviceKind::kCpu);
  const auto replay = make_replay(source, ReplayPace::kAsRecorded);
  REQUIRE(replay->start({}).ok());
  CHECK_FALSE(replay->start({}).ok());
  REQUIRE(wait_for(*replay, [&] { return replay->recording()->events().size() > 20; }));
  replay->cancel();
  CHECK(replay->state() == RunState::kFinished);
  CHECK(outcome_of(*replay).kind == OutcomeKind::kCancelled);
  const auto first = replay->recording();
  const std::size_t kept = first->events().size();
  REQUIRE(replay->start({}).ok());
  REQUIRE(finished(*replay));
  check_equal(*replay->recording(), *source);
  CHECK(first->events().size() == kept);
}

TEST_CASE("a replay plays rows of every kind") {
  auto source = std::make_shared<Recording>(record::RunInfo{.demo = "train_step"});
  record::for_each_row_kind([&](const auto& kind) { source->append(record::RowOf<decltype(kind)>{}); });
  source->set_outcome({});
  const auto replay = make_replay(source, ReplayPace::kAtOnce);
  REQUIRE(replay->start(fake_request("at_once")).ok());
  REQUIRE(replay->poll());
  record::for_each_row_kind([&](const auto& kind) {
    INFO(kind.name);
    CHECK(
        (replay->recording()->rows<record::RowOf<decltype(kind)>>() == source->rows<record::RowOf<decltype(kind)>>()));
  });
}

TEST_CASE("a replay runs on the recording's device") {
  const auto replay = make_replay(made_run(record::DeviceKind::kGpu), ReplayPace::kAtOnce);
  REQUIRE(replay->devices().size() == 1);
  CHECK(replay->devices()[0].kind == record::DeviceKind::kGpu);
  CHECK(replay->devices()[0].key == "cuda");
  CHECK(replay->devices()[0].name == "NVIDIA H200");
  CHECK(replay->devices()[0].memory == 3 * record::kGiB);
}

TEST_CASE("a recording that was cut off ends and says so") {
  auto source = std::make_shared<Recording>(record::RunInfo{.demo = "train_step"});
  const record::MemEvent event{.storage = 1, .requested = 100, .block = 512};
  source->append(std::span(&event, 1));
  const auto replay = make_replay(source, ReplayPace::kAtOnce);
  REQUIRE(replay->start({}).ok());
  REQUIRE(finished(*replay));
  CHECK(outcome_of(*replay).kind == OutcomeKind::kEngineLost);
  CHECK(outcome_of(*replay).message.find("cut off") != std::string::npos);
  CHECK(replay->recording()->events().size() == 1);
}

TEST_CASE("a replay is written where that is asked for") {
  const TemporaryFolder folder;
  const auto source = made_run(record::DeviceKind::kGpu);
  const auto replay = make_replay(source, ReplayPace::kAtOnce);
  REQUIRE(replay->start({.record_to = folder.path() / "copy.hrec"}).ok());
  REQUIRE(finished(*replay));
  CHECK_FALSE(replay->write_error());
  const auto copy = Recording::read(folder.path() / "copy.hrec");
  REQUIRE(copy.ok());
  CHECK((copy.value().events() == source->events()));
  REQUIRE(replay->start({.record_to = folder.path() / "missing" / "copy.hrec"}).ok());
  REQUIRE(finished(*replay));
  REQUIRE(replay->write_error());
  CHECK(replay->write_error()->kind == record::ErrorKind::kNotWritten);
}
