// Choice and order questions without drawing, with replies to wrong answers.
#include "app/page/question.h"
#include "tests/support/catch.h"

using namespace headroom;
using headroom::app::page::Question;

namespace {

lessons::QuestionSpec choice() {
  lessons::QuestionSpec spec;
  spec.kind = lessons::ChoiceQuestion{{{"Yes", false, "only_weights", "Those are the weights."},
                                       {"No", true, {}, {}},
                                       {"Maybe", false, "luck", "No luck."}}};
  return spec;
}

}  // namespace

TEST_CASE("a choice is answered when locked, and a wrong one has its own reply", "[window][question]") {
  const lessons::QuestionSpec spec = choice();
  Question question(&spec);
  CHECK(question.hides());
  question.lock();
  CHECK(question.hides());  // nothing is chosen
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
  CHECK(*question.chosen() == 0);  // locked

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
