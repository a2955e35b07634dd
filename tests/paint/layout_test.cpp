// Layout: no texts overlap, nothing leaves the picture, hidden data is not drawn, lists add up.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "app/paint/layout/sheet.h"
#include "app/paint/scene/stack.h"
#include "app/paint/scene/ticks.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::paint;
using tests::each;

namespace {

struct Placed {
  Layer layer;
  std::string text;
  Rect box;
};

std::vector<Placed> texts(const Scene& scene) {
  std::vector<Placed> all;
  each<Text>(scene, [&](Layer layer, const Text& text) { all.push_back({layer, text.text, text.box}); });
  return all;
}

Rect shrunk(Rect box) { return {box.x0 + 0.5f, box.y0 + 0.5f, box.x1 - 0.5f, box.y1 - 0.5f}; }

// True if a step function (horizontal or vertical pieces) crosses the box.
bool crosses(const Polyline& line, Rect box) {
  const Rect inner{box.x0 + 1, box.y0 + 1, box.x1 - 1, box.y1 - 1};
  for (std::size_t i = 1; i < line.points.size(); ++i) {
    const Point &a = line.points[i - 1], &b = line.points[i];
    if (std::max(a.x, b.x) > inner.x0 && std::min(a.x, b.x) < inner.x1 && std::max(a.y, b.y) > inner.y0 &&
        std::min(a.y, b.y) < inner.y1)
      return true;
  }
  return false;
}

std::string text_in(const Scene& scene, Rect box) {
  std::string found;
  each<Text>(scene, [&](Layer layer, const Text& text) {
    const Point middle{text.box.center_x(), text.box.center_y()};
    if (layer == Layer::kLabels && box.contains(middle)) found = text.text;
  });
  return found;
}

bool is_name_of_line(const Scene& scene, const lessons::Timeline& timeline, Rect box) {
  const std::string text = text_in(scene, box);
  return std::any_of(timeline.lines.begin(), timeline.lines.end(),
                     [&](const lessons::StepLine& line) { return text == line.label || text == line.short_label; });
}

}  // namespace

TEST_CASE("no two texts overlap, in any figure at any size") {
  for (const auto& sample : tests::samples()) {
    for (const Frame& frame : tests::frames()) {
      const auto all = texts(layout(sample.figure, frame));
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = i + 1; j < all.size(); ++j) {
          if (!shrunk(all[i].box).meets(shrunk(all[j].box))) continue;
          FAIL(sample.name << " at " << frame.width << ": '" << all[i].text << "' meets '" << all[j].text << "'");
        }
      }
    }
  }
  SUCCEED();
}

// A label may cover fills but no curves, except its own line.
TEST_CASE("no label box crosses a curve, in any figure at any size") {
  int curves = 0, named = 0;
  for (const auto& sample : tests::samples()) {
    const lessons::Timeline& timeline = tests::timeline_of(sample.figure);
    if (timeline.stack.empty()) continue;
    for (const Frame& frame : tests::frames()) {
      const Scene scene = layout(sample.figure, frame);
      // In high contrast the borders between kinds have the outline's color.
      const bool outlined = frame.palette->quiet_kinds;
      each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
        const bool outline = outlined && layer == Layer::kStack && line.color == frame.palette->text;
        if (layer != Layer::kLines && !outline) return;
        ++curves;
        each<Fill>(scene, [&](Layer of, const Fill& patch) {
          if (of != Layer::kLabels || !crosses(line, patch.rect)) return;
          if (is_name_of_line(scene, timeline, patch.rect)) return;
          FAIL(sample.name << " at " << frame.width << ": '" << text_in(scene, patch.rect) << "' covers a curve");
        });
      });
      for (const auto& mark : {timeline.peak, timeline.baseline_peak}) {
        if (!mark || frame.width < 800 || mark->x < timeline.x.low || mark->x > timeline.x.high) continue;
        const auto labels = tests::texts_of(scene, Layer::kLabels);
        INFO(sample.name << " at " << frame.width << ": " << mark->label);
        CHECK(std::find(labels.begin(), labels.end(), mark->label) != labels.end());
        ++named;
      }
    }
  }
  CHECK(curves > 100);
  CHECK(named > 100);
}

TEST_CASE("no text leaves the picture") {
  for (const auto& sample : tests::samples()) {
    for (const Frame& frame : tests::frames()) {
      for (const Placed& placed : texts(layout(sample.figure, frame))) {
        INFO(sample.name << " at " << frame.width << ": " << placed.text);
        REQUIRE(placed.box.x0 >= -1);
        REQUIRE(placed.box.x1 <= frame.width + 1);
        REQUIRE(placed.box.y0 >= -3 * frame.scale);  // the line box is taller than its letters
        REQUIRE(placed.box.y1 <= frame.height + 3 * frame.scale);
      }
    }
  }
}

