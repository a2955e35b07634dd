// Chapters, pages and figures refer to each other by id: every reference must lead somewhere.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "lessons/chapter.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom;

namespace {

std::filesystem::path recording_file(std::string_view name) {
  return std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets/recordings" / (std::string(name) + ".hrec");
}

}  // namespace

TEST_CASE("ids are unique and lead to their record") {
  std::set<std::string_view> ids;
  for (const lessons::Figure* figure : lessons::figures()) {
    CHECK(ids.insert(figure->id).second);
    CHECK(lessons::find_figure(figure->id) == figure);
    CHECK_FALSE(figure->title.empty());
    CHECK_FALSE(figure->caption.empty());
  }
  for (const lessons::Chapter* chapter : lessons::chapters()) {
    for (const lessons::Page* page : chapter->pages) {
      CHECK(ids.insert(page->id).second);
      CHECK(lessons::find_page(page->id) == page);
    }
  }
  CHECK(ids.count("memory_timeline") == 1);
  CHECK(ids.count("where_memory_goes") == 1);
  CHECK(lessons::find_figure("no such figure") == nullptr);
  CHECK(lessons::find_page("") == nullptr);
}

TEST_CASE("a page's text, demo, figures and question exist") {
  for (const lessons::Chapter* chapter : lessons::chapters()) {
    for (const lessons::Page* page : chapter->pages) {
      INFO(page->id);
      CHECK(std::filesystem::exists(std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets/text" / page->text));
      CHECK(experiments::find_demo(page->demo) != nullptr);
      CHECK_FALSE(page->figures.empty());
      for (const std::string_view id : page->figures) CHECK(lessons::find_figure(id) != nullptr);
      CHECK_FALSE(page->recordings.empty());
      // One shows at once; of the others a copy of the program may lack some, such as those of a GPU.
      CHECK(std::any_of(page->recordings.begin(), page->recordings.end(),
                        [](std::string_view name) { return std::filesystem::exists(recording_file(name)); }));
      for (const std::string_view base : page->bases)
        CHECK(std::find(page->recordings.begin(), page->recordings.end(), base) != page->recordings.end());
      const experiments::DemoInfo& demo = *experiments::find_demo(page->demo);
      record::Params params(demo.schema);
      for (const lessons::Setting& setting : page->settings) {
        INFO(setting.key);
        CHECK(params.set(setting.key, setting.value).ok());
      }
      CHECK_FALSE(experiments::refused_combination(params).has_value());
      for (const std::string_view key : page->switches) {
        INFO(key);
        CHECK(params.has(key));
      }
      if (page->prediction == nullptr) continue;
      CHECK(page->prediction->figure == page->figures.front());
      CHECK(page->prediction->low < page->prediction->high);
    }
  }
}

TEST_CASE("every recording that is shipped is on a page") {
  std::set<std::string, std::less<>> named;
  for (const lessons::Chapter* chapter : lessons::chapters())
    for (const lessons::Page* page : chapter->pages) named.insert(page->recordings.begin(), page->recordings.end());
  for (const auto& file : std::filesystem::directory_iterator(recording_file("").parent_path())) {
    INFO(file.path());
    if (file.path().extension() == ".hrec") CHECK(named.contains(file.path().stem().string()));
  }
}

TEST_CASE("the question's answer is the peak of the last whole step") {
  const auto answer = lessons::find_page("where_memory_goes")->prediction->answer;
  const record::Recording whole = tests::made_recording();
  const record::Ledger ledger(whole);
  const auto steps = record::steps_of(whole);
  REQUIRE(steps.size() == 3);
  const auto peak = ledger.peak(steps[2].first, steps[2].last).totals.allocated;
  CHECK(answer(ledger) == static_cast<double>(peak));
  // Optimizer states come in step 0: its peak is lower, so a wrong step would show.
  CHECK(answer(ledger) > static_cast<double>(ledger.peak(steps[0].first, steps[0].last).totals.allocated));

  const record::Recording cut = tests::made_recording({.steps = 1, .finished = false});
  CHECK(answer(record::Ledger(cut)) < 0);
}
