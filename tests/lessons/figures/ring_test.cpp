// Sums over ranks: the pieces of a recorded ring, bytes and times by formula, and what hides in backward.
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/predict/forms/ring.h"
#include "demos/record/ledger.h"
#include "lessons/figure.h"
#include "lessons/pages/second_question.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

using Words = std::vector<std::string>;

FigureData build(std::string_view id, std::initializer_list<const char*> settings, const record::Ledger* run = nullptr,
                 bool hidden = false) {
  const Figure* const figure = find_figure(id);
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.run = run, .params = &params, .view = {.hidden = hidden}});
}

// Each assignment is the figure's or the step's: the 1B in mixed precision on four GPUs, in four micro-batches.
FigureData build_ddp(std::initializer_list<const char*> assignments, bool hidden = false) {
  const Figure* const figure = find_figure("ddp_lanes");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema), settings(experiments::shape_schema().schema);
  for (const char* each : {"ranks=4", "accumulate=4"}) REQUIRE(settings.set_assignment(each).ok());
  for (const char* each : assignments)
    REQUIRE((params.set_assignment(each).ok() || settings.set_assignment(each).ok()));
  return figure->build({.params = &params, .settings = &settings, .view = {.hidden = hidden}});
}

Words cells(const FigureData& figure, std::size_t row) { return tests::table_of(figure).rows.at(row).cells; }

// Sums of 3 ranks: step 0 takes 900 ns, 1 takes 200, 2 takes 800, 3 takes 400; the library's always 100. Rank r's clock
// starts 50 r ns late.
constexpr int kRanks = 3;
constexpr record::Bytes kPiece = 1000;