TEST_CASE("drawn data stays inside the plot") {
  for (const auto& sample : tests::samples()) {
    if (!tests::charts_of(sample.figure).empty()) continue;  // several plots
    if (lessons::panel_of<lessons::Diagram>(sample.figure) != nullptr) continue;
    for (const Frame& frame : tests::frames()) {
      const Scene scene = layout(sample.figure, frame);
      const float over = 1.5f * frame.scale;  // half the line width
      const Rect& p = scene.map.plot;
      const Rect plot{p.x0 - over, p.y0 - over, p.x1 + over, p.y1 + over};
      INFO(sample.name << " at " << frame.width);
      each<Columns>(scene, [&](Layer, const Columns& columns) {
        for (const Rect& rect : columns.rects) REQUIRE(rect.inside(plot));
      });
      each<Segments>(scene, [&](Layer layer, const Segments& lines) {
        if (layer != Layer::kStack && layer != Layer::kGround) return;
        for (const auto& piece : lines.pieces) {
          REQUIRE(plot.contains(piece.from));
          REQUIRE(plot.contains(piece.to));
        }
      });
      each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
        if (layer != Layer::kStack && layer != Layer::kLines) return;
        for (const Point& point : line.points) REQUIRE(plot.contains(point));
      });
    }
  }
}

TEST_CASE("the first part of a label is never dropped if there is room") {
  for (const Frame& frame : tests::frames()) {
    const auto labels = tests::texts_of(layout(tests::plain_timeline(), frame), Layer::kLabels);
    const auto has = [&](const char* text) { return std::find(labels.begin(), labels.end(), text) != labels.end(); };
    INFO(frame.width);
    CHECK(has("peak 16.5 GiB"));
    CHECK(has("24 GiB card"));
    CHECK(has("Optimizer state"));
    if (frame.width < 800) continue;
    CHECK(has("Weights"));
    CHECK(has("Activations"));
    CHECK(has("Gradients"));
    CHECK(has("Logits and loss 4.89"));
    CHECK(has("reserved by the allocator 16.5 GiB"));
  }
}

TEST_CASE("a line is drawn only with its name") {
  for (const auto& sample : tests::samples()) {
    for (const Frame& frame : tests::frames()) {
      const Scene scene = layout(sample.figure, frame);
      const auto labels = tests::texts_of(scene, Layer::kLabels);
      const auto has = [&](const std::string& text) {
        return std::find(labels.begin(), labels.end(), text) != labels.end();
      };
      const auto& lines = tests::timeline_of(sample.figure).lines;
      const auto baseline = [](const lessons::StepLine& line) { return line.style == lessons::LineStyle::kBaseline; };
      if (std::any_of(lines.begin(), lines.end(), baseline)) continue;  // the baseline is solid, like the reserved line
      for (const lessons::StepLine& line : lines) {
        const bool dashed = line.style == lessons::LineStyle::kProcess;
        bool drawn = false;
        each<Polyline>(scene, [&](Layer layer, const Polyline& polyline) {
          drawn = drawn || (layer == Layer::kLines && (polyline.dash > 0) == dashed);
        });
        INFO(sample.name << " at " << frame.width << ": " << line.label);
        REQUIRE(drawn == (has(line.label) || has(line.short_label)));
      }
    }
  }
}

TEST_CASE("what the process takes outside the allocator is shaded between their lines") {
  int shaded = 0;
  for (const auto& sample : tests::samples()) {
    if (lessons::panel_of<lessons::Timeline>(sample.figure) == nullptr) continue;
    const auto& lines = tests::timeline_of(sample.figure).lines;
    const auto process = std::ranges::find(lines, lessons::LineStyle::kProcess, &lessons::StepLine::style);
    const auto reserved = std::ranges::find(lines, lessons::LineStyle::kReserved, &lessons::StepLine::style);
    if (process == lines.end() || reserved == lines.end()) continue;
    const Scene scene = layout(sample.figure, tests::frames().front());
    const float upper = scene.map.y_px(process->y.front()), lower = scene.map.y_px(reserved->y.front());
    each<Fill>(scene, [&](Layer layer, const Fill& fill) {
      const bool there = std::abs(fill.rect.y0 - upper) <= 1 && std::abs(fill.rect.y1 - lower) <= 1;
      shaded += layer == Layer::kGround && there && fill.rect.width() > 0 ? 1 : 0;
    });
  }
  CHECK(shaded > 0);
}

