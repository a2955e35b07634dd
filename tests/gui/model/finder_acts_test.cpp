// Acts on a page by typed words, without a window.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "app/page/words/finder_acts.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

std::unique_ptr<PageModel> opened() {
  PageSources sources{.why_no_engine = "A test has no engine.", .stored = {small_run()}};
  auto model = std::make_unique<PageModel>(tests::page("checkpointing"), demo(), std::move(sources));
  model->question().skip();
  return model;
}

std::vector<std::string> titles(std::string_view typed, const PageModel& model) {
  std::vector<std::string> all;
  for (const Findable& each : acts_for(typed, model)) all.push_back(each.title);
  return all;
}

// The first act's effect, as "key=value" of each changed setting.
std::vector<std::string> done(std::string_view typed) {
  const auto model = opened();
  const record::Params before = model->settings();
  const std::vector<Findable> acts = acts_for(typed, *model);
  if (acts.empty() || !acts.front().why_not.empty()) return {};
  CHECK(acts.front().does(*model).ok());
  std::vector<std::string> changed;
  for (const auto& [key, value] : model->settings().to_map())
    if (before.as_text(key) != value) changed.push_back(key + "=" + value);
  CHECK(model->undo());
  CHECK(model->settings() == before);
  CHECK_FALSE(model->undo());
  return changed;
}

using Changed = std::vector<std::string>;

}  // namespace

TEST_CASE("words set a setting by key, title, unit or choice, as one undo step", "[find]") {
  for (const char* typed : {"batch 8", "Batch=8", "8 sequences", "bach 8"}) {
    CAPTURE(typed);
    CHECK(done(typed) == Changed{"batch=8"});
  }
  for (const char* typed : {"seq 4096", "sequence 4,096", "4096 tokens"}) CHECK(done(typed) == Changed{"seq=4096"});
  CHECK(done("limit 24 GiB") == Changed{"cap=24GiB"});
  CHECK(done("8b").size() == 1);
  CHECK(titles("8b", *opened()).front() == "Set model to Llama 3 8B");
  CHECK(done("precision bf16") == Changed{"precision=bf16"});
  const auto model = opened();
  CHECK(titles("batch 8", *model) == Changed{"Set batch to 8 sequences"});
  REQUIRE(acts_for("batch 5000", *model).size() == 1);
  CHECK(acts_for("batch 5000", *model).front().why_not.find("256") != std::string::npos);
  REQUIRE(model->set_param("batch", "8"));
  CHECK(acts_for("batch 8", *model).front().why_not == "It is set.");
}

TEST_CASE("words turn any technique, and the opposite if it is on", "[find]") {
  CHECK(done("lora") == Changed{"adapters=lora"});
  CHECK(done("fused loss") == Changed{"loss=flce"});
  CHECK(done("fused los on") == Changed{"loss=flce"});
  const auto model = opened();
  CHECK(titles("lora", *model) == Changed{"LoRA on"});
  REQUIRE(acts_for("lora", *model).front().does(*model).ok());
  CHECK(titles("lora", *model) == Changed{"LoRA off"});
  CHECK(acts_for("lora on", *model).front().why_not == "It is on.");
  for (const experiments::Technique& each : experiments::techniques()) {
    CAPTURE(each.id);
    CHECK_FALSE(acts_for(each.button(), *model).empty());
    CHECK_FALSE(acts_for(each.label, *model).empty());
  }
}

TEST_CASE("a choice is set with the setting's name before it, also with wrong letters", "[find]") {
  const auto model = opened();
  REQUIRE(model->set_param("checkpointing", "off"));
  for (const char* typed : {"checkpointing layer", "chekpointing layer", "checkpointing each layer"}) {
    CAPTURE(typed);
    const std::vector<Findable> acts = acts_for(typed, *model);
    REQUIRE_FALSE(acts.empty());
    CHECK(acts.front().title == "Set checkpointing to each layer");
    REQUIRE(acts.front().does(*model).ok());
    CHECK(model->settings().as_text("checkpointing") == "layer");
    CHECK(model->undo());
  }
}

TEST_CASE("every card is chosen by its name, which moves a run to the GPU", "[find]") {
  for (const predict::Card& card : predict::cards()) {
    if (!card.memory) continue;
    CAPTURE(card.name);
    const auto model = opened();
    const std::vector<Findable> acts = acts_for(card.name, *model);
    REQUIRE_FALSE(acts.empty());
    CHECK(acts.front().does(*model).ok());
    CHECK(chosen_card(*model) == &card);
    CHECK(device_of(*model) == record::DeviceKind::kGpu);
  }
  const auto model = opened();
  CHECK(titles("4090", *model) == Changed{"Card: GeForce RTX 4090, 24 GiB"});
  REQUIRE(model->set_param("cap", "8GiB"));
  REQUIRE(acts_for("4090", *model).front().does(*model).ok());
  CHECK(chosen_card(*model)->name == "GeForce RTX 4090");
  CHECK(acts_for("4090", *model).front().why_not == "It is the card.");
}

TEST_CASE("words that name no act list none", "[find]") {
  const auto model = opened();
  for (const char* typed : {"", "memory", "where the memory goes", "batch", "8", "layer", "the", "qwrtz 8"}) {
    CAPTURE(typed);
    CHECK(titles(typed, *model).empty());
  }
}
