// Two lessons with the real engine: the fused loss by a presenter's keys alone, and three sizing questions at the
// desk.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/page/page_facts.h"
#include "demos/predict/fits.h"
#include "imgui_te_engine.h"
#include "tests/cli/support/program.h"
#include "tests/gui/support/harness.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Question;
using app::window::ThemeId;
using nlohmann::json;

namespace {

constexpr auto kEngine = HEADROOM_BIN_DIR "/headroom-engine";

Stage with_engine(const char* page, bool large) {
  Stage stage = shipped(page);
  stage.engine = kEngine;
  if (large) stage.width = 1920, stage.height = 1080;
  return stage;
}

bool settled(const Actor& actor) {
  app::page::PageModel& page = actor.page();
  const app::StepPlan* const plan = plan_of(page);
  return plan != nullptr && plan->params == page.settings() && !plan->cards.empty() &&
         (shows_evidence(page) || page.forecast().predicted(page.settings()) != nullptr);
}

bool settled_with_borders(const Actor& actor) {
  if (!settled(actor)) return false;
  const app::CardPlan& card = plan_of(actor.page())->cards.front();
  return card.largest_batch && card.largest_sequence;
}

void picture(const Actor& actor, const std::string& screens, const std::string& name) {
  for (const auto& [theme, of] : {std::pair(ThemeId::kDark, " dark "), std::pair(ThemeId::kLight, " light ")}) {
    actor.app.ui().theme = theme;
    actor.frames(2);
    actor.picture(screens + of + name);
    actor.frames(1);
  }
}

class Presenter {
 public:
  explicit Presenter(const Actor& actor) : actor_(actor) {}

  void press(ImGuiKeyChord key) const {
    actor_.ctx->KeyPress(key);
    actor_.frames(3);
  }
  void picture(const std::string& name) {
    ++pictures_;
    ::picture(actor_, "lesson", (pictures_ < 10 ? "0" : "") + std::to_string(pictures_) + " " + name);
  }
  // Goes to the next step; long words take several screens.
  void next_step() const {
    const auto& state = actor_.app.view().state();
    const int before = state.reading_more ? state.step : -1;
    for (int screen = 0; screen < 20 && !(state.reading_more && state.step > before); ++screen)
      press(ImGuiKey_RightArrow);
    IM_CHECK_EQ(state.step, before + 1);
  }
  std::string setting(std::string_view key) const { return actor_.page().settings().as_text(key); }
  double peak() const { return tests::timeline_of(actor_.page().figure(400)).peak->y; }

