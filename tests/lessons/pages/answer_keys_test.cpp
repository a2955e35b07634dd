// Every question has a source, from which its answer is computed again.
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "tests/lessons/pages/answer_keys.h"
#include "tests/support/page_numbers.h"

using namespace headroom;
using tests::AnswerKey;

namespace {

// Tested elsewhere, because the planner needs an engine.
constexpr std::array kKeysOfPlanner{
    AnswerKey{"holes", nullptr, "tests/lessons/figures/borders_test.cpp"},
    AnswerKey{"report", nullptr, "tests/lessons/figures/borders_test.cpp"},
    AnswerKey{"will_it_fit", nullptr, "tests/cli/plan_test.cpp"},
};

void computes(std::span<const AnswerKey> keys) {
  for (const AnswerKey& key : keys)
    if (key.compute != nullptr) DYNAMIC_SECTION(key.page) {
        key.compute(key.page);
      }
}

}  // namespace

TEST_CASE("every question's answer has a source: the planner, a recording or a formula") {
  std::set<std::string_view> named;
  for (const auto& keys :
       {std::span<const AnswerKey>(kKeysOfPlanner), tests::keys_of_recordings(), tests::keys_of_formulas()})
    for (const AnswerKey& key : keys) {
      INFO(key.page);
      CHECK(named.insert(key.page).second);
      CHECK((key.compute == nullptr) != key.held_in.empty());
      if (!key.held_in.empty())
        CHECK(tests::plain_text(std::string(key.held_in)).find("\"" + std::string(key.page) + "\"") !=
              std::string::npos);
    }
  for (const lessons::Page* page : tests::course().pages()) {
    INFO(page->id);
    CHECK(named.contains(page->id) == page->question.has_value());
  }
}

TEST_CASE("answers of formulas are what the formulas give") { computes(tests::keys_of_formulas()); }

TEST_CASE("answers of recordings are what the recordings give") { computes(tests::keys_of_recordings()); }