TEST_CASE("the unit is written once above a bytes axis and at the last tick of a time axis") {
  for (const auto& sample : tests::samples()) {
    if (lessons::panel_of<lessons::Timeline>(sample.figure) == nullptr) continue;
    const auto labels = tests::texts_of(layout(sample.figure, tests::frames()[0]), Layer::kAxes);
    const auto count = [&](auto test) { return std::count_if(labels.begin(), labels.end(), test); };
    INFO(sample.name);
    CHECK(count([](const std::string& s) { return s == "GiB" || s == "MiB" || s == "KiB" || s == "B"; }) == 1);
    const auto is_time = [](const std::string& s) {
      return s[0] >= '0' && s[0] <= '9' && s.find('s') != std::string::npos && s.find("more") == std::string::npos;
    };
    CHECK(count(is_time) <= 1);
    CHECK(count([](const std::string& s) { return s == "0"; }) == 1);
  }
}

TEST_CASE("a peak of one column is drawn at any width") {
  lessons::Timeline timeline = tests::timeline_of(tests::plain_timeline());
  for (auto& column : timeline.stack) column.high = {record::kGiB};
  timeline.stack[617].high = {8 * record::kGiB};
  for (const float width : {200.0f, 333.0f, 640.0f, 1128.0f}) {
    PlotMap map{.plot = {0, 0, width, 300}, .x = timeline.x, .y = timeline.y};
    const auto columns = px_columns(timeline, map, true);
    const float top =
        std::min_element(columns.begin(), columns.end(), [](auto& a, auto& b) { return a.top() < b.top(); })->top();
    CHECK(top == std::round(map.y_px(8.0 * record::kGiB)));
    for (std::size_t i = 1; i < columns.size(); ++i) REQUIRE(columns[i].x0 == columns[i - 1].x1);
  }
}

TEST_CASE("only known data is drawn while the answer is hidden") {
  int seen = 0;
  for (const auto& sample : tests::samples()) {
    const auto& hidden_from = tests::timeline_of(sample.figure).hidden_from;
    if (!hidden_from) continue;
    ++seen;
    REQUIRE_FALSE(tests::timeline_of(sample.figure).failed);
    for (const Frame& frame : tests::frames()) {
      const Scene scene = layout(sample.figure, frame);
      const float end = std::clamp(scene.map.x_px(*hidden_from), scene.map.plot.x0, scene.map.plot.x1) + 1.5f;
      INFO(sample.name << " at " << frame.width);
      each<Columns>(scene, [&](Layer, const Columns& columns) { REQUIRE(columns.rects.back().x1 <= end); });
      each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
        if (layer != Layer::kStack) return;
        for (const Point& point : line.points) REQUIRE(point.x <= end);
      });
      for (const lessons::StepLine& line : tests::timeline_of(sample.figure).lines)
        REQUIRE(line.style == lessons::LineStyle::kBaseline);
      for (const Placed& placed : texts(scene)) {
        REQUIRE((placed.text.find("peak") == std::string::npos || placed.text.rfind("A peak ", 0) == 0));
        REQUIRE(placed.text.find("reserved") == std::string::npos);
      }
      REQUIRE(scene.description.find("peak") == std::string::npos);
    }
  }
  CHECK(seen > 10);
}

TEST_CASE("the guess has a pill to drag until it is locked") {
  for (const auto& sample : tests::samples()) {
    if (!sample.figure.head.guess && !sample.figure.head.guess_open) continue;
    const Scene scene = layout(sample.figure, tests::frames()[0]);
    INFO(sample.name);
    CHECK(scene.guess.has_value() == sample.figure.head.guess_open);
    if (!scene.guess) continue;
    CHECK(scene.guess->inside(scene.map.plot));
    // Without a guess, the pill is at the low end.
    const double at = sample.figure.head.guess.value_or(scene.map.y.low);
    CHECK(std::abs(scene.guess->center_y() - scene.map.y_px(at)) <= scene.guess->height() * 0.5f + 1);
  }
}

TEST_CASE("the pill is at the top left of a plot too small for it") {
  const Frame frame = tests::frames()[0];
  Scene scene;
  Sheet sheet(scene, frame);
  lessons::FigureHead head;
  head.guess_open = true;
  const PlotPanels panels{tests::timeline_of(tests::plain_timeline())};
  lay_out_plot(sheet, head, panels, panels, {0, 0, 100, 70});
  REQUIRE(scene.guess);
  const Rect plot = scene.map.plot;
  REQUIRE(plot.height() < scene.guess->height());
  CHECK(scene.guess->y0 >= plot.y0 - 1);
  CHECK(scene.guess->x0 >= plot.x0 - 1);
}

TEST_CASE("a tooltip has no separator next to an empty part") {
  CHECK(joined("a", ". ", "b") == "a. b");
  CHECK(joined("a", ". ", "") == "a");
  CHECK(joined("", ". ", "b") == "b");
  const Frame frame = tests::frames()[0];
  Scene scene;
  Sheet sheet(scene, frame);
  lay_out_panel(sheet,
                {.head = "Name",
                 .columns = {"Bytes"},
                 .rows = {{.name = "x", .note = {}, .cells = {"1"}, .tip = {}},
                          {.name = "y", .note = "n", .cells = {"2"}, .tip = "t"}}},
                {0, 0, 400, 300});
  REQUIRE(scene.hits.size() == 2);
  CHECK(scene.hits[0].tip.empty());
  CHECK(scene.hits[1].tip == "t. n");
}

