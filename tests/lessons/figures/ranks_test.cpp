// Figures of runs with several ranks: collectives, layers that are whole, bytes sent, and each rank's peak.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/llama/config.h"
#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;

namespace {

constexpr std::int32_t kStep = 2;

const record::Mark& first_mark(const record::Recording& run) {
  return run.marks()[record::last_whole_step(run)->first_mark];
}

record::Recording made_rank(std::int32_t rank, record::Nanoseconds clock_start) {
  record::Recording run = tests::made_recording({});
  record::RunInfo info = run.info();
  info.rank = rank;
  info.ranks = 2;
  info.clock_start = clock_start;
  run.set_info(info);
  const record::Nanoseconds begin = first_mark(run).device_time;
  const auto add = [&](record::CollectiveKind kind, record::Nanoseconds after, std::uint16_t layer) {
    run.append(record::Collective{.issued = begin + after,
                                  .begin = begin + after,
                                  .end = begin + after + 20,
                                  .bytes = 4096,
                                  .step = kStep,
                                  .layer = layer,
                                  .ranks = 2,
                                  .kind = kind,
                                  .axis = record::Axis::kShards,
                                  .phase = record::Phase::kForward});
  };
  add(record::CollectiveKind::kAllGather, 10, 0);
  add(record::CollectiveKind::kAllReduce, 50, record::kNoLayer);
  return run;
}

// A rank that gathers 4,000 B of weights, then makes 4,000 B of gradients, keeps its share of 1,000 B and frees the rest.
record::Recording made_gathers(const std::string& op_of_share) {
  record::RunInfo info;
  info.ranks = 2;
  record::Recording run(info);
  const std::vector<std::string> names{"weight.shares", "gathered.weights", "mlp.down_proj", op_of_share};
  run.append_operators(1, names);
  record::Nanoseconds time = 0;
  const auto add = [&](record::EventKind kind, std::uint64_t storage, record::Bytes bytes, record::Category category,
                       std::uint16_t op) {
    run.append(record::MemEvent{.time = ++time,
                                .storage = storage,
                                .requested = bytes,
                                .block = bytes,
                                .kind = kind,
                                .category = category,
                                .op = op});
  };
  using record::Category, record::EventKind;
  run.append(record::Mark{.host_time = 0, .device_time = 0, .step = 0, .phase = record::Phase::kForward});
  add(EventKind::kAlloc, 1, 1000, Category::kWeights, 1);
  add(EventKind::kAlloc, 2, 4000, Category::kWeights, 2);
  add(EventKind::kFree, 2, 4000, Category::kWeights, 2);
  add(EventKind::kAlloc, 3, 4000, Category::kGradients, 3);
  add(EventKind::kAlloc, 4, 1000, Category::kGradients, 4);
  add(EventKind::kFree, 3, 4000, Category::kGradients, 3);
  return run;
}

// Rank 1's clock started 1,000 ns before rank 0's.
record::Recording made_run() {
  record::Recording first = made_rank(0, 6'000);
  first.set_other_ranks({std::make_shared<const record::Recording>(made_rank(1, 5'000))});
  return first;
}

}  // namespace

TEST_CASE("collectives of all ranks are lanes on the memory's axis") {
  const record::Recording run = made_run();
  const record::Ledger ledger(run);
  const lessons::FigureData data = lessons::find_figure("memory_timeline")->build({.run = &ledger});
  CHECK(data.head.title == "Memory and collectives of one step, rank 0");
  const auto* const lanes = lessons::panel_of<lessons::Lanes>(data);
  REQUIRE(lanes != nullptr);
  REQUIRE(lanes->lanes.size() == 2);
  CHECK(lanes->lanes[0].label == "Rank 0");
  CHECK(lanes->lanes[0].note == "2 collectives send 6.00 KiB and take 40 ns");
  CHECK_FALSE(lanes->lanes[0].thin);
  CHECK(lanes->lanes[1].thin);
  REQUIRE(lanes->lanes[0].boxes.size() == 2);
  CHECK(lanes->lanes[0].boxes[0].begin == 10);
  CHECK(lanes->lanes[0].boxes[0].end == 30);
  CHECK(lanes->lanes[0].boxes[0].label == "gather 0");
  CHECK(lanes->lanes[0].boxes[1].label == "sum");
  // On the common clock, rank 1's collectives are 1,000 ns earlier, before the axis.
  CHECK(lanes->lanes[1].boxes.empty());
}

TEST_CASE("gathered weights and gradients being summed are hatched parts of their kinds") {
  const bool shared = GENERATE(true, false);
  CAPTURE(shared);
  const record::Recording run = made_gathers(shared ? "gradient.shares" : "mlp.down_proj");
  const record::Ledger ledger(run);
  const lessons::Figure& figure = *lessons::find_figure("memory_timeline");
  record::Params params(figure.schema);
  REQUIRE(params.set("show", "run").ok());
  REQUIRE(params.set("axis", "event").ok());
  const lessons::FigureData data = figure.build({.run = &ledger, .params = &params});
  const auto& timeline = tests::panel_in<lessons::Timeline>(data);
  constexpr auto kWeights = static_cast<std::size_t>(record::Category::kWeights);
  constexpr auto kGradients = static_cast<std::size_t>(record::Category::kGradients);
  CHECK(timeline.passing[kWeights] == "gathered");
  CHECK(timeline.passing[kGradients] == (shared ? "being summed" : ""));
  record::ByCategory most{};
  for (const lessons::StackColumn& column : timeline.stack)
    for (const std::size_t k : {kWeights, kGradients}) most[k] = std::max(most[k], column.passing[k]);
  CHECK(most[kWeights] == 4000);
  CHECK(most[kGradients] == (shared ? 4000 : 0));
  CHECK(timeline.stack.back().high[kGradients] == 1000);
  CHECK(timeline.stack.back().passing[kGradients] == 0);
  const lessons::FileTable table = timeline.table();
  CHECK(std::get<lessons::Word>(table.columns.back()).text ==
        (shared ? "passing_gradients_bytes" : "passing_weights_bytes"));
}

TEST_CASE("a figure shows the rank that its parameter names, and a lane's name sets it") {
  const record::Recording run = made_run();
  const record::Ledger ledger(run);
  const lessons::Figure& figure = *lessons::find_figure("memory_timeline");
  record::Params params(figure.schema);
  const auto first = figure.build({.run = &ledger, .params = &params});
  const auto& action = lessons::panel_of<lessons::Lanes>(first)->lanes[1].action;
  REQUIRE(action);
  REQUIRE(params.set(action->key, std::string_view(action->value)).ok());
  const auto data = figure.build({.run = &ledger, .params = &params});
  CHECK(data.head.title == "Memory and collectives of one step, rank 1");
  const auto& lanes = lessons::panel_of<lessons::Lanes>(data)->lanes;
  REQUIRE(lanes.size() == 2);
  CHECK(lanes[0].thin);
  CHECK_FALSE(lanes[1].thin);
  CHECK_FALSE(lanes[1].action);
  REQUIRE(params.set("rank", "2").ok());
  CHECK(figure.build({.run = &ledger, .params = &params}).head.title.ends_with("rank 1"));  // the last one
  const record::Recording alone = tests::made_recording({});
  const record::Ledger other(alone);
  CHECK(figure.build({.run = &other, .params = &params}).head.empty_reason.empty());
}

TEST_CASE("files name gathers and sums") {
  const record::Recording run = made_run();
  const record::Ledger ledger(run);
  const lessons::FigureData data = lessons::find_figure("memory_timeline")->build({.run = &ledger});
  const auto& lanes = tests::panel_in<lessons::Lanes>(data);
  nlohmann::json file;
  lanes.add_to(file);
  CHECK(file["rows"][0]["boxes"][0]["kind"] == "gather");
  CHECK(file["rows"][0]["boxes"][1]["kind"] == "sum");
}

TEST_CASE("without collectives or times there are no lanes") {
  const record::Recording run = made_run(), alone = tests::made_recording({});
  const record::Ledger ledger(run), other(alone);
  const lessons::Figure& figure = *lessons::find_figure("memory_timeline");
  CHECK(lessons::panel_of<lessons::Lanes>(figure.build({.run = &other})) == nullptr);
  record::Params params(figure.schema);
  REQUIRE(params.set("axis", "event").ok());
  CHECK(lessons::panel_of<lessons::Lanes>(figure.build({.run = &ledger, .params = &params})) == nullptr);
}

TEST_CASE("each rank's peak and traffic is a bar") {
  const record::Recording run = made_run(), alone = tests::made_recording({});
  const record::Ledger ledger(run), other(alone);
  const lessons::Figure& figure = *lessons::find_figure("rank_peaks");
  const lessons::FigureData data = figure.build({.run = &ledger});
  const auto* const rungs = lessons::panel_of<lessons::Rungs>(data);
  REQUIRE(rungs != nullptr);
  REQUIRE(rungs->rungs.size() == 2);
  const auto step = record::last_whole_step(run);
  const record::Totals peak = ledger.peak(step->first, step->last).totals;
  for (const lessons::Rung& rung : rungs->rungs) CHECK(rung.bytes == peak.by_category);
  CHECK(rungs->rungs[1].label == "Rank 1");
  const auto* const table = lessons::panel_of<lessons::Table>(data);
  REQUIRE(table != nullptr);
  REQUIRE(table->rows.size() == 2);
  CHECK(table->rows[1].cells == std::vector<std::string>{"2", "6.00 KiB", "40 ns"});
  CHECK_FALSE(figure.build({.run = &other}).head.empty_reason.empty());
}

namespace {

lessons::FigureData rank_lanes(const record::Recording& run, std::initializer_list<const char*> settings = {},
                               const lessons::View& view = {}) {
  const lessons::Figure& figure = *lessons::find_figure("rank_lanes");
  const record::Ledger ledger(run);
  record::Params params(figure.schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure.build({.run = &ledger, .params = &params, .view = view});
}

std::vector<std::string> lane_names(const lessons::FigureData& figure) {
  std::vector<std::string> names;
  for (const lessons::Lane& lane : tests::lanes_of(figure)) names.push_back(lane.label);
  return names;
}

// Boxes with this label in all lanes of weights that are held whole.
std::vector<lessons::TimeBox> held(const lessons::FigureData& figure, const std::string& label) {
  std::vector<lessons::TimeBox> found;
  for (const lessons::Lane& lane : tests::lanes_of(figure))
    for (const lessons::TimeBox& box : lane.boxes)
      if (box.work == lessons::Work::kHeld && box.label == label) found.push_back(box);
  std::ranges::sort(found, {}, &lessons::TimeBox::begin);
  return found;
}

// The box of a layer that the rank computes in a phase.
lessons::TimeBox computed(const lessons::FigureData& figure, const std::string& layer, const std::string& phase) {
  for (const lessons::TimeBox& box : tests::lanes_of(figure).front().boxes)
    if (box.label == layer && box.tip.starts_with("layer " + layer + ", " + phase)) return box;
  FAIL("layer " << layer << " has no " << phase);
  return {};
}

}  // namespace

TEST_CASE("one rank is in detail, and bytes are counted when a collective ends") {
  const record::Recording run = made_run();
  const lessons::FigureData data = rank_lanes(run);
  CHECK(lane_names(data) == std::vector<std::string>{"Layer", "Collective", "Rank 0"});
  const std::vector<lessons::Lane>& lanes = tests::lanes_of(data);
  CHECK(lanes[0].note.starts_with("Rank 1: 2 collectives send 6.00 KiB in "));
  CHECK(lanes[2].thin);
  const lessons::Chart& sent = *tests::charts_of(data).at(0);
  CHECK(sent.title == "Sent by rank 1: 6.00 KiB");
  REQUIRE(sent.series.size() == 2);
  CHECK(sent.series[0].label == "weights gathered");
  CHECK(sent.series[0].points.front().y == 0);
  CHECK(sent.series[0].points.back().y == 2048);
  CHECK(sent.series[1].points.back().y == 4096);
  CHECK(sent.x.low == tests::panel_in<lessons::Lanes>(data).x.low);
  CHECK(sent.x.high == tests::panel_in<lessons::Lanes>(data).x.high);
  CHECK(lane_names(rank_lanes(run, {"rank=0"})).back() == "Rank 1");
}

TEST_CASE("a hidden answer, one rank or a whole run have no lanes of ranks") {
  const record::Recording run = made_run(), alone = tests::made_recording({});
  CHECK(rank_lanes(run, {}, {.hidden = true}).head.empty_reason == lessons::kIsAnswer);
  CHECK(rank_lanes(alone).head.empty_reason.starts_with("This run has one rank"));
  CHECK(rank_lanes(run, {"show=run"}).head.empty_reason.starts_with("This figure shows one step"));
}

TEST_CASE("with ZeRO-3 a layer is whole in its forward and again in its backward") {
  const record::Recording run = tests::stored_ranks("zero_step_cpu");
  const lessons::FigureData data = rank_lanes(run);
  for (const char* layer : {"0", "1", "2", "3"}) {
    CAPTURE(layer);
    const std::vector<lessons::TimeBox> whole = held(data, layer);
    REQUIRE(whole.size() == 2);
    const lessons::TimeBox forward = computed(data, layer, "forward"), backward = computed(data, layer, "backward");
    CHECK(whole[0].begin < forward.end);
    CHECK(whole[0].end > forward.begin);
    CHECK(whole[0].end < backward.begin);
    CHECK(whole[1].begin < backward.end);
    CHECK(whole[1].end > backward.begin);
    CHECK(whole[1].begin >= whole[0].end);
  }
  CHECK(lane_names(data) == std::vector<std::string>{"Layer", "Collective", "Whole", "", "Rank 0", "Rank 1", "Rank 3"});
}

TEST_CASE("the bytes sent climb to three gathers of all weights with ZeRO-3, and to two without ZeRO") {
  const auto all = static_cast<double>(4 * llama::num_parameters(*llama::find_config("tiny")));
  const double once = all * 3 / 4;
  const auto ends = [](const record::Recording& run) {
    std::map<std::string, double> last;
    const lessons::FigureData data = rank_lanes(run);
    for (const lessons::ChartSeries& series : tests::charts_of(data).at(0)->series)
      last[series.label] = series.points.back().y;
    return last;
  };
  auto three = ends(tests::stored_ranks("zero_step_cpu")), off = ends(tests::stored_ranks("zero_step_off_cpu"));
  CHECK(three["weights gathered"] == Approx(2 * once).epsilon(0.01));
  CHECK(three["gradients summed"] == Approx(once).epsilon(0.01));
  CHECK_FALSE(off.contains("weights gathered"));
  CHECK(off["gradients summed"] == Approx(2 * once).epsilon(0.01));
  const lessons::FigureData data = rank_lanes(tests::stored_ranks("zero_step_cpu"));
  const lessons::Chart& sent = *tests::charts_of(data).at(0);
  REQUIRE(sent.references.size() == 3);
  CHECK(sent.references[2].label == "3 · 3/4 P");
  CHECK(sent.references[2].y[0] == 3 * once);
}
