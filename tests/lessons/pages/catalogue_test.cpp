// References by id among chapters, pages and figures resolve.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "demos/experiments/demo.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
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
  std::set<std::string_view> page_ids;
  for (const lessons::Page* page : tests::course().pages()) {
    CHECK(page_ids.insert(page->id).second);
    CHECK(tests::course().find_page(page->id) == page);
  }
  CHECK(ids.count("memory_timeline") == 1);
  CHECK(page_ids.count("where_memory_goes") == 1);
  CHECK(lessons::find_figure("no such figure") == nullptr);
  CHECK(tests::course().find_page("") == nullptr);
}

TEST_CASE("every page can be shown, and has a recording that is shipped if a figure draws one") {
  for (const lessons::Problem& problem : tests::course().problems()) FAIL_CHECK(problem.text());
  CHECK(tests::course().pages().size() >= 15);
  for (const lessons::Page* page : tests::course().pages()) {
    INFO(page->id);
    // One recording is enough; a copy of the program may lack others, such as a GPU's.
    const bool computed = std::ranges::all_of(page->figures, [](const std::string& id) {
      const lessons::Basis basis = lessons::find_figure(id)->basis;
      return basis == lessons::Basis::kSettings || basis == lessons::Basis::kFormula;
    });
    CHECK((page->demo.empty() || computed ||
           std::any_of(page->recordings.begin(), page->recordings.end(),
                       [](const std::string& name) { return std::filesystem::exists(recording_file(name)); })));
    if (lessons::number_of(tests::question_of(*page)) != nullptr)
      CHECK(std::find(page->figures.begin(), page->figures.end(), page->question->figure) != page->figures.end());
    for (const std::string& name : page->beside) CHECK(std::filesystem::exists(recording_file(name)));
  }
}

TEST_CASE("every recording that is shipped is on a page") {
  std::set<std::string, std::less<>> named;
  for (const lessons::Page* page : tests::course().pages()) {
    named.insert(page->recordings.begin(), page->recordings.end());
    named.insert(page->beside.begin(), page->beside.end());
  }
  for (const auto& file : std::filesystem::directory_iterator(recording_file("").parent_path())) {
    INFO(file.path());
    if (file.path().extension() == ".hrec") CHECK(named.contains(file.path().stem().string()));
  }
}

TEST_CASE("the question's answer is the peak of the last whole step") {
  const auto answer = tests::answer_of("where_memory_goes").of;
  const record::Recording whole = tests::made_recording();
  const record::Ledger ledger(whole);
  const auto steps = record::steps_of(whole);
  REQUIRE(steps.size() == 3);
  const auto peak = ledger.peak(steps[2].first, steps[2].last).totals.allocated;
  CHECK(answer(ledger) == static_cast<double>(peak));
  // Step 0 creates the optimizer states, so its lower peak would reveal a wrong step.
  CHECK(answer(ledger) > static_cast<double>(ledger.peak(steps[0].first, steps[0].last).totals.allocated));

  const record::Recording cut = tests::made_recording({.steps = 1, .finished = false});
  CHECK(answer(record::Ledger(cut)) < 0);
}
