// Checks, against the shipped recordings, the pairs of runs that pages compare.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/base_run.h"
#include "lessons/figure.h"
#include "lessons/pages/blocks/figure.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

constexpr std::int64_t kFewestStepsOfLosses = 200;

const record::Recording& kept_stored(const std::string& name) {
  static std::map<std::string, record::Recording> read;
  const auto found = read.find(name);
  if (found != read.end()) return found->second;
  auto recording = record::Recording::read(fmt::format("{}/assets/recordings/{}.hrec", HEADROOM_SOURCE_DIR, name));
  if (!recording) FAIL(recording.error().message);
  return read.emplace(name, std::move(recording.value())).first->second;
}

// True for categories that are names, or numbers in equal steps.
bool is_even(const std::vector<std::string>& categories) {
  std::vector<double> numbers;
  for (std::string each : categories) {
    std::erase(each, ',');
    if (each.empty() || each.find_first_not_of("0123456789") != std::string::npos) return true;
    numbers.push_back(std::stod(each));
  }
  for (std::size_t i = 2; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != numbers[1] - numbers[0]) return false;
  return true;
}

const record::Recording* base_of(const Page& page, const std::string& name) {
  if (std::ranges::find(page.bases, name) != page.bases.end()) return nullptr;
  std::vector<const record::RunInfo*> infos;
  for (const std::string& base : page.bases) infos.push_back(&kept_stored(base).info());
  const auto nearest = nearest_base(kept_stored(name).info(), infos);
  return nearest ? &kept_stored(page.bases[*nearest]) : nullptr;
}

}  // namespace

TEST_CASE("the runs that a page compares differ in one switch", "[pages]") {
  int pairs = 0;
  for (const Page* page : tests::course().pages())
    for (const std::string& name : page->recordings) {
      const record::Recording* base = base_of(*page, name);
      if (base == nullptr) continue;
      ++pairs;
      const std::set<std::string> differ = switches_between(base->info(), kept_stored(name).info());
      INFO(fmt::format("{}: {} against its base: {}", page->id, name, fmt::join(differ, ", ")));
      CHECK(differ.size() == 1);
    }
  CHECK(pairs > 15);
}

TEST_CASE("the because names the kind of memory that changed most", "[pages]") {
  int pairs = 0;
  for (const Page* page : tests::course().pages()) {
    const NumberQuestion* asked = number_of(tests::question_of(*page));
    if (asked == nullptr || asked->answer != find_answer("peak_of_step") || page->shows.empty()) continue;
    const record::Recording* base = base_of(*page, page->shows);
    if (base == nullptr) continue;
    ++pairs;
    const auto at_peak = [](const record::Recording& run) {
      const record::Ledger ledger(run);
      const auto last = record::steps_of(run).back();
      return ledger.peak(last.first, last.last).totals.by_category;
    };
    const auto before = at_peak(*base), after = at_peak(kept_stored(page->shows));
    std::size_t most = 0;
    const auto change = [&](std::size_t i) { return std::abs(after[i] - before[i]); };
    for (std::size_t i = 0; i < before.size(); ++i)
      if (change(i) > change(most)) most = i;
    const auto kind = static_cast<record::Category>(most);
    INFO(fmt::format("{}: {} changed by {}", page->id, record::key_of(kind), after[most] - before[most]));
    std::string because = page->question->because;
    std::ranges::transform(because, because.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string word(record::key_of(kind));
    std::ranges::replace(word, '_', ' ');
    if (word.ends_with('s')) word.pop_back();
    CHECK(because.find(word) != std::string::npos);
  }
  CHECK(pairs > 3);
}

TEST_CASE("what a page says of losses has many steps behind it", "[pages]") {
  int pages = 0;
  for (const Page* page : tests::course().pages()) {
    bool shown = false;
    for (const TourStep& step : page->more)
      for (const Block& block : step.blocks)
        if (const auto* figure = block.as<FigureBlock>()) shown = shown || figure->figure == "loss_curves";
    if (!shown) continue;
    ++pages;
    for (const std::string& name : page->recordings) {
      INFO(page->id << ": " << name);
      const record::Recording run = kept_stored(name);  // memory may cover only the first steps
      CHECK(std::ranges::count(run.metrics(), record::MetricKind::kLoss, &record::MetricSample::kind) >=
            kFewestStepsOfLosses);
    }
  }
  CHECK(pages > 0);
}

TEST_CASE("bytes over a number are drawn on a linear axis", "[pages]") {
  int charts = 0;
  for (const Page* page : tests::course().pages())
    for (const std::string& name : page->recordings) {
      const record::Ledger ledger(kept_stored(name));
      for (const std::string& id : page->figures) {
        INFO(page->id << ": " << id << " of " << name);
        const FigureData figure = find_figure(id)->build({.run = &ledger});
        for (const Panel& panel : figure.panels) {
          const auto* chart = std::get_if<Chart>(&panel);
          if (chart == nullptr || chart->bars || chart->y.unit != AxisUnit::kBytes) continue;
          ++charts;
          // Chunk sizes are powers of two, and the peak against them is flat until the chunk's logits dominate.
          CHECK((id == "chunk_curve" || !chart->x.logarithmic));
          INFO(fmt::format("{}: {}", chart->title, fmt::join(chart->categories, " ")));
          CHECK(is_even(chart->categories));
        }
      }
    }
  CHECK(charts > 5);
}
