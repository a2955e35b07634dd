// No screen may reveal the answer of an open question: every page, at the desk and on stage, with initial and other
// settings. The real engine provides all that must be hidden.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/page/page_facts.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/harness.h"
#include "tests/gui/support/screen_text.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;

namespace {

constexpr std::size_t kFewestDigits = 3;  // shorter numbers may coincide by chance

// True if the digits print that value in any unit.
bool prints(const std::string& digits, double value) {
  const std::size_t point = digits.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : digits.size() - point - 1;
  if (digits.size() - (decimals > 0 ? 1 : 0) < kFewestDigits) return false;
  for (const double unit : {1.0, 1024.0, std::pow(1024.0, 2), std::pow(1024.0, 3), 1e-2, 1e3, 1e6, 1e9})
    if (fmt::format("{:.{}f}", value / unit, decimals) == digits) return true;
  return false;
}

// No-break spaces join numbers to units; the screen draws plain spaces.
std::string with_plain_spaces(std::string words) {
  constexpr std::string_view kJoined = "\u00A0";
  for (std::size_t at = words.find(kJoined); at != std::string::npos; at = words.find(kJoined, at))
    words.replace(at, kJoined.size(), " ");
  return words;
}

// Numbers of the right choice that appear outside the question.
std::vector<std::string> leaked(const app::page::Question& question, const std::vector<std::string>& pieces) {
  std::string right, words = question.spec()->ask;
  for (const lessons::AnswerChoice& choice : question.choices()->choices) {
    words += " " + choice.words;
    if (choice.right) right = choice.words;
  }
  words = with_plain_spaces(std::move(words));
  std::vector<std::string> beside;
  for (const std::string& piece : pieces)
    if (words.find(with_plain_spaces(piece)) == std::string::npos) beside.push_back(piece);
  const std::vector<std::string> on_screen = numbers_in(beside);
  std::vector<std::string> found;
  for (const std::string& number : numbers_in({right}))
    if (number.size() >= kFewestDigits && std::ranges::count(on_screen, number) > 0) found.push_back(number);
  return found;
}

std::vector<std::string> leaked(const std::vector<double>& answers, const std::vector<std::string>& on_screen) {
  std::vector<std::string> found;
  for (const std::string& digits : on_screen)
    if (std::ranges::any_of(answers, [&](double answer) { return prints(digits, answer); })) found.push_back(digits);
  return found;
}

// The answers from the current run and from the prediction computed meanwhile.
std::vector<double> answers_of(const app::page::PageModel& page) {
  std::vector<double> answers;
  for (const app::page::RunOnShow* run : {page.on_show(), page.forecast().predicted(page.settings())})
    if (run != nullptr && run->ledger != nullptr) answers.push_back(page.question().number()->answer->of(*run->ledger));
  return answers;
}

void check_covered(const Actor& actor, const std::string& screen) {
  const app::page::Question& question = actor.question();
  IM_CHECK(question.hides());
  std::vector<std::string> pieces = actor.texts();
  std::erase_if(pieces, [](const std::string& piece) { return piece.ends_with("free"); });  // this machine's memory
  IM_CHECK(!pieces.empty());
  const std::vector<std::string> found =
      question.number() != nullptr ? leaked(answers_of(actor.page()), numbers_in(pieces)) : leaked(question, pieces);
  for (const std::string& digits : found)
    for (const std::string& piece : pieces)
      if (!numbers_in({piece}).empty() && std::ranges::count(numbers_in({piece}), digits) > 0)
        actor.ctx->LogError("%s, %s: \"%s\" gives the answer", actor.page().page().id.c_str(), screen.c_str(),
                            piece.c_str());
  IM_CHECK(found.empty());
}

// While a question is open, only the shown prediction is requested.
void wait_for_prediction(const Actor& actor) {
  actor.wait_until([&] {
    return !actor.page().shows_prediction() || actor.page().forecast().predicted(actor.page().settings()) != nullptr;
  });
  actor.frames(3);
}

bool change_batch(const Actor& actor) {
  app::page::PageModel& page = actor.page();
  if (!settings_drive(page) || !page.settings().has("batch")) return false;
  const std::int64_t batch = page.settings().integer("batch");
  return page.set_param("batch", std::to_string(batch + 1)).ok();
}

bool is_asked_of_a_number(const lessons::Page& page) {
  return page.question && lessons::number_of(&*page.question) != nullptr;
}

bool is_choice(const lessons::Page& page) {
  return page.question && app::page::Question(&*page.question).choices() != nullptr;
}

}  // namespace

TEST_CASE("the screen never shows the answer's digits before the answer", "[gui][live]") {
  CHECK(prints("181.3", 181.27 * static_cast<double>(record::kMiB)));
  CHECK(!prints("181.4", 181.27 * static_cast<double>(record::kMiB)));
  int asked = 0;
  for (const bool large : {false, true}) {
    Stage stage = shipped("where_memory_goes");
    stage.engine = HEADROOM_BIN_DIR "/headroom-engine";
    if (large) stage.width = 1920, stage.height = 1080;
    perform(large ? "cover, large" : "cover", stage, [&](Actor& actor) {
      const auto pages = actor.app.course().pages();
      for (std::size_t i = 0; i < pages.size(); ++i) {
        if (!is_asked_of_a_number(*pages[i]) && !is_choice(*pages[i])) continue;
        ++asked;
        actor.jump(pages[i]->id);
        actor.frames(5);
        IM_CHECK_STR_EQ(actor.page().page().id.c_str(), pages[i]->id.c_str());
        wait_for_prediction(actor);
        check_covered(actor, "at the desk");
        if (change_batch(actor)) {
          wait_for_prediction(actor);
          check_covered(actor, "with another batch");
        }
        actor.ctx->KeyPress(ImGuiKey_F5);
        actor.frames(4);
        check_covered(actor, "on stage");
        actor.ctx->KeyPress(ImGuiKey_F);
        actor.frames(4);
        check_covered(actor, "on stage, the figure alone");
        actor.ctx->KeyPress(ImGuiKey_F);
        actor.ctx->KeyPress(ImGuiKey_F5);
        actor.frames(2);
        if (i > 0) continue;
        actor.question().skip();
        actor.frames(4);
        IM_CHECK(!leaked(answers_of(actor.page()), numbers_in(actor.texts())).empty());
      }
    });
  }
  CHECK(asked > 30);
}