record::Recording made_rank(int rank, std::size_t sends_of_last = 4) {
  record::Recording run;
  run.set_info({.demo = "ring",
                .source = record::Source::kRecorded,
                .rank = rank,
                .ranks = kRanks,
                .clock_start = 10'000 + 50 * rank});
  record::Nanoseconds now = 1000;
  const auto add = [&](record::CollectiveKind kind, std::int32_t step, record::Nanoseconds begin,
                       record::Nanoseconds length) {
    run.append(record::Collective{.issued = begin - 50 * rank,
                                  .begin = begin - 50 * rank,
                                  .end = begin - 50 * rank + length,
                                  .bytes = kPiece,
                                  .step = step,
                                  .ranks = kRanks,
                                  .kind = kind,
                                  .phase = record::Phase::kCopies});
  };
  const std::vector<record::Nanoseconds> lengths{900, 200, 800, 400};
  for (std::size_t step = 0; step < lengths.size(); ++step) {
    const record::Nanoseconds each = lengths[step] / predict::ring_steps(kRanks);
    const std::size_t sends = step + 1 == lengths.size() ? sends_of_last : 4;
    for (std::size_t i = 0; i < sends; ++i) {
      const auto begin = now + static_cast<record::Nanoseconds>(i) * each;
      add(record::CollectiveKind::kSend, static_cast<std::int32_t>(step), begin, each - 10);
      add(record::CollectiveKind::kReceive, static_cast<std::int32_t>(step), begin, each);
    }
    add(record::CollectiveKind::kAllReduce, static_cast<std::int32_t>(step), now + lengths[step], 100);
    now += 2000;
  }
  run.set_outcome({.kind = record::OutcomeKind::kCompleted, .message = {}, .out_of_memory = {}});
  return run;
}

record::Recording made_ring(std::size_t sends_of_last = 4) {
  record::Recording first = made_rank(0, sends_of_last);
  std::vector<std::shared_ptr<const record::Recording>> others;
  for (int rank = 1; rank < kRanks; ++rank)
    others.push_back(std::make_shared<const record::Recording>(made_rank(rank)));
  first.set_other_ranks(std::move(others));
  return first;
}

Words labels(const Lane& lane) {
  Words all;
  for (const TimeBox& box : lane.boxes) all.push_back(box.label);
  return all;
}

}  // namespace

TEST_CASE("a recorded ring shows which piece is where, on one clock") {
  const record::Recording run = made_ring();
  const record::Ledger ledger(run);
  const FigureData figure = build("ring_pieces", {"piece=2"}, &ledger);
  const std::vector<Lane>& lanes = tests::lanes_of(figure);
  REQUIRE(lanes.size() == 6);
  CHECK(lanes[0].label == "Rank 0 sends");
  CHECK(lanes[3].label == "Rank 1 receives");
  CHECK(lanes[0].note == "3 ranks, pieces of 1000 B");
  CHECK(labels(lanes[0]) == Words{"0", "2", "1", "0"});
  CHECK(labels(lanes[1]) == Words{"2", "1", "0", "2"});
  CHECK(labels(lanes[3]) == labels(lanes[0]));  // rank 1 receives what rank 0 sends
  // The median sum of steps 1 to 3 is step 3: 100 ns per message.
  CHECK(panel_of<Lanes>(figure)->x.high == 400);
  for (const std::size_t lane : {0, 2, 4}) {
    CHECK(lanes[lane].boxes.front().begin == 0);
    CHECK(lanes[lane].boxes.back().begin == 300);
    CHECK(lanes[lane].boxes.back().end == 390);
  }
  for (const std::size_t i : {0, 1}) CHECK(lanes[0].boxes[i].work == Work::kSum);
  for (const std::size_t i : {2, 3}) CHECK(lanes[0].boxes[i].work == Work::kGather);
  CHECK(std::get<Word>(panel_of<Lanes>(figure)->table().rows.at(0).at(3)).text == "sum");
  CHECK(std::get<Word>(panel_of<Lanes>(figure)->table().rows.at(2).at(3)).text == "gather");
  std::vector<bool> followed;
  for (const TimeBox& box : lanes[0].boxes) followed.push_back(box.selected);
  CHECK(followed == std::vector<bool>{false, true, false, false});
  CHECK(lanes[0].boxes[1].tip == "Rank 0 sends piece 2 to rank 1, which is summed there: 1000 B, 90 ns");
}

TEST_CASE("a ring's times are medians without the first sum, next to the library's") {
  const record::Recording run = made_ring();
  const record::Ledger ledger(run);
  const FigureData figure = build("ring_pieces", {}, &ledger);
  CHECK(tests::table_of(figure).head == "Median of 3 sums");
  CHECK(cells(figure, 0) == Words{"400 ns", "3.91 KiB", "10.0 GB/s"});  // 4 pieces
  CHECK(cells(figure, 1) == Words{"100 ns", "3.91 KiB", "40.0 GB/s"});
}

TEST_CASE("a sum that a rank has not finished does not count") {
  const record::Recording cut = made_ring(3);
  const record::Ledger ledger(cut);
  CHECK(tests::table_of(build("ring_pieces", {}, &ledger)).head == "Median of 2 sums");
  const record::Recording nothing;
  const record::Ledger empty(nothing);
  CHECK(build("ring_pieces", {}, &empty).head.empty_reason == "The first sum is not complete yet.");
}

TEST_CASE("bytes of a ring approach twice the buffer, and a tree is faster for few bytes") {
  const FigureData figure = build("ring_bytes", {"gpus=64"});
  const Chart& sent = *tests::charts_of(figure).at(0);
  REQUIRE(sent.series.size() == 1);
  Words texts;
  for (const ChartPoint& point : sent.series.front().points) texts.push_back(point.label);
  CHECK(texts == Words{"15.0 GB", "22.5 GB", "26.2 GB", "28.1 GB", "29.1 GB", "29.5 GB"});
  CHECK(sent.references.front().label == "twice the buffer, 30.0 GB");
  for (const ChartPoint& point : sent.series.front().points) CHECK(point.y < sent.references.front().y.front());
  CHECK(cells(figure, 0) == Words{"29.5 GB", "1.97 ×", "0.0669 s"});
  CHECK(cells(figure, 1) == Words{"90.0 GB", "6 ×", "0.400 s"});
  CHECK(cells(figure, 2) == Words{"945 GB", "63 ×", "4.20 s"});
  const FigureData few = build("ring_bytes", {"gpus=1024", "buffer=0.01"});
  const Chart& times = *tests::charts_of(few).at(1);
  REQUIRE(times.series.size() == 3);
  CHECK(times.series[0].points.back().y > 10 * times.series[1].points.back().y);
  CHECK(tests::charts_of(build("ring_bytes", {"gpus=5"})).at(0)->series.front().points.at(2).x == 5);
  CHECK(build("ring_bytes", {}, nullptr, true).head.empty_reason == kIsAnswer);
}

TEST_CASE("the second question of the ring draws ranks and bytes") {
  const Page& page = tests::page("ring");
  REQUIRE(page.lesson.second);
  record::Params settings = settings_of(page);
  REQUIRE(settings.set_assignment("ranks=8").ok());
  REQUIRE(settings.set_assignment("bytes=1GiB").ok());
  CHECK(key_of(*page.lesson.second, settings) == 1.75 * static_cast<double>(record::kGiB));
  const std::string ask = with_drawn(page.lesson.second->ask, *page.lesson.second, settings);
  CHECK(ask.find("8 GPUs") != std::string::npos);
  CHECK(ask.find("1.00 GiB") != std::string::npos);
}

TEST_CASE("backward hides the sums of layers, but not the embedding's") {
  const FigureData figure = build_ddp({});
  const std::vector<Lane>& lanes = tests::lanes_of(figure);
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[0].boxes.size() == 17);  // the head and 16 layers
  CHECK(labels(lanes[1]).front() == "15");
  CHECK(labels(lanes[1]).back() == "emb.");
  REQUIRE(lanes[1].boxes.size() == 17);
  for (std::size_t i = 0; i + 1 < 16; ++i) {
    CHECK(lanes[1].boxes[i].begin == Approx(lanes[0].boxes[i + 1].end));  // of the layer
    CHECK(lanes[1].boxes[i].end < lanes[0].boxes[i + 2].end);             // within the next one
  }
  // Sent: 2 B per parameter · 2 · 3/4, and four times that in every micro-batch.
  CHECK(cells(figure, 0).front() == "3.45 GiB");
  CHECK(cells(figure, 1).front() == "13.81 GiB");
  CHECK(cells(figure, 2).front() == "3.45 GiB");
  const FigureData slow = build_ddp({"link=50"});
  CHECK(tests::lanes_of(slow)[0].boxes[3].begin > tests::lanes_of(slow)[0].boxes[2].end);  // backward waits
  const FigureData buckets = build_ddp({"bucket=400MiB"});
  CHECK(labels(tests::lanes_of(buckets)[1]) == Words{"12–15", "8–11", "4–7", "0–3", "emb."});
  CHECK(tests::table_of(build_ddp({}, true)).rows.empty());
  CHECK(tests::table_of(build_ddp({"accumulate=1"})).rows.size() == 2);
  CHECK(tests::lanes_of(find_figure("ddp_lanes")->build({})).size() == 3);
  CHECK_THAT(build_ddp({"ranks=1"}).head.empty_reason, ContainsSubstring("set GPUs to 2"));
  CHECK_THAT(build_ddp({"zero=3"}).head.empty_reason, ContainsSubstring("set ZeRO to off"));
}
