// The second question and the scopes of a page, without drawing.
#include <algorithm>

#include "app/page/page_model.h"
#include "app/page/question.h"
#include "lessons/pages/blocks/text.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::app::page;

namespace {

const lessons::Page& asking_page() { return tests::page("static_bytes"); }

}  // namespace

TEST_CASE("the second question takes a number, keeps the first one, and asks anew", "[window]") {
  SecondQuestion question(asking_page());
  REQUIRE(question.exists());
  const std::string first = question.ask();
  CHECK(first.find('{') == std::string::npos);
  CHECK(question.unit().name == "GiB");
  question.again();
  CHECK(question.attempt() == 0);
  CHECK_FALSE(question.answer("much"));
  CHECK_FALSE(question.said());
  const double key = question.key();
  REQUIRE(question.answer(std::to_string(1.04 * key / record::kGiB)));  // the page allows 5 %
  CHECK(question.right());
  REQUIRE(question.answer("1"));
  CHECK(question.right());
  CHECK(question.because().markdown.find("**Because**") != std::string::npos);

  const std::string words = question.remembered();
  question.again();
  CHECK(question.attempt() == 1);
  CHECK(question.ask() != first);
  REQUIRE(question.answer(std::to_string(static_cast<long long>(0.9 * question.key())) + " B"));
  CHECK_FALSE(question.right());

  SecondQuestion later(asking_page());
  REQUIRE(later.recall(words));
  CHECK(later.right());
  CHECK(later.ask() == first);
  CHECK(later.remembered() == words);
  CHECK(later.recall("2"));
  CHECK(later.attempt() == 1);
  CHECK_FALSE(later.said());
  for (const char* wrong : {"", "0", "x", "1 says 4", "1 said"})
    CHECK_FALSE(SecondQuestion(asking_page()).recall(wrong));
  SecondQuestion none(tests::page("holes"));
  CHECK_FALSE(none.exists());
  CHECK_FALSE(none.recall("1"));
  CHECK(none.remembered().empty());
}

TEST_CASE("words about other settings than the reader's say so", "[window]") {
  PageModel model(asking_page(), *lessons::demo_or_schema(asking_page()), {});
  model.question().skip();
  const auto about = [&] {
    (void)model.figure(400);
    std::string all;
    for (const PageParts& step : model.text().more)
      for (const PagePart& part : step) all += part.about;
    return all;
  };
  CHECK(about().empty());  // the page begins with its model
  REQUIRE(model.set_param("model", "llama-3-8b"));
  CHECK(about() == "Llama 3.2 1B");
  REQUIRE(model.set_param("model", "llama-3.2-1b"));
  CHECK(about().empty());
}

TEST_CASE("words of one scope flow, and a scope names what says nothing alone", "[window]") {
  lessons::Page page = asking_page();
  const auto text = [](const char* words, std::vector<lessons::Setting> scope = {}) {
    return lessons::Block{&lessons::kTextBlock, std::any(lessons::TextBlock{words}), std::move(scope)};
  };
  page.front = {text("a"), text("b"), text("c", {{"batch", "8"}, {"checkpointing", "off"}}), text("d")};
  const record::Params settings = lessons::settings_of(page);
  const PageText shown = text_of(page, {.settings = &settings});
  REQUIRE(shown.body.size() == 3);
  CHECK(shown.body[0].words.markdown == "a\n\nb");
  CHECK(shown.body[0].about.empty());
  CHECK(shown.body[1].about == "8 sequences, checkpointing off");
  CHECK(shown.body[2].words.markdown == "d");
}