 private:
  const Actor& actor_;
  int pictures_ = 0;
};

void check_batch_keys(const Actor& actor, Presenter& presenter) {
  actor.wait_until([&] { return settled(actor); });
  const double before = presenter.peak();
  const std::string batch = presenter.setting("batch");
  presenter.press(ImGuiKey_UpArrow);
  IM_CHECK(presenter.setting("batch") != batch);
  actor.wait_until([&] { return settled(actor); });
  IM_CHECK_GT(presenter.peak(), before);
  IM_CHECK(actor.page().figure(400).head.source == record::Source::kPredicted);
  presenter.picture("batch up");
  presenter.press(ImGuiKey_DownArrow);
  IM_CHECK_STR_EQ(presenter.setting("batch").c_str(), batch.c_str());
  actor.wait_until([&] { return settled(actor); });
  IM_CHECK_EQ(presenter.peak(), before);
}

void check_switch_keys(const Actor& actor, Presenter& presenter, int digit) {
  const auto known = [](const app::page::WayOut* way) { return !way->turned || (way->change && way->current); };
  actor.wait_until([&] {
    return settled(actor) && !actor.page().verdict().shown_ways().empty() &&
           std::ranges::all_of(actor.page().verdict().shown_ways(), known);
  });
  const auto ways = actor.page().verdict().shown_ways();
  IM_CHECK_GE(static_cast<int>(ways.size()), digit);
  const record::Params before = actor.page().settings();
  const double peak = presenter.peak();
  presenter.press(static_cast<ImGuiKey>(ImGuiKey_0 + digit));
  IM_CHECK(!(actor.page().settings() == before));
  actor.wait_until([&] { return settled(actor); });
  IM_CHECK(presenter.peak() != peak);
  presenter.picture("switch turned");
  presenter.press(ImGuiKey_X);
  IM_CHECK(actor.page().settings() == before);
  actor.wait_until([&] { return settled(actor); });
  IM_CHECK_EQ(presenter.peak(), peak);
}

void check_shades(const Actor& actor, Presenter& presenter) {
  using Blank = app::window::UiState::Blank;
  const auto& ui = actor.app.ui();
  const int step = actor.app.view().state().step;
  presenter.press(ImGuiKey_B);
  IM_CHECK(ui.blank == Blank::kBlack);
  presenter.press(ImGuiKey_RightArrow);  // any key only restores the picture
  IM_CHECK(ui.blank == Blank::kNone);
  presenter.press(ImGuiKey_W);
  IM_CHECK(ui.blank == Blank::kWhite);
  presenter.press(ImGuiKey_Space);
  IM_CHECK(ui.blank == Blank::kNone);
  IM_CHECK_EQ(actor.app.view().state().step, step);
  presenter.press(ImGuiKey_L);
  IM_CHECK(ui.spotlight);
  actor.ctx->MouseMoveToPos({500, 400});
  presenter.picture("spotlight");
  presenter.press(ImGuiKey_L);
  IM_CHECK(!ui.spotlight);
  actor.ctx->MouseMoveToPos({4, 4});
}

// Plays a guess, its answer, the tour, and a batch that moves the peak.
void open_the_lesson(const Actor& actor, Presenter& presenter) {
  presenter.press(ImGuiKey_F5);
  IM_CHECK(actor.app.ui().stage);
  IM_CHECK_GE(11 * actor.app.ui().scale(), 27.0f);  // px of the smallest text
  IM_CHECK(actor.question().hides());
  presenter.picture("question");
  for (int i = 0; i < 15; ++i) actor.ctx->KeyPress(ImGuiKey_UpArrow);
  actor.frames(3);
  IM_CHECK(actor.question().can_lock());
  presenter.picture("guess");
  presenter.press(ImGuiKey_RightArrow);
  IM_CHECK(actor.question().state() == Question::State::kAnswered);
  actor.wait_until([&] { return settled(actor); });
  presenter.picture("answer");
  const int steps = static_cast<int>(actor.page().page().more.size());
  for (int step = 0; step < steps; ++step) {
    presenter.next_step();
    presenter.picture("step " + std::to_string(step + 1));
  }
  presenter.press(ImGuiKey_LeftArrow);
  IM_CHECK(actor.app.view().state().words.above || actor.app.view().state().step == steps - 2);
  check_batch_keys(actor, presenter);
  check_shades(actor, presenter);
}

void teach_the_paths(const Actor& actor, Presenter& presenter) {
  presenter.press(ImGuiKey_G);
  presenter.picture("contents");
  presenter.press(ImGuiKey_Escape);
  IM_CHECK(actor.app.ui().stage);  // Escape closed only the contents
  actor.jump("loss_paths");
  IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "loss_paths");
  presenter.picture("paths question");
  presenter.press(ImGuiKey_Space);
  IM_CHECK(actor.question().state() == Question::State::kSkipped);
  actor.wait_until([&] { return settled(actor); });
  presenter.picture("paths answer");
  check_batch_keys(actor, presenter);
  check_switch_keys(actor, presenter, 1);
  presenter.next_step();
  presenter.picture("paths step 1");
  presenter.press(ImGuiKey_F);
  IM_CHECK(actor.app.ui().figure_only);
  presenter.picture("paths figure only");
  presenter.press(ImGuiKey_F);
  IM_CHECK(!actor.app.ui().figure_only);
  presenter.next_step();
  presenter.next_step();
  presenter.picture("paths step 3");
}

