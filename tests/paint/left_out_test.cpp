// Omitted parts are counted: in every figure of the course at any size, drawn and counted parts add up to all.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "tests/paint/support.h"
#include "tests/support/catch.h"
#include "tests/support/left_out.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::paint;
using tests::each;

namespace {

std::vector<Frame> sizes() {
  std::vector<Frame> frames;
  for (const auto& [width, height, scale] : {std::tuple{320, 200, 1.0f},
                                             {480, 160, 1.0f},
                                             {640, 360, 1.0f},
                                             {840, 235, 1.0f},
                                             {900, 500, 1.0f},
                                             {1020, 900, 2.5f},
                                             {1280, 720, 1.0f},
                                             // figures in windows of 1280x720 and 1920x1080, at scale 2, and on stage
                                             {840, 352, 1.0f},
                                             {1128, 456, 1.0f},
                                             {1072, 668, 2.0f},
                                             {973, 587, 2.45f},
                                             {973, 803, 2.45f}}) {
    Frame frame;
    frame.width = static_cast<float>(width), frame.height = static_cast<float>(height);
    frame.scale = scale;
    frame.compact = width < 1000;
    frame.parts.header = false;
    frame.measure = &tests::widths();
    frames.push_back(frame);
  }
  return frames;
}

std::size_t counted(const Scene& scene, std::string_view what) {
  std::size_t count = 0;
  for (const MoreMark& mark : scene.more)
    if (mark.what == what) count += mark.count;
  return count;
}

// Counts whole and visibly cut words.
std::size_t drawn(const Scene& scene, const std::vector<std::string>& words) {
  std::vector<std::string> texts;
  each<Text>(scene, [&](Layer, const Text& text) { texts.push_back(text.text); });
  const auto take = [&](const std::function<bool(const std::string&)>& is) {
    const auto found = std::ranges::find_if(texts, is);
    if (found == texts.end()) return false;
    texts.erase(found);
    return true;
  };
  std::vector<std::string> missing;
  for (const std::string& word : words)
    if (!take([&](const std::string& text) { return text == word; })) missing.push_back(word);
  constexpr std::string_view kCut = "…";
  std::size_t left = missing.size();
  for (const std::string& word : missing)
    left -= take([&](const std::string& text) {
      return text.ends_with(kCut) && text.size() > kCut.size() &&
             word.starts_with(text.substr(0, text.size() - kCut.size()));
    });
  return words.size() - left;
}

std::vector<std::string> row_names(const lessons::FigureData& figure) {
  std::vector<std::string> names;
  for (const lessons::Table* table : lessons::panels_of<lessons::Table>(figure.panels))
    for (const lessons::TableRow& row : table->rows) names.push_back(row.name);
  for (const lessons::Rung& rung : tests::rungs_of(figure)) names.push_back(rung.label);
  for (const lessons::Bar& bar : tests::bars_of(figure)) names.push_back(bar.label);
  return names;
}

std::vector<std::string> legend_words(const lessons::FigureData& figure, float width) {
  std::vector<std::string> words;
  std::set<std::tuple<std::string, bool>> said;
  const auto charts = tests::charts_of(figure);
  const float one = charts.size() == 2 ? (width - 20) / 2 : width;
  for (const lessons::Chart* chart : charts)
    for (const lessons::ChartSeries& series : chart->series) {
      const std::string& word = series.legend.empty() ? series.label : series.legend;
      if (word.empty() || (charts.size() <= 2 && one >= 400 && series.named_at_end)) continue;
      if (said.insert({word, series.published}).second) words.push_back(word);
    }
  return words;
}

}  // namespace

TEST_CASE("drawn and counted rows are all rows, in any figure at any size") {
  std::size_t with_rows = 0, marked = 0;
  for (const tests::Sample& sample : tests::figures_of_the_course()) {
    const std::vector<std::string> names = row_names(sample.figure);
    if (names.empty()) continue;
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      ++with_rows;
      marked += counted(scene, "row") > 0;
      // A legend may have the name of a row.
      CHECK(drawn(scene, names) + counted(scene, "row") >= names.size());
    }
  }
  CHECK(with_rows > 50);
  CHECK(marked > 5);
}

TEST_CASE("the first and the last row of a table are dropped last") {
  lessons::Table table{.head = "Step", .columns = {"takes"}, .rows = {}, .foot = "How it is counted."};
  for (int i = 0; i < 9; ++i)
    table.rows.push_back({.name = fmt::format("row {}", i), .note = "a line of explanation", .cells = {"1 GiB"}});
  lessons::FigureData figure;
  figure.panels.emplace_back(table);
  Frame frame = sizes().front();
  for (const float height : {105.0f, 160.0f, 200.0f}) {
    frame.height = height;
    const Scene scene = layout(figure, frame);
    INFO(height);
    CHECK(counted(scene, "row") > 0);
    CHECK(drawn(scene, {"row 8"}) == 1);
    CHECK(drawn(scene, {"row 0"}) == (height > 110));
    const auto mark = std::ranges::find(scene.more, "row", &MoreMark::what);
    REQUIRE(mark != scene.more.end());
    const auto hit =
        std::ranges::find_if(scene.hits, [&](const HitArea& area) { return area.tip.find('\n') != std::string::npos; });
    REQUIRE(hit != scene.hits.end());
    CHECK(hit->rect.contains({mark->rect.center_x(), mark->rect.center_y()}));
    CHECK(hit->tip.find("row 5; takes: 1 GiB") != std::string::npos);
  }
}

