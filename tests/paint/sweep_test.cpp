// Layout of sweeps: stacked kinds, crosses for out of memory, the ladder's rungs.
#include <algorithm>
#include <map>
#include <string>

#include "app/paint/files/export.h"
#include "app/paint/layout/layout.h"
#include "lessons/measurements/sweep.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_sweep.h"

using namespace headroom;
using namespace headroom::app::paint;

namespace {

lessons::FigureData build(const char* id, const record::Recording& sweep) {
  const record::Ledger ledger(sweep);
  return lessons::find_figure(id)->build({.run = &ledger});
}

std::vector<Rect> fills_of(const Scene& scene, Color color) {
  std::vector<Rect> rects;
  tests::each<Fill>(scene, [&](Layer layer, const Fill& fill) {
    if (layer == Layer::kBars && fill.color == color) rects.push_back(fill.rect);
  });
  return rects;
}

float area_height(const std::vector<Rect>& rects) {
  float sum = 0;
  for (const Rect& rect : rects) sum += rect.height();
  return sum;
}

}  // namespace

TEST_CASE("kinds of memory are stacked by their bytes") {
  const Scene scene = layout(build("sweep_curve", tests::made_loss_sweep()), tests::frames()[0]);
  std::vector<Rect> weights = fills_of(scene, kLight.of(record::Category::kWeights).fill);
  std::vector<Rect> states = fills_of(scene, kLight.of(record::Category::kOptimizerState).fill);
  REQUIRE(weights.size() == 5);  // the legend's sample and four places
  REQUIRE(states.size() == 5);
  weights.erase(weights.begin());
  states.erase(states.begin());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(states[i].y1 == weights[i].y0);
    CHECK(std::abs(states[i].height() - 2 * weights[i].height()) <= 2);  // 2 GiB on 1 GiB
    CHECK(states[i].x0 == weights[i].x0);
  }
}

TEST_CASE("a bar that ran out of memory has a label and a hatch above it") {
  const Scene scene = layout(build("sweep_curve", tests::made_loss_sweep()), tests::frames()[0]);
  const auto labels = tests::texts_of(scene, Layer::kLabels);
  CHECK(std::count_if(labels.begin(), labels.end(), [](const std::string& text) {
          return text == "out of memory" || text == "OOM";
        }) == 2);  // over the bar, and in the chart of speeds
  CHECK(area_height(fills_of(scene, faded(kLight.danger, kLight.opacity.danger_ground))) > 0);
}

TEST_CASE("the first point out of memory is a cross at the closed form's value, without a line to it") {
  const lessons::FigureData figure = build("report_batch", tests::made_report_sweep());
  const Scene scene = layout(figure, tests::frames()[0]);
  int crosses = 0;
  tests::each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
    if (layer == Layer::kMarks && line.color == kLight.danger) ++crosses;
  });
  CHECK(crosses == 2 * 2);  // two strategies, two strokes per cross
  const lessons::Axis& axis = lessons::panels_of<lessons::Chart>(figure.panels)[1]->y;
  for (const lessons::ChartSeries& series : lessons::panels_of<lessons::Chart>(figure.panels)[1]->series) {
    const auto first = std::find_if(series.points.begin(), series.points.end(),
                                    [](const lessons::ChartPoint& point) { return point.out_of_memory; });
    if (first == series.points.end()) continue;
    CHECK(first->would_be);
    CHECK(first->y > 24.0 * record::kGiB);
    CHECK(first->y <= axis.high);
  }
  std::size_t longest = 0;
  tests::each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
    if (layer == Layer::kLines && line.color == kLight.control) longest = std::max(longest, line.points.size());
  });
  CHECK(longest == 3);  // Hugging Face's batches 1, 4 and 8
}

TEST_CASE("rungs are as long as their peaks, with a dashed rest if the previous one was longer") {
  const Scene scene = layout(build("ladder_waterfall", tests::made_ladder()), tests::frames()[0]);
  const std::vector<Rect> weights = fills_of(scene, kLight.of(record::Category::kWeights).fill);
  REQUIRE(weights.size() == 6);                                       // the legend's sample and five rungs with a peak
  CHECK(std::abs(weights[2].width() - 2 * weights[3].width()) <= 2);  // 32 GiB and 16 GiB
  std::vector<Rect> dashed;
  tests::each<Outline>(scene, [&](Layer layer, const Outline& outline) {
    if (layer == Layer::kBars && outline.dash > 0) dashed.push_back(outline.rect);
  });
  REQUIRE(dashed.size() == 2);
  CHECK(std::abs(dashed[0].width() - 4 * weights[3].width()) <= 4);  // 16 GiB less
  const auto texts = tests::texts_of(scene, Layer::kBars);
  for (const char* text :
       {"out of memory", "\u221216.00 GiB", "+4.00 GiB", "24,000", "5.250", "It does not go with what is below it."})
    CHECK(std::find(texts.begin(), texts.end(), text) != texts.end());
}