void teach_the_fused_loss(const Actor& actor, Presenter& presenter) {
  actor.jump("vocabulary");
  IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "vocabulary");
  presenter.picture("vocabulary question");
  presenter.press(ImGuiKey_RightArrow);
  IM_CHECK(!actor.question().hides());
  presenter.picture("vocabulary answer");
  for (int screen = 0; screen < 40 && actor.page().page().id == "vocabulary"; ++screen) presenter.press(ImGuiKey_Space);
  IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "many_launches");
  actor.jump("flce");
  presenter.picture("fused question");
  presenter.press(ImGuiKey_1);
  presenter.picture("fused choice");
  presenter.press(ImGuiKey_RightArrow);
  IM_CHECK(actor.question().state() == Question::State::kAnswered);
  IM_CHECK(actor.question().right());
  presenter.picture("fused answer");
  presenter.press(ImGuiKey_V);
  IM_CHECK_EQ(actor.page().figures().tab(), 1);
  actor.wait_until([&] { return settled(actor); });
  presenter.picture("fused timeline");
  check_switch_keys(actor, presenter, 2);
  presenter.next_step();
  presenter.picture("fused step");
}

void end_and_resume(const Actor& actor, Presenter& presenter) {
  presenter.press(ImGuiKey_Escape);
  IM_CHECK(!actor.app.ui().stage);
  IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "flce");
  presenter.picture("at the desk");
  presenter.press(ImGuiKey_F5);
  IM_CHECK(actor.app.ui().stage);
  IM_CHECK_STR_EQ(actor.page().page().id.c_str(), "flce");
  IM_CHECK(actor.app.view().state().reading_more);
  presenter.press(ImGuiKey_LeftArrow);
  IM_CHECK(!actor.app.view().state().reading_more);
  presenter.picture("resumed");
}

// The strip must agree with `headroom plan`.
void check_by_command(const Actor& actor) {
  const app::StepPlan& plan = *plan_of(actor.page());
  std::vector<std::string> words{"plan", "--card", plan.cards.front().card.name, "--json", "--set"};
  const record::Params defaults(plan.params.schema());
  for (const record::ParamSpec& spec : plan.params.schema())
    if (const std::string value = plan.params.as_text(spec.key); value != defaults.as_text(spec.key))
      words.push_back(std::string(spec.key) + "=" + value);
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = kEngine;
  const Ran ran = run_headroom(words, options);
  actor.ctx->LogInfo("%s%s", ran.err.c_str(), ran.out.c_str());
  IM_CHECK_EQ(ran.exit_code, 0);
  const json step = json::parse(ran.out)["steps"][0], card = step["cards"][0];
  IM_CHECK_EQ(step["peak_bytes"].get<record::Bytes>(), plan.allocated);
  IM_CHECK_EQ(step["peak_reserved_bytes"].get<record::Bytes>(), plan.reserved);
  const app::CardPlan& shown = plan.cards.front();
  IM_CHECK_STR_EQ(card["verdict"].get<std::string>().c_str(), std::string(predict::key_of(shown.fit.verdict)).c_str());
  IM_CHECK_EQ(card["largest_batch"].get<std::int64_t>(), *shown.largest_batch);
  IM_CHECK_EQ(card["largest_sequence"].get<std::int64_t>(), *shown.largest_sequence);
}

void choose(const Actor& actor, const std::string& list, std::size_t index) {
  actor.click(list);
  actor.frames(2);
  actor.ctx->ItemClick(("//$FOCUSED/$$" + std::to_string(index) + "/option").c_str());
  actor.frames(2);
}

void choose_setting(const Actor& actor, const std::string& key, std::string_view value) {
  const auto& schema = actor.page().settings().schema();
  const auto spec = std::ranges::find(schema, key, &record::ParamSpec::key);
  const auto choices = record::choices_of(*spec);
  const auto at = std::ranges::find(choices, value, &record::Choice::key);
  choose(actor, key + "/choice", static_cast<std::size_t>(at - choices.begin()));
  IM_CHECK_STR_EQ(actor.page().settings().as_text(key).c_str(), std::string(value).c_str());
}

void type_setting(const Actor& actor, const std::string& key, const std::string& value) {
  actor.ctx->ItemDoubleClick(("**/" + key + "/edit").c_str());
  actor.frames(2);
  actor.ctx->KeyCharsReplaceEnter(value.c_str());
  actor.frames(2);
  IM_CHECK_STR_EQ(actor.page().settings().as_text(key).c_str(), value.c_str());
}

