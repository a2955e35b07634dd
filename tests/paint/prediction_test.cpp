// A prediction drawn over a measured timeline.
#include <algorithm>
#include <string>

#include "tests/paint/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_prediction.h"
#include "tests/support/panels.h"
#include "tests/support/pixel_tops.h"

using namespace headroom;
using namespace headroom::app::paint;

namespace {

lessons::FigureData timeline(const record::Recording& run, const record::Recording& prediction, int columns) {
  const record::Ledger ledger(run), predicted(prediction);
  return lessons::find_figure("memory_timeline")
      ->build({.run = &ledger, .predicted = &predicted, .view = {.columns = columns}});
}

}  // namespace

TEST_CASE("an exact prediction lies on the stack in each pixel, also with several columns per pixel") {
  const record::Recording run = tests::made_recording({.steps = 4}), prediction = tests::made_prediction({.steps = 2});
  for (const int columns : {100, 800, 1600}) {
    const lessons::FigureData figure = timeline(run, prediction, columns);
    const lessons::Timeline& shown = tests::timeline_of(figure);
    const auto line = std::ranges::find(shown.lines, lessons::LineStyle::kPredicted, &lessons::StepLine::style);
    REQUIRE(line != shown.lines.end());
    for (const int width : {columns, columns * 9 / 10, columns / 3}) {
      INFO(columns << " columns, " << width << " px");
      const std::vector<float> stack = tests::tops_of_stack(shown, width);
      CHECK(stack.size() > static_cast<std::size_t>(width) * 9 / 10);
      CHECK(tests::tops_of_line(shown, *line, width) == stack);
    }
  }
}

TEST_CASE("the place where a prediction parts is named, and pointing at it shows both events") {
  const record::Recording run = tests::made_recording({.steps = 2});
  const record::Recording prediction = tests::made_prediction({.steps = 2}, [](record::MemEvent& event, std::size_t) {
    if (event.kind == record::EventKind::kAlloc && event.category == record::Category::kLogits)
      event.requested = event.block = record::kMiB;
  });
  const lessons::FigureData figure = timeline(run, prediction, 800);
  const std::string& tip = tests::timeline_of(figure).parting->tip;
  for (const Frame& frame : tests::frames()) {
    const Scene scene = layout(figure, frame);
    const std::vector<std::string> labels = tests::texts_of(scene, Layer::kLabels);
    CHECK(std::ranges::count(labels, "parts here") == 1);
    CHECK(std::ranges::count(scene.hits, tip, &HitArea::tip) == 2);  // the ring and its name
    CHECK(scene.description.find(tip) != std::string::npos);
  }
}