TEST_CASE("the cursor's chip and the list name the same event") {
  const record::Recording run = tests::made_recording();
  const record::Ledger ledger(run);
  const lessons::Figure& timeline = *lessons::find_figure("memory_timeline");
  record::Params params(timeline.schema);
  REQUIRE(params.set("axis", "event").ok());
  const Scene scene =
      layout(timeline.build({.run = &ledger, .params = &params, .view = {.cursor = 12.7}}), tests::frames()[0]);
  CHECK(tests::texts_of(scene, Layer::kMarks) == std::vector<std::string>{"12"});
  CHECK(tests::texts_of(scene, Layer::kList).at(2).rfind("event 12, ", 0) == 0);
}

TEST_CASE("a figure of a CPU mentions no card") {
  int ladders = 0;
  for (const auto& sample : tests::samples()) {
    const auto device = sample.figure.head.provenance.find("device");
    if (device == sample.figure.head.provenance.end() || device->second != "cpu") continue;
    for (const Frame& frame : tests::frames()) {
      for (const Placed& placed : texts(layout(sample.figure, frame))) {
        INFO(sample.name << " at " << frame.width << ": " << placed.text);
        REQUIRE(placed.text.find("card") == std::string::npos);
        ladders += placed.layer == Layer::kLevels;
      }
    }
  }
  CHECK(ladders > 10);
}

TEST_CASE("the displayed list adds up to its total") {
  for (const auto& sample : tests::samples()) {
    constexpr record::Bytes kListedInGiB = 2 * record::kGiB;
    const auto& alive = tests::timeline_of(sample.figure).alive;
    if (!alive || alive->total < kListedInGiB) continue;
    for (const Frame& frame : tests::frames()) {
      Frame only = frame;
      only.parts = {.header = false, .plot = false, .alive = true, .levels = false};
      only.width = 292 * frame.scale;
      const auto shown = tests::texts_of(layout(sample.figure, only), Layer::kList);
      double sum = 0;
      int numbers = 0;
      std::optional<double> total;
      for (const std::string& text : shown) {
        double value = 0;
        char after = 0;
        const int read = std::sscanf(text.c_str(), "%lf%c", &value, &after);
        if (text.size() > 4 && text.substr(text.size() - 4) == " GiB") total = std::atof(text.c_str());
        if (read != 1 || text.find('.') == std::string::npos) continue;
        sum += value;
        ++numbers;
      }
      INFO(sample.name << " at " << frame.width);
      REQUIRE(total);
      CHECK(sum == Approx(*total).margin(0.005 * (numbers + 1)));
    }
  }
}

TEST_CASE("a highlighted kind is emphasized, and the others are muted") {
  Frame frame = tests::frames()[0];
  frame.lit = record::Category::kActivations;
  each<Columns>(layout(tests::plain_timeline(), frame), [&](Layer, const Columns& columns) {
    const KindColors& colors = kLight.of(columns.category);
    CHECK(columns.color == (columns.category == record::Category::kActivations ? colors.fill : colors.quiet));
  });
}

TEST_CASE("pale kinds are hatched on light ground") {
  const auto hatched = [](const Palette& palette) {
    Frame frame = tests::frames()[0];
    frame.palette = &palette;
    const Color edge = faded(palette.of(record::Category::kLogits).edge, kKindHatch.opacity);
    bool found = false;
    each<Segments>(layout(tests::plain_timeline(), frame), [&](Layer layer, const Segments& s) {
      found = found || (layer == Layer::kStack && s.color == edge);
    });
    return found;
  };
  CHECK(hatched(kLight));
  CHECK_FALSE(hatched(kDark));
}

TEST_CASE("a hatch continues over neighboring rectangles") {
  Scene scene;
  const Frame frame = tests::frames()[0];
  Sheet sheet(scene, frame);
  sheet.hatch(Layer::kStack, {{0, 0, 10, 20}, {10, 0, 20, 20}}, kLight.danger, {6, 1, 1});
  Scene whole;
  Sheet(whole, frame).hatch(Layer::kStack, {{0, 0, 20, 20}}, kLight.danger, {6, 1, 1});
  const auto& parts = std::get<Segments>(scene.items.at(0).shape).pieces;
  const auto& one = std::get<Segments>(whole.items.at(0).shape).pieces;
  REQUIRE(parts.size() == one.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].from.x == one[i].from.x);
    CHECK(parts[i].to.x == one[i].to.x);
    CHECK(parts[i].from.x + parts[i].from.y == Approx(parts[i].to.x + parts[i].to.y));
  }
}