void choose_card(const Actor& actor, const std::string& name) {
  actor.click("card");
  actor.frames(2);
  actor.ctx->KeyChars(name.c_str());
  actor.ctx->KeyPress(ImGuiKey_Enter);
  actor.frames(2);
  IM_CHECK(chosen_card(actor.page()) != nullptr && chosen_card(actor.page())->name == name);
}

void turn_switch(const Actor& actor, const std::string& id) {
  actor.wait_until([&] { return settled(actor); });
  const record::Params before = actor.page().settings();
  if (actor.there("way " + id)) {
    actor.click("way " + id);
  } else {
    actor.click("more ways");
    actor.frames(2);
    actor.ctx->ItemClick(("//$FOCUSED/way " + id).c_str());
    actor.ctx->KeyPress(ImGuiKey_Escape);
  }
  actor.frames(2);
  IM_CHECK(!(actor.page().settings() == before));
}

const app::CardPlan& on_card(const Actor& actor) { return plan_of(actor.page())->cards.front(); }

void answer_three_questions(const Actor& actor, const std::string& screens) {
  const auto settle = [&](const std::string& question) {
    actor.wait_until([&] { return settled_with_borders(actor); });
    picture(actor, screens, question);
  };
  const auto settle_and_check = [&](const std::string& question) {
    settle(question);
    check_by_command(actor);
  };
  actor.click("skip");
  // Which is the largest batch of Llama 3.2 1B in bf16 with 1,024 tokens on an RTX 4090?
  actor.wait_until([&] { return settled(actor); });
  choose_card(actor, "GeForce RTX 4090");
  settle("1 largest batch");
  IM_CHECK_EQ(*on_card(actor).largest_batch, 5);
  type_setting(actor, "batch", "6");
  settle_and_check("1 one more");
  IM_CHECK(on_card(actor).fit.verdict == predict::Verdict::kDoesNotFit);

  // Does Llama 3.2 3B, batch 8 of 2,048 tokens, with 8-bit AdamW and checkpointing fit on an A100 of 40 or 80 GB?
  choose_setting(actor, "model", "llama-3.2-3b");
  type_setting(actor, "batch", "8");
  type_setting(actor, "seq", "2048");
  turn_switch(actor, "adamw_8bit");
  turn_switch(actor, "checkpointing");
  choose_card(actor, "A100 40 GB SXM");
  settle("2 3B on 40 GB");
  const predict::Verdict on_40 = on_card(actor).fit.verdict;
  choose_card(actor, "A100 80 GB SXM");
  settle_and_check("2 3B on 80 GB");
  IM_CHECK(on_40 == predict::Verdict::kDoesNotFit);
  IM_CHECK(on_card(actor).fit.verdict == predict::Verdict::kFits);

  // Which is the longest sequence of Llama 3 8B with LoRA on an RTX 3090?
  choose_card(actor, "GeForce RTX 3090");
  choose_setting(actor, "model", "llama-3-8b");
  type_setting(actor, "batch", "1");
  turn_switch(actor, "adamw_8bit");  // off again
  turn_switch(actor, "lora");
  settle("3 8B with LoRA");
  const std::int64_t longest = *on_card(actor).largest_sequence;
  IM_CHECK_GT(longest, 0);
  type_setting(actor, "seq", std::to_string(longest));
  settle_and_check("3 longest");
  IM_CHECK(on_card(actor).fit.verdict == predict::Verdict::kFits);
  actor.page().show_tab(1);
  actor.frames(3);
  picture(actor, screens, "3 map");
}

}  // namespace

TEST_CASE("a lesson on the logits and the fused loss works with keys alone", "[gui][live]") {
  perform("lesson", with_engine("where_memory_goes", true), [&](Actor& actor) {
    Presenter presenter(actor);
    open_the_lesson(actor, presenter);
    teach_the_paths(actor, presenter);
    teach_the_fused_loss(actor, presenter);
    end_and_resume(actor, presenter);
  });
}

TEST_CASE("three sizing questions have the same answers in the window as from headroom plan", "[gui][live]") {
  perform("sizing", with_engine("will_it_fit", /*large=*/false),
          [](Actor& actor) { answer_three_questions(actor, "sizing"); });
}
