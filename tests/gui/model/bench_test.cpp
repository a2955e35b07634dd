// The bench: one set of settings, one card, and the sets of switches that make the settings fit.
#include <memory>
#include <string>

#include "app/page/page_facts.h"
#include "app/page/settings/my_settings.h"
#include "app/page/words/page_words.h"
#include "lessons/card_limit.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

// Uses the closed form, which answers at once.
std::unique_ptr<PageModel> open_without_engine(const char* id,
                                               std::shared_ptr<const record::Recording> stored = nullptr) {
  PageSources sources{.why_no_engine = "A test has no engine."};
  if (stored != nullptr) sources.stored.push_back(std::move(stored));
  auto model = std::make_unique<PageModel>(tests::page(id), demo(), std::move(sources));
  if (model->question().hides()) model->question().skip();
  return model;
}

void settle_all(PageModel& model) {
  for (int i = 0; i < 4; ++i) {
    model.figure(400);
    model.verdict().make_fit().look();
    model.poll(0, false);
  }
}

}  // namespace

TEST_CASE("the bench predicts for 24 GiB until a card is chosen, without a question or a run", "[window][page]") {
  const auto bench = open_without_engine("bench");
  settle_all(*bench);
  CHECK(bench->question().state() == Question::State::kNone);
  CHECK(bench->runs().empty());
  CHECK(changes_of(*bench).empty());
  REQUIRE(plan_of(*bench) != nullptr);
  CHECK(plan_of(*bench)->cards.front().card.memory == 24 * record::kGiB);
  bench->choose_card(lessons::card_named("A100 80 GB SXM"));
  settle_all(*bench);
  CHECK(plan_of(*bench)->cards.front().card.name == "A100 80 GB SXM");
  bench->choose_card(&predict::card_of_size(20 * record::kGiB));
  settle_all(*bench);
  CHECK(plan_of(*bench)->cards.front().card.memory == 20 * record::kGiB);
}

TEST_CASE("what the reader changed on the bench is kept, its device and limit included", "[window][page]") {
  const auto bench = open_without_engine("bench");
  for (const auto& [key, value] : {std::pair{"batch", "8"}, {"cap", "8GiB"}, {"device", "cpu"}, {"loss", "flce"}})
    REQUIRE(bench->set_param(key, value).ok());
  const auto changes = changes_of(*bench);
  CHECK(changes.size() == 4);
  const auto again = open_without_engine("bench");
  CHECK(again->recall("", changes).empty());
  CHECK(again->settings() == bench->settings());
}

TEST_CASE("a page takes the bench's settings and gives its own back", "[window][page]") {
  const auto bench = open_without_engine("bench"), other = open_without_engine("where_memory_goes", small_run());
  MySettings mine;
  mine.open(*bench);
  REQUIRE(bench->set_param("batch", "7").ok());
  REQUIRE(bench->set_param("loss", "flce").ok());
  mine.follow(*bench);
  const record::Params own = other->settings();
  mine.open(*other);
  CHECK(other->settings() == own);
  REQUIRE(mine.offered(*other));
  mine.give(*other);
  CHECK_FALSE(mine.offered(*other));
  CHECK(mine.taken_by(*other));
  CHECK(other->settings().as_text("batch") == "7");
  CHECK(other->settings().as_text("loss") == "flce");
  CHECK(other->settings().as_text("steps") == own.as_text("steps"));
  REQUIRE(other->run_a().pinned() != nullptr);
  // Changes there are changes of the set.
  REQUIRE(other->set_param("batch", "9").ok());
  mine.follow(*other);
  mine.open(*bench);
  CHECK(bench->settings().as_text("batch") == "9");
  mine.give_back(*other);
  CHECK(other->settings() == own);
  CHECK(other->run_a().pinned() == nullptr);
  CHECK_FALSE(mine.taken_by(*other));
}

