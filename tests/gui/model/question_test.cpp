// Questions without drawing: numbers with their range, units and distance; choices and orders with their replies.
#include <algorithm>
#include <string>
#include <vector>

#include "app/page/question.h"
#include "tests/gui/support/reader.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

lessons::QuestionSpec choice() {
  lessons::QuestionSpec spec;
  spec.kind = lessons::ChoiceQuestion{{{"Yes", false, "only_weights", "Those are the weights."},
                                       {"No", true, {}, {}},
                                       {"Maybe", false, "luck", "No luck."}}};
  return spec;
}

}  // namespace

TEST_CASE("a guess stays in its range, and is compared once locked", "[window][question]") {
  Question question(&*page().question);
  CHECK(question.hides());
  CHECK_FALSE(question.can_lock());
  CHECK(question.why_not_lock() == "Drag the marker or type a number first.");
  question.lock();
  CHECK(question.state() == Question::State::kOpen);
  question.set_guess(-5);
  CHECK(question.can_lock());
  CHECK(*question.guess() == 0);
  REQUIRE(question.set_guess_text(" 150,5 ", "MiB", kMiB));
  CHECK(*question.guess() == Approx(150.5 * kMiB));
  REQUIRE(question.set_guess_text("2 GiB", "MiB", kMiB));
  CHECK(*question.guess() == Approx(2048 * kMiB));
  REQUIRE(question.set_guess_text("1,024", "MiB", kMiB));  // the page's thousands separator
  CHECK(*question.guess() == Approx(1024 * kMiB));
  REQUIRE(question.set_guess_text("2.0 GiB", "MiB", kMiB));
  CHECK_FALSE(question.set_guess_text("much", "MiB", kMiB));
  CHECK(*question.guess() == Approx(2048 * kMiB));

  question.set_guess(110 * kMiB);
  question.lock();
  CHECK(question.locked());
  question.set_guess(1);
  CHECK(*question.guess() == Approx(110 * kMiB));
  const auto run = small_run();
  record::Ledger ledger(*run);
  ledger.update();
  REQUIRE(question.compare(ledger));
  REQUIRE(question.reveal());
  CHECK(question.reveal()->is == Approx(static_cast<double>(tests::peak_of({}))));
  CHECK(question.reveal()->factor == Approx(2.0));  // 220 MiB against 110 MiB
}

TEST_CASE("the error of a guess is in percent below a factor of 1.25", "[window][question]") {
  const auto words = [](double said, double is) {
    const Question::Distance distance =
        distance_of({.said = said, .is = is, .factor = std::max(said, is) / std::min(said, is)});
    return std::string(distance.head) + " " + distance.value + std::string(distance.unit);
  };
  CHECK(words(105, 100) == "that is 5% too high");
  CHECK(words(97, 100) == "that is 3% too low");
  CHECK(words(100.9, 100) == "exact to 1%");
  CHECK(words(100, 100) == "exact to 1%");
  CHECK(words(124, 100) == "that is 24% too high");
  CHECK(words(100, 124) == "that is 19% too low");
  CHECK(words(125, 100) == "off by 1.2×");
  CHECK(words(100, 126) == "off by 1.3×");
  CHECK(words(1, 1000) == "off by > 99×");
}

TEST_CASE("a question about percent or speed refuses bytes", "[window][question]") {
  Question percent(&*tests::page("eight_bits").question);
  REQUIRE(percent.set_guess_text("31,5 %", "%", 1));
  CHECK(*percent.guess() == Approx(31.5));
  REQUIRE(percent.set_guess_text("4000", "%", 1));
  CHECK(*percent.guess() == 1000);  // limited to the marker's range
  const auto bytes = percent.set_guess_text("5 GiB", "%", 1);
  REQUIRE_FALSE(bytes);
  CHECK(bytes.error().message == "\"5 GiB\" is not a number of %.");
  Question speed(&*tests::page("bandwidth_of_this_machine").question);
  REQUIRE(speed.set_guess_text("52 GB/s", "GB/s", 1e9));
  CHECK(*speed.guess() == Approx(52e9));
}

TEST_CASE("a choice is answered when locked, and a wrong one has its own reply", "[window][question]") {
  const lessons::QuestionSpec spec = choice();
  Question question(&spec);
  CHECK(question.hides());
  question.lock();
  CHECK(question.hides());
  question.choose(7);
  CHECK_FALSE(question.chosen());
  question.choose(1);
  question.choose(0);
  CHECK(question.reply().empty());
  question.lock();
  CHECK(question.state() == Question::State::kAnswered);
  CHECK_FALSE(question.right());
  CHECK(question.reply() == "Those are the weights.");
  question.choose(1);
  CHECK(*question.chosen() == 0);

  Question again(&spec);
  again.choose(1);
  again.lock();
  CHECK(again.right());
  CHECK(again.reply().empty());
  Question skipped(&spec);
  skipped.skip();
  CHECK_FALSE(skipped.right());
  CHECK_FALSE(skipped.hides());
}

TEST_CASE("an order starts alphabetically, never in the right order", "[window][question]") {
  lessons::QuestionSpec spec;
  spec.kind = lessons::OrderQuestion{{"MLP", "Norms", "Attention"}, "attention", "The MLP is larger."};
  Question question(&spec);
  CHECK(question.order() == std::vector<std::size_t>{2, 0, 1});
  Question wrong(&spec);
  wrong.lock();
  CHECK(wrong.reply() == "The MLP is larger.");
  question.move(0, 2);
  CHECK(question.order() == std::vector<std::size_t>{0, 1, 2});
  question.move(5, 0);
  question.lock();
  CHECK(question.right());
  question.move(0, 1);
  CHECK(question.order() == std::vector<std::size_t>{0, 1, 2});

  spec.kind = lessons::OrderQuestion{{"a", "b", "c"}, "m", "r"};
  CHECK(Question(&spec).order() == std::vector<std::size_t>{2, 1, 0});
}