TEST_CASE("drawn and counted columns are all columns, in any table at any size") {
  std::size_t marked = 0;
  for (const tests::Sample& sample : tests::figures_of_the_course()) {
    const auto tables = lessons::panels_of<lessons::Table>(sample.figure.panels);
    if (tables.empty()) continue;
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      std::vector<std::string> sure;
      for (const lessons::Table* const table : tables) {
        // A table without room loses all its columns.
        const bool whole = std::ranges::any_of(
            scene.more, [&](const MoreMark& mark) { return mark.what == "row" && mark.count == table->rows.size(); });
        for (const std::string& column : table->columns) {
          if (!column.empty() && !whole) sure.push_back(column);
        }
      }
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      marked += counted(scene, "column") > 0;
      CHECK(drawn(scene, sure) + counted(scene, "column") >= sure.size());
    }
  }
  CHECK(marked > 5);
}

TEST_CASE("a ladder counts the columns and rungs without room") {
  for (const tests::Sample& sample : tests::figures_of_the_course()) {
    if (tests::rungs_of(sample.figure).empty()) continue;
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      std::vector<std::string> heads{"difference"};
      for (const lessons::Rung& rung : tests::rungs_of(sample.figure)) {
        if (!rung.loss.empty() && heads.back() != "loss") heads.emplace_back("loss");
        if (rung.speed.value > 0 && std::ranges::find(heads, "change") == heads.end())
          heads.insert(heads.begin(), "change");
      }
      CHECK(drawn(scene, heads) + counted(scene, "column") == heads.size());
    }
  }
}

TEST_CASE("the sums below the squares of a kernel's traffic are drawn or counted") {
  std::size_t drawn_whole = 0, marked = 0;
  for (const tests::Sample& sample : tests::figures_of_the_course()) {
    if (lessons::panels_of<lessons::Traffic>(sample.figure.panels).empty()) continue;
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      if (drawn(scene, {"Bytes moved"}) == 0) continue;
      const std::size_t sums = drawn(scene, {"Traffic", "Time", "Kept for backward"});
      drawn_whole += sums == 3;
      marked += counted(scene, "sum") == 3;
      CHECK(sums + counted(scene, "sum") == 3);
    }
  }
  CHECK(drawn_whole > 0);
  CHECK(marked > 0);
}

TEST_CASE("drawn and counted legend entries are all entries, in any figure at any size") {
  std::size_t marked = 0;
  for (const tests::Sample& sample : tests::figures_of_the_course())
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      const std::vector<std::string> words = legend_words(sample.figure, frame.width / frame.scale);
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      marked += counted(scene, "entry") > 0;
      if (counted(scene, "chart") == 0) CHECK(drawn(scene, words) + counted(scene, "entry") >= words.size());
    }
  CHECK(marked > 5);
}

TEST_CASE("names of boxes and labels of charts without room are counted") {
  std::size_t boxes = 0, labels = 0;
  for (const tests::Sample& sample : tests::figures_of_the_course())
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      if (const auto* diagram = lessons::panel_of<lessons::Diagram>(sample.figure)) {
        std::size_t named = 0, shown = 0;
        for (const lessons::DiagramBox& box : diagram->boxes) named += !box.label.empty();
        std::vector<std::string> texts = tests::texts_of(scene, Layer::kLabels);
        for (const lessons::DiagramBox& box : diagram->boxes) {
          if (box.label.empty()) continue;
          const auto found = std::ranges::find_if(texts, [&](const std::string& text) {
            const std::size_t cut = text.find("…");
            return !text.empty() && box.label.starts_with(cut == std::string::npos ? text : text.substr(0, cut));
          });
          if (found == texts.end()) continue;
          ++shown;
          texts.erase(found);
        }
        CHECK(shown + counted(scene, "name") == named);
        boxes += counted(scene, "name");
      }
      if (counted(scene, "chart") > 0) continue;
      std::vector<std::string> references;
      for (const lessons::Chart* chart : tests::charts_of(sample.figure))
        for (const lessons::ChartReference& reference : chart->references)
          if (!reference.label.empty() && (chart->bars || !chart->stacked)) references.push_back(reference.label);
      CHECK(drawn(scene, references) + counted(scene, "label") >= references.size());
      labels += counted(scene, "label");
    }
  CHECK(boxes > 20);
  CHECK(labels > 20);
}

TEST_CASE("every name and value of a figure is drawn, cut with a tooltip, or listed by a mark") {
  for (const tests::Sample& sample : tests::figures_of_the_course())
    for (const Frame& frame : sizes()) {
      const Scene scene = layout(sample.figure, frame);
      INFO(sample.name << " at " << frame.width << " x " << frame.height);
      CHECK(tests::LeftOut(scene).of(sample.figure, true) == std::vector<std::string>());
    }
}