TEST_CASE("exported files of a sweep name the points out of memory and each rung's numbers") {
  ExportOptions options;
  options.assets = tests::assets_folder();
  const auto csv = [&](const lessons::FigureData& figure) {
    const auto bytes = render(figure, Format::kCsv, options);
    REQUIRE(bytes);
    return bytes.value();
  };
  const auto holds = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(holds(csv(build("report_batch", tests::made_report_sweep())),
              "\"Peak memory\",\"Hugging Face's way\",no,\"16\",,,,out of memory\n"));
  const std::string ladder = csv(build("ladder_waterfall", tests::made_ladder()));
  CHECK(holds(ladder,
              "\"+ fused linear cross entropy\",4294967296,4294967296,4294967296,4294967296,0,0,0,17179869184,"
              "34359738368,no,30000,5.250,no,\"\",\"\"\n"));
  CHECK(holds(ladder, "\"naive\""));
  CHECK(holds(render(build("report_batch", tests::made_report_sweep()), Format::kJson, options).value(),
              "\"out_of_memory\":true"));
}

TEST_CASE("a guess about a ladder is on its last rung and can be dragged until locked") {
  const record::Recording ladder = tests::made_ladder();
  const record::Ledger ledger(ladder);
  const double guess = 10.0 * record::kGiB;
  const auto scene_of = [&](bool locked, std::optional<double> value) {
    const lessons::View view{.guess = value, .guess_open = !locked, .hidden = !locked, .asked = true};
    return layout(lessons::find_figure("ladder_waterfall")->build({.run = &ledger, .view = view}), tests::frames()[0]);
  };
  const Scene open = scene_of(false, guess);
  REQUIRE(open.guess);
  CHECK(open.guess_along_x);
  const float x = open.map.x_px(guess);
  CHECK(open.guess->x0 <= x);
  CHECK(x <= open.guess->x1);
  CHECK(open.map.x_at(x) == Approx(guess));
  const auto says = [](const Scene& scene, const std::string& words) {
    const auto labels = tests::texts_of(scene, Layer::kLabels);
    return std::count(labels.begin(), labels.end(), words) == 1;
  };
  CHECK(says(open, "your guess 10.0 GiB"));
  const Scene before = scene_of(false, std::nullopt);
  REQUIRE(before.guess);
  CHECK(before.guess->x0 == before.map.plot.x0);
  CHECK(says(before, "drag to guess"));
  const Scene locked = scene_of(true, guess);
  CHECK_FALSE(locked.guess);
  CHECK(says(locked, "you said 10.0 GiB"));
  const Rect& plot = open.map.plot;
  int pieces = 0;
  tests::each<app::paint::Polyline>(locked, [&](Layer layer, const app::paint::Polyline& line) {
    if (layer != Layer::kMarks || line.dash == 0) return;
    ++pieces;
    CHECK(line.points.front().y >= plot.y0 - 1);
    CHECK(line.points.back().y <= plot.y1 + 1);
  });
  CHECK(pieces == 1);
  CHECK(plot.height() < 60);
  CHECK(open.guess->y0 >= plot.y0);
  CHECK(open.guess->y1 <= plot.y1);
}

TEST_CASE("a guess about a ladder is not on a rung that is off") {
  record::Recording ladder = tests::made_ladder();
  const auto row_of = [&](const record::Recording& run) {
    const record::Ledger ledger(run);
    const lessons::View view{.guess_open = true, .hidden = true, .asked = true};
    const lessons::FigureData figure = lessons::find_figure("ladder_waterfall")->build({.run = &ledger, .view = view});
    app::paint::Frame frame = tests::frames()[0];
    frame.height = 2000;  // tall enough for rows of full height
    return layout(figure, frame).map.plot;
  };
  const Rect last = row_of(ladder);
  record::SweepPoint off = tests::made_point("ladder", "fp8", {}, 0);
  off.outcome = {.kind = record::OutcomeKind::kCancelled, .message = "off"};
  ladder.append(off);
  CHECK(row_of(ladder).y0 == last.y0);
  off.outcome.message.clear();  // a running rung counts
  ladder.append(off);
  CHECK(row_of(ladder).y0 > last.y0);
}

