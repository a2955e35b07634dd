// Each quantity of a figure has one unit: on axes, in lists, labels, tips and text.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/record/run_recordings.h"
#include "lessons/shown_unit.h"
#include "tests/paint/support.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app::paint;

namespace {

// Byte units, except whole bytes, which are exact and go with any unit.
constexpr std::array<std::string_view, 4> kBytes{"KiB", "MiB", "GiB", "TiB"};
constexpr std::array<std::string_view, 4> kTimes{"ns", "µs", "ms", "s"};
constexpr std::array<std::string_view, 3> kRates{"MB/s", "GB/s", "TB/s"};

std::string_view quantity_of(std::string_view unit) {
  if (std::ranges::find(kBytes, unit) != kBytes.end()) return "bytes";
  if (std::ranges::find(kTimes, unit) != kTimes.end()) return "time";
  return std::ranges::find(kRates, unit) != kRates.end() ? "speed" : "";
}

using Units = std::map<std::string_view, std::map<std::string, std::string>>;  // by quantity: unit and text

void find_units(Units& found, const std::string& text) {
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9') continue;
    const std::size_t end = std::min(text.find_first_of(" ,.;:)", at + 1), text.size());
    const std::string unit = text.substr(at + 1, end - at - 1);
    if (const std::string_view quantity = quantity_of(unit); !quantity.empty()) found[quantity].emplace(unit, text);
  }
}

Units units_of(const Scene& scene) {
  Units found;
  tests::each<Text>(scene, [&](Layer, const Text& text) { find_units(found, text.text); });
  for (const HitArea& area : scene.hits) find_units(found, area.tip);
  find_units(found, scene.description);
  return found;
}

struct StoredRun {
  std::string name;
  record::Recording recording;
  record::Ledger ledger;

  explicit StoredRun(const std::filesystem::path& path)
      : name(path.stem().string()), recording(record::RunRecordings::read(path).value().joined()), ledger(recording) {}
};

std::vector<std::unique_ptr<StoredRun>> stored_runs() {
  std::set<std::filesystem::path> paths;
  for (const auto& file : std::filesystem::directory_iterator(tests::assets_folder() + "/recordings"))
    if (file.path().extension() == ".hrec") paths.insert(file);
  std::vector<std::unique_ptr<StoredRun>> runs;
  for (const auto& path : paths) runs.push_back(std::make_unique<StoredRun>(path));
  return runs;
}

// Every figure of every stored run, alone and next to the demo's previous run.
std::vector<tests::Sample> drawn_figures() {
  const auto runs = stored_runs();
  std::vector<const record::Ledger*> all;
  for (const auto& run : runs) all.push_back(&run->ledger);
  std::vector<tests::Sample> drawn;
  std::map<std::string, const StoredRun*> before;  // by demo
  for (const auto& run : runs) {
    const StoredRun* const other = std::exchange(before[run->recording.info().demo], run.get());
    for (const lessons::Figure* figure : lessons::figures())
      for (const StoredRun* a : {static_cast<const StoredRun*>(nullptr), other}) {
        lessons::FigureData data =
            figure->build({.run = &run->ledger, .baseline = a == nullptr ? nullptr : &a->ledger, .beside = all});
        if (data.head.empty_reason.empty())
          drawn.push_back({fmt::format("{} of {}{}", figure->id, run->name, a == nullptr ? "" : " beside " + a->name),
                           std::move(data)});
      }
  }
  return drawn;
}

bool has_kernels_in_step(const lessons::FigureData& figure) {
  return lessons::panel_of<lessons::Timeline>(figure) != nullptr &&
         lessons::panel_of<lessons::Lanes>(figure) != nullptr;
}

}  // namespace

TEST_CASE("a figure has one unit per quantity in all its text") {
  std::vector<tests::Sample> all = drawn_figures();
  all.insert(all.end(), tests::samples().begin(), tests::samples().end());
  std::set<std::string_view> seen;
  int kernels = 0;
  for (const tests::Sample& sample : all) {
    INFO(sample.name);
    // Kernels below a step's memory are on the step's axis but have separate units.
    const bool in_step = has_kernels_in_step(sample.figure);
    Units found;
    if (in_step) {
      for (const lessons::Lane& lane : lessons::panel_of<lessons::Lanes>(sample.figure)->lanes)
        for (const lessons::TimeBox& box : lane.boxes) find_units(found, box.tip);
      kernels += found.contains("time") && found["time"].contains("µs");
    } else {
      found = units_of(layout(sample.figure, tests::frames()[0]));
    }
    for (const auto& [quantity, units] : found) {
      seen.insert(quantity);
      std::string words;
      for (const auto& [unit, text] : units) words += fmt::format("\n{} {}: {}", quantity, unit, text);
      INFO(words);
      CHECK(units.size() == 1);
    }
  }
  CHECK(seen.size() == 3);
  CHECK(kernels > 0);
}

TEST_CASE("numbers in a shared unit keep their significant digits") {
  using lessons::bytes_text;
  const lessons::ShownUnit gib = lessons::byte_unit(30.0 * record::kGiB);
  CHECK(bytes_text(208 * record::kMiB, gib) == "0.20 GiB");
  CHECK(lessons::change_text(-208 * record::kMiB, gib) == "−0.20 GiB");
  CHECK(lessons::change_text(3 * record::kGiB, gib) == "+3.00 GiB");
  CHECK(bytes_text(1536, gib) == "1,536 B");
  CHECK(bytes_text(40 * record::kMiB, gib, 1) == "0.04 GiB");
  CHECK(bytes_text(0, gib) == "0 B");
  CHECK(lessons::short_bytes(24 * record::kGiB, gib) == "24 GiB");
  CHECK(lessons::short_bytes(1536 * record::kMiB, lessons::byte_unit(700.0 * record::kMiB)) == "1,536 MiB");
  const lessons::ShownUnit microseconds = lessons::time_unit(12e3);
  CHECK(lessons::amount_text(850, microseconds) == "0.850 µs");
  CHECK(lessons::amount_text(12'340, microseconds) == "12.3 µs");
  CHECK(lessons::amount_text(-4.27e12, lessons::rate_unit(0)) == "−4,270 GB/s");
}