TEST_CASE("a page with an open question is not offered the reader's settings", "[window][page]") {
  const auto bench = open_without_engine("bench");
  PageModel asks(page(), demo(), {.why_no_engine = "A test has no engine.", .stored = {small_run()}});
  MySettings mine;
  mine.follow(*bench);
  REQUIRE(asks.question().hides());
  CHECK_FALSE(mine.offered(asks));
  asks.question().skip();
  CHECK(mine.offered(asks));
}

TEST_CASE("the chosen card is every page's, except where a limit replaces it", "[window][page]") {
  const auto bench = open_without_engine("bench"), fits = open_without_engine("will_it_fit", small_run()),
             limited = open_without_engine("will_it_fit", small_run());
  MySettings mine;
  mine.open(*bench);
  mine.follow(*bench);
  mine.open(*fits);
  CHECK(chosen_card(*fits)->name == "GeForce RTX 4090");  // the page's
  mine.open(*bench);
  mine.follow(*bench);
  bench->choose_card(lessons::card_named("H200"));
  mine.follow(*bench);
  mine.open(*fits);
  CHECK(chosen_card(*fits)->name == "H200 SXM");
  REQUIRE(limited->set_param("cap", "8GiB").ok());
  mine.open(*limited);
  CHECK(limit_set(*limited) == 8 * record::kGiB);
}

TEST_CASE("Make it fit finds the advisor's sets, and takes one as one step to undo", "[window][page]") {
  const auto bench = open_without_engine("bench");
  REQUIRE(bench->set_param("batch", "32").ok());
  const record::Params before = bench->settings();
  settle_all(*bench);
  const app::Advice* const advice = bench->verdict().make_fit().advice();
  REQUIRE(advice != nullptr);
  REQUIRE(advice->sets.size() > 1);
  app::StepPlanner planner(nullptr, "A test has no engine.");
  const auto expected = app::Advisor(before, *card_of(*bench), {}).advise(planner);
  REQUIRE(expected);
  REQUIRE(advice->sets.size() == expected->sets.size());
  for (std::size_t i = 0; i < advice->sets.size(); ++i) {
    CHECK(labels_of(advice->sets[i]) == labels_of(expected->sets[i]));
    CHECK(advice->sets[i].fit.reserved == expected->sets[i].fit.reserved);
  }
  bench->adopt(with_set(*bench, advice->sets.front()));
  settle_all(*bench);
  CHECK(plan_of(*bench)->cards.front().fit.verdict == predict::Verdict::kFits);
  CHECK(bench->verdict().make_fit().advice()->sets.empty());  // for the settings on show
  CHECK(bench->undo());
  CHECK(bench->settings() == before);
  app::GivenUp may;
  may.speed = false;
  bench->verdict().make_fit().set_may(may);
  settle_all(*bench);
  for (const app::AdvisedSet& set : bench->verdict().make_fit().advice()->sets)
    for (const auto& each : set.switches) CHECK_FALSE(each.what->cost.speed);
}

TEST_CASE("the bench writes the command of what is on show", "[window][page]") {
  const auto bench = open_without_engine("bench");
  bench->choose_card(lessons::card_named("RTX 4090"));
  REQUIRE(bench->set_param("loss", "flce").ok());
  CHECK(plan_command(*bench) ==
        "headroom plan --model llama-3.2-1b --batch 4 --seq 1024 --set precision=bf16 --set loss=flce "
        "--card \"GeForce RTX 4090\"");
  REQUIRE(bench->set_param("cap", "8GiB").ok());
  CHECK(plan_command(*bench).starts_with("headroom run train_step --set model=llama-3.2-1b"));
}

TEST_CASE("an opened run brings its settings to the bench, with a prediction beside it", "[window][page]") {
  const auto bench = open_without_engine("bench");
  const auto run = small_run();
  record::RunInfo info = run->info();
  info.params["batch"] = "8";
  run->set_info(info);
  bench->open_run(run);
  settle_all(*bench);
  CHECK(bench->settings().as_text("batch") == "8");
  CHECK(shows_evidence(*bench));
  CHECK_FALSE(bench->shows_prediction());
  CHECK(bench->layer(Layer::kFormula).offered);
}
