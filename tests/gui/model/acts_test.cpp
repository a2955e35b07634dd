// Effects of text links on the page's model.
#include "app/page/words/acts.h"

#include "tests/gui/support/reader.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

lessons::Act act(std::string_view target) { return lessons::parse_act(target).value(); }

}  // namespace

TEST_CASE("a link sets the page's settings, even before the answer", "[window][page]") {
  Reader reader;
  const lessons::Act sets = act("set:batch=8&checkpointing=layer&precision=bf16");
  CHECK(in_words(sets, reader.model) == "Sets Batch to 8 sequences, Checkpointing to each layer, Precision to bf16");
  REQUIRE(perform(sets, reader.model));
  CHECK(reader.model.settings().integer("batch") == 8);
  CHECK(reader.model.settings().text("checkpointing") == "layer");
  CHECK(reader.model.settings().text("precision") == "bf16");

  // Any order of settings works, even if one alone would be refused.
  REQUIRE(perform(act("set:offload.parameters=on&offload.optimizer=host"), reader.model));
  REQUIRE(perform(act("set:offload.optimizer=off&offload.parameters=off"), reader.model));
  CHECK(reader.model.settings().text("offload.optimizer") == "off");

  // Incompatible settings are refused with the reason.
  REQUIRE(reader.model.set_param("optimizer", "galore"));
  const record::Status refused = perform(act("set:adapters=lora"), reader.model);
  REQUIRE_FALSE(refused);
  CHECK_FALSE(refused.error().message.empty());
  CHECK(reader.model.settings().text("adapters") == "off");
}

TEST_CASE("a link with an unknown key or value reports it and does not set it", "[window][page]") {
  Reader reader;
  const record::Params before = reader.model.settings();
  for (const auto& [target, said] : {std::pair("set:foo=1", "There is no parameter \"foo\""),
                                     std::pair("set:batch=8&foo=1", "There is no parameter \"foo\""),
                                     std::pair("set:batch=many", "Batch must be a whole number")}) {
    INFO(target);
    CHECK(why_no_act(act(target), reader.model).find(said) != std::string::npos);
    CHECK_FALSE(perform(act(target), reader.model));
    CHECK(reader.model.settings() == before);
  }
}

TEST_CASE("a link shows a view of the figure", "[window][page]") {
  Reader reader;
  reader.model.question().skip();
  const lessons::Act view = act("view:zoom=loss highlight=logits cursor=peak");
  CHECK(in_words(view, reader.model) == "Zooms to loss, lights logits and loss, moves the cursor to the peak");
  REQUIRE(perform(view, reader.model));
  const lessons::Timeline& timeline = timeline_of(reader.model.figure(400));
  CHECK(reader.model.figures().view().zoomed());
  REQUIRE(timeline.peak);
  CHECK(reader.model.figures().view().cursor() == timeline.peak->x);
  REQUIRE(perform(act("view:zoom=all"), reader.model));
  CHECK_FALSE(reader.model.figures().view().zoomed());
}

TEST_CASE("a link shows another run of the page, with its settings", "[window][page]") {
  Reader reader;
  reader.model.add_run(small_run({.weights = 80 * record::kMiB}), RunOnShow::From::kPage, "other");
  reader.model.question().skip();
  const std::int64_t batch = reader.model.settings().integer("batch");
  REQUIRE(reader.model.set_param("batch", "8"));
  REQUIRE(perform(act("view:run=other"), reader.model));
  CHECK(reader.model.runs().shown_run()->name == "other");
  CHECK(reader.model.settings().integer("batch") == batch);
  CHECK(in_words(act("view:run=other"), reader.model).starts_with("Shows "));
}

TEST_CASE("no link reveals what a question hides", "[window][page]") {
  for (const char* target : {"view:zoom=optimizer cursor=peak", "view:cursor=end", "view:pin=other highlight=logits"}) {
    INFO(target);
    Reader reader;
    reader.model.add_run(small_run({.weights = 80 * record::kMiB}), RunOnShow::From::kPage, "other");
    REQUIRE(reader.model.question().hides());
    const lessons::FigureData before = reader.model.figure(400);
    const auto cursor = reader.model.figures().view().cursor();
    CHECK(why_no_act(act(target), reader.model) == "The figure shows this once you have answered.");
    CHECK_FALSE(perform(act(target), reader.model));
    CHECK_FALSE(reader.model.figures().view().zoomed());
    CHECK(reader.model.figures().view().cursor() == cursor);
    CHECK(reader.model.run_a().pinned() == nullptr);
    CHECK_FALSE(timeline_of(reader.model.figure(400)).peak);
    reader.model.question().skip();
    CHECK(perform(act(target), reader.model));
  }
}

TEST_CASE("a link on a page with fixed settings sets nothing and says why, and views still work", "[window][page]") {
  Reader reader;
  PageModel fixed{page(), demo(),
                  PageSources{.runner = nullptr,
                              .predictions = nullptr,
                              .fixed_settings = "There is no engine.",
                              .stored = {reader.stored}}};
  const std::int64_t batch = fixed.settings().integer("batch");
  CHECK(why_no_act(act("set:batch=8"), fixed) == "There is no engine.");
  CHECK_FALSE(perform(act("set:batch=8"), fixed));
  CHECK(fixed.settings().integer("batch") == batch);
  fixed.question().skip();
  CHECK(perform(act("view:zoom=loss"), fixed));
  CHECK(fixed.figures().view().zoomed());
}
