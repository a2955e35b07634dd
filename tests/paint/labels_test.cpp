// No label of the course's figures crosses a curve or another label, alone or next to run A. Every mark contrasts with
// its ground.
#include <string>

#include "tests/paint/support.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::paint;
using tests::each;

namespace {

std::vector<Frame> four_sizes() {
  std::vector<Frame> frames;
  for (const auto& [width, height] : {std::pair{640, 360}, {900, 500}, {1280, 720}, {1920, 1080}}) {
    Frame frame;
    frame.width = static_cast<float>(width), frame.height = static_cast<float>(height);
    frame.compact = width < 1000;
    frame.measure = &tests::widths();
    frames.push_back(frame);
  }
  return frames;
}

bool crosses(Point a, Point b, const Rect& box) {
  float from = 0, to = 1;
  const float dx = b.x - a.x, dy = b.y - a.y;
  for (const auto& [p, d, low, high] : {std::tuple{a.x, dx, box.x0, box.x1}, {a.y, dy, box.y0, box.y1}}) {
    if (d == 0) {
      if (p <= low || p >= high) return false;
      continue;
    }
    from = std::max(from, std::min((low - p) / d, (high - p) / d));
    to = std::min(to, std::max((low - p) / d, (high - p) / d));
  }
  return from < to;
}

// The letters' box without line spacing.
Rect letters(const Text& text) { return text.box.inset(1, text.box.height() * 0.18f); }

struct Curve {
  std::vector<Point> points;
};

// Curves of runs, predictions, references, the limit, the guess, and the top of a stack.
std::vector<Curve> curves_of(const Scene& scene, const Palette& palette) {
  std::vector<Curve> curves;
  each<Polyline>(scene, [&](Layer layer, const Polyline& line) {
    const bool outline = layer == Layer::kStack && line.color == palette.text;
    const bool guess = layer == Layer::kMarks && line.dash > 0;
    const bool leader = layer == Layer::kMarks && line.points.size() == 2 && line.color == palette.control;
    if (layer == Layer::kLines || outline || guess || leader) curves.push_back({line.points});
  });
  each<Fill>(scene, [&](Layer layer, const Fill& fill) {  // a horizontal or vertical line
    if (layer != Layer::kLines) return;
    const Rect& r = fill.rect;
    if (r.height() <= 3) curves.push_back({{{r.x0, r.center_y()}, {r.x1, r.center_y()}}});
    if (r.width() <= 3) curves.push_back({{{r.center_x(), r.y0}, {r.center_x(), r.y1}}});
  });
  return curves;
}

// Step lines' names and the reader's guess may be on their lines.
bool is_on_its_line(const lessons::FigureData& figure, const std::string& text) {
  if (text.starts_with("you said")) return true;
  for (const lessons::StepLine& line : tests::timeline_of(figure).lines)
    if (text == line.label || text == line.short_label) return true;
  return false;
}

}  // namespace

TEST_CASE("no label of the course crosses a curve or another label, at four sizes") {
  int labels = 0, curves = 0;
  REQUIRE(tests::figures_of_the_course().size() > 150);
  for (const tests::Sample& sample : tests::figures_of_the_course())
    for (const Frame& frame : four_sizes()) {
      const Scene scene = layout(sample.figure, frame);
      std::vector<Text> texts;
      each<Text>(scene, [&](Layer, const Text& text) { texts.push_back(text); });
      for (std::size_t i = 0; i < texts.size(); ++i)
        for (std::size_t j = i + 1; j < texts.size(); ++j)
          if (letters(texts[i]).meets(letters(texts[j])))
            FAIL_CHECK(sample.name << " at " << frame.width << ": '" << texts[i].text << "' meets '" << texts[j].text
                                   << "'");
      for (const Curve& curve : curves_of(scene, *frame.palette)) {
        ++curves;
        for (const Text& text : texts) {
          ++labels;
          if (is_on_its_line(sample.figure, text.text)) continue;
          for (std::size_t i = 1; i < curve.points.size(); ++i) {
            if (!crosses(curve.points[i - 1], curve.points[i], letters(text))) continue;
            FAIL_CHECK(sample.name << " at " << frame.width << ": '" << text.text << "' crosses a curve");
            break;
          }
        }
      }
    }
  CHECK(labels > 1000);
  CHECK(curves > 300);
}

namespace {

constexpr double kLeast = 3;

// The group's outline counts, too.
bool is_outlined(const Rect& rect, const std::vector<Outline>& outlines, Color ground) {
  return std::any_of(outlines.begin(), outlines.end(), [&](const Outline& outline) {
    const float reach = outline.width + 1;
    const Rect around{outline.rect.x0 - reach, outline.rect.y0 - reach, outline.rect.x1 + reach,
                      outline.rect.y1 + reach};
    return rect.inside(around) && contrast(outline.color, ground) >= kLeast;
  });
}

bool holds_marks(Layer layer) {
  return layer == Layer::kBars || layer == Layer::kStack || layer == Layer::kMarks || layer == Layer::kList ||
         layer == Layer::kLevels;
}

}  // namespace

// palette_test.cpp covers kinds of memory; quiet ones are pale on purpose and have an edge.
TEST_CASE("every mark of the course has a contrast of 3 to 1 or an outline, in every theme") {
  int marks = 0;
  for (const Palette* palette : {&kLight, &kDark, &kHighContrast}) {
    std::set<std::string> reported;
    for (const tests::Sample& sample : tests::figures_of_the_course()) {
      Frame frame = four_sizes()[2];
      frame.palette = palette;
      const Scene scene = layout(sample.figure, frame);
      std::vector<Outline> outlines;
      each<Outline>(scene, [&](Layer, const Outline& outline) { outlines.push_back(outline); });
      each<Fill>(scene, [&](Layer layer, const Fill& fill) {
        if (!holds_marks(layer) || fill.color.a < 255 || fill.color == palette->well) return;
        if (std::min(fill.rect.width(), fill.rect.height()) <= 1) return;  // a line
        ++marks;
        if (contrast(fill.color, palette->well) >= kLeast || is_outlined(fill.rect, outlines, palette->well)) return;
        if (!reported.insert(sample.figure.head.id).second) return;
        FAIL_CHECK(sample.name << ": a mark of " << int(fill.color.r) << ", " << int(fill.color.g) << ", "
                               << int(fill.color.b) << " at " << fill.rect.x0 << ", " << fill.rect.y0);
      });
    }
  }
  CHECK(marks > 1000);
}
