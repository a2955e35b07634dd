// Measures of a layout: ticks, the map between pixels and values, text widths.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "app/paint/layout/sheet.h"
#include "app/paint/scene/stack.h"
#include "app/paint/scene/ticks.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app::paint;
using tests::each;

TEST_CASE("ticks are whole and round") {
  const lessons::Axis gib{.high = 30.0 * record::kGiB};
  const auto ticks = byte_ticks(gib, 8);
  REQUIRE(ticks.size() == 8);
  CHECK(ticks[1].label == "4");
  CHECK(ticks.back().label == "28");
  const auto time = time_ticks({.unit = lessons::AxisUnit::kNanoseconds, .high = 118e6}, 6);
  REQUIRE(time.ticks.size() == 6);
  CHECK(time.ticks[1].label == "20");
  CHECK(time.unit == "ms");
  const auto fine = time_ticks({.unit = lessons::AxisUnit::kNanoseconds, .low = 30.1e6, .high = 31.3e6}, 4);
  CHECK(fine.unit == "µs");
  const auto events = time_ticks({.unit = lessons::AxisUnit::kEvents, .high = 9000}, 6);
  CHECK(events.ticks.back().label == "8,000");
  CHECK(events.unit == "events");
  // Next to an axis in GiB, in the same unit.
  const auto less = byte_ticks({.high = 0.5 * record::kGiB, .shown = lessons::byte_unit(30.0 * record::kGiB)}, 6);
  REQUIRE(less.size() == 6);
  CHECK(less[1].label == "0.1");
}

TEST_CASE("negative exponents are not billionths, and a logarithmic axis keeps its unit") {
  const auto exponents = chart_ticks({.unit = lessons::AxisUnit::kNumber, .low = -36, .high = -8.5}, 6);
  CHECK(exponents.unit.empty());
  REQUIRE(!exponents.ticks.empty());
  CHECK(exponents.ticks.front().label == "−35");
  const auto speeds = chart_ticks({.unit = lessons::AxisUnit::kBytesPerSecond,
                                   .low = 1e9,
                                   .high = 1e13,
                                   .logarithmic = true,
                                   .shown = lessons::rate_unit(0)},
                                  8);
  CHECK(speeds.unit == "GB/s");
  REQUIRE(speeds.ticks.size() == 5);
  CHECK(speeds.ticks.front().label == "1");
  CHECK(speeds.ticks.back().label == "10,000");
}

TEST_CASE("pixel and value conversions are inverse") {
  const Scene scene = layout(tests::plain_timeline(), tests::frames()[0]);
  for (const double share : {0.0, 0.3, 1.0}) {
    const double x = share * scene.map.x.high, y = share * scene.map.y.high;
    CHECK(scene.map.x_at(scene.map.x_px(x)) == Approx(x).margin(1e-3 * scene.map.x.high));
    CHECK(scene.map.y_at(scene.map.y_px(y)) == Approx(y).margin(1e-3 * scene.map.y.high));
  }
  CHECK(scene.map.y_px(0) == scene.map.plot.y1);
}

TEST_CASE("text is cut at whole characters") {
  Scene scene;
  const Frame frame = tests::frames()[0];
  const Sheet sheet(scene, frame);
  const Type type{Face::kMedium, 13};
  for (float width = 0; width < 120; width += 3) {
    const std::string cut = sheet.shortened(type, "Größe μ → Übergang", width);
    CHECK(sheet.width(type, cut) <= std::max(width, 0.0f));
    CHECK((cut.empty() || (static_cast<unsigned char>(cut[0]) & 0xC0) != 0x80));
    for (std::size_t i = 0; i + 1 < cut.size(); ++i) {
      const auto lead = static_cast<unsigned char>(cut[i]);
      if (lead >= 0xC0) CHECK((static_cast<unsigned char>(cut[i + 1]) & 0xC0) == 0x80);
    }
  }
  CHECK(sheet.shortened(type, "short", 500) == "short");
}

TEST_CASE("text widths come from the fonts, with digits of equal width") {
  const auto& widths = tests::widths();
  CHECK(widths.width(Face::kRegular, 16, "1111") == Approx(widths.width(Face::kRegular, 16, "8080")));
  CHECK(widths.width(Face::kRegular, 32, "Memory") == Approx(2 * widths.width(Face::kRegular, 16, "Memory")));
  CHECK(widths.width(Face::kRegular, 16, "iii") < widths.width(Face::kRegular, 16, "WWW") / 2);
  CHECK(widths.width(Face::kMono, 10, "iiii") == Approx(24));  // JetBrains Mono: 600 of 1,000 units
  const auto missing = FontWidths::load("/nowhere");
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().message.find("Inter-Regular.otf") != std::string::npos);
}

TEST_CASE("the fonts contain each character of the course's texts") {
  constexpr float kUnknown = 0.6f;  // width of missing characters; no letter of Inter has it
  for (const auto& entry : std::filesystem::directory_iterator(tests::assets_folder() + "/text")) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      const std::string character = text.substr(at, end - at);
      INFO(entry.path().filename() << ": " << character << " at byte " << at);
      if (character != "\n")
        for (const Face face : {Face::kRegular, Face::kMedium, Face::kSemiBold, Face::kDisplay})
          CHECK(tests::widths().width(face, 1, character) != kUnknown);
      at = end;
    }
  }
}