TEST_CASE("a predicted rung has a dashed edge, and tokens per second are shown at every size") {
  record::Recording ladder = tests::made_ladder();
  record::SweepPoint predicted = tests::made_point("ladder", "offload_parameters", {record::kGiB, 0, record::kGiB}, 0);
  predicted.provenance["source"] = "predicted";
  ladder.append(predicted);
  const lessons::FigureData figure = build("ladder_waterfall", ladder);
  const auto dashed = [](const Scene& scene) {
    int count = 0;
    tests::each<Outline>(
        scene, [&](Layer layer, const Outline& outline) { count += layer == Layer::kMarks && outline.dash > 0; });
    return count;
  };
  CHECK(dashed(layout(figure, tests::frames()[0])) == 1);
  CHECK(dashed(layout(build("ladder_waterfall", tests::made_ladder()), tests::frames()[0])) == 0);
  for (app::paint::Frame frame : tests::frames()) {
    frame.width = std::max(frame.width, 700 * frame.scale);
    const auto texts = tests::texts_of(layout(figure, frame), Layer::kBars);
    for (const char* text : {"tokens/s", "24,000"}) CHECK(std::find(texts.begin(), texts.end(), text) != texts.end());
  }
}

TEST_CASE("a future rung is pale") {
  record::Recording ladder = tests::made_sweep("ladder", {});
  const record::Recording whole = tests::made_ladder();
  for (record::SweepPoint point : whole.sweep_points()) {
    if (point.label == "checkpointing") point.provenance["pending"] = "on";
    ladder.append(point);
  }
  const Frame frame = tests::frames()[0];
  std::map<std::string, app::paint::Color> inks;
  tests::each<app::paint::Text>(layout(build("ladder_waterfall", ladder), frame),
                                [&](Layer, const app::paint::Text& text) { inks[text.text] = text.color; });
  REQUIRE(inks.contains("20.00 GiB"));
  CHECK(inks["20.00 GiB"] == frame.palette->text3);
  CHECK(inks["16.00 GiB"] == frame.palette->text);
}

TEST_CASE("a card's line crosses all rungs, and rungs of several sources name theirs") {
  record::Recording ladder = tests::made_sweep("ladder", {});
  const record::Recording made = tests::made_ladder();
  for (record::SweepPoint point : made.sweep_points()) {
    point.provenance[std::string(lessons::kMadePoint)] =
        ladder.sweep_points().size() > 1 ? "H200, stored" : "here, 12:53";
    ladder.append(std::move(point));
  }
  const record::Ledger ledger(ladder);
  lessons::FigureInput input{.run = &ledger};
  input.view.card = lessons::CardLimit{"24 GiB", 24 * record::kGiB};
  const Scene scene = layout(lessons::find_figure("ladder_waterfall")->build(input), tests::frames()[0]);
  const std::vector<Rect> bars = fills_of(scene, kLight.of(record::Category::kWeights).fill);
  std::vector<Rect> lines;
  tests::each<Fill>(scene, [&](Layer layer, const Fill& fill) {
    if (layer == Layer::kMarks && fill.color == kLight.danger) lines.push_back(fill.rect);
  });
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].y0 <= bars[1].y0);
  CHECK(lines[0].y1 >= bars.back().y1);
  const auto labels = tests::texts_of(scene, Layer::kLabels), texts = tests::texts_of(scene, Layer::kBars);
  CHECK(std::ranges::count_if(texts, [](const std::string& text) { return text.ends_with(" GiB, fits"); }) == 1);
  CHECK(std::ranges::count(labels, "24 GiB card") == 1);
  for (const char* text : {"from", "here, 12:53", "H200, stored"}) CHECK(std::ranges::count(texts, text) > 0);
  const auto same = tests::texts_of(layout(build("ladder_waterfall", made), tests::frames()[0]), Layer::kBars);
  CHECK(std::ranges::count(same, "from") == 0);
}

TEST_CASE("the rungs' columns do not move while rungs arrive") {
  const record::Recording whole = tests::made_ladder();
  record::Recording first = tests::made_sweep("ladder", {});
  for (const record::SweepPoint& point : whole.sweep_points()) {
    record::SweepPoint next = point;
    if (&point != &whole.sweep_points()[1]) {
      next = tests::made_point("ladder", point.label, {}, 0);
      next.outcome = {record::OutcomeKind::kCancelled, "", std::nullopt};
      next.loss.reset();
    }
    first.append(next);
  }
  const auto edge = [](const record::Recording& ladder) {
    std::vector<float> edges;
    tests::each<app::paint::Text>(layout(build("ladder_waterfall", ladder), tests::frames()[0]),
                                  [&](Layer, const app::paint::Text& text) {
                                    if (text.text == "peak" || text.text == "tokens/s") edges.push_back(text.box.x1);
                                  });
    return edges;
  };
  CHECK(edge(whole).size() == 2);
  CHECK(edge(first) == edge(whole));
}
