// A page's state as text: written, parsed, and applied.
#include <string>
#include <vector>

#include "app/page/link.h"
#include "tests/gui/support/reader.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using app::page::Link;
using app::page::link_to;
using app::page::parse_link;

namespace {

std::vector<std::string> apply(const std::string& text, PageModel& model) {
  return app::page::apply(parse_link(text), model);
}

bool says(const std::vector<std::string>& sentences, std::string_view words) {
  for (const std::string& each : sentences)
    if (each.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a link contains a page, a step, settings, a figure and its settings", "[link]") {
  const Link link = parse_link(" headroom:schedule/2?batch=8&checkpointing=layer#checkpoint_schedule?frame=3\n");
  CHECK(link.refused.empty());
  CHECK(link.state);
  CHECK(link.page == "schedule");
  CHECK(link.step == 1);
  REQUIRE(link.settings.size() == 2);
  CHECK((link.settings[1].key == "checkpointing" && link.settings[1].value == "layer"));
  CHECK(link.figure == "checkpoint_schedule");
  REQUIRE(link.figure_settings.size() == 1);
  CHECK((link.figure_settings[0].key == "frame" && link.figure_settings[0].value == "3"));

  CHECK_FALSE(parse_link("schedule").state);  // no settings: keeps the reader's state
  CHECK(parse_link("schedule?batch=8").state);
  CHECK(parse_link("headroom:a?x=1%262%3D%25%").settings[0].value == "1&2=%%");
  const Link odd = parse_link("headroom:schedule/last?batch");
  CHECK(odd.page == "schedule");
  CHECK(odd.step == -1);
  CHECK(says(odd.refused, "\"last\" is not the number of a step"));
  CHECK(says(odd.refused, "KEY=VALUE, not \"batch\""));
}

TEST_CASE("a link restores the state that it was written from", "[link]") {
  Reader from;
  from.poll(3);
  CHECK(link_to(from.model, -1) == "headroom:where_memory_goes");
  from.model.question().skip();
  from.poll();
  REQUIRE(from.model.set_param("batch", "8").ok());
  REQUIRE(from.model.set_param("checkpointing", "layer").ok());
  REQUIRE(from.model.figures().set_param("axis", "host").ok());
  from.poll();
  const std::string link = link_to(from.model, 2);
  INFO(link);
  CHECK(link.starts_with("headroom:where_memory_goes/3?"));
  CHECK(link.find("batch=8") != std::string::npos);
  CHECK(link.find("seq=") == std::string::npos);  // seq has the page's own value
  CHECK(link.ends_with("#memory_timeline?axis=host"));

  Reader to;
  to.poll(3);
  REQUIRE(to.model.set_param("seq", "64").ok());
  CHECK(apply(link, to.model).empty());
  to.poll();
  for (const char* key : {"batch", "seq", "checkpointing", "precision", "cap"})
    CHECK(to.model.settings().as_text(key) == from.model.settings().as_text(key));
  CHECK(to.model.figures().params().as_text("axis") == "host");
  CHECK(link_to(to.model, 2) == link);
  CHECK(apply("headroom:where_memory_goes", to.model).empty());
  CHECK(link_to(to.model, -1) == "headroom:where_memory_goes");
  CHECK(to.model.undo());
  CHECK(to.model.settings().as_text("batch") == "8");
}

TEST_CASE("unknown parts of a link are reported, and the rest is applied", "[link]") {
  Reader reader;
  reader.poll(3);
  const std::vector<std::string> refused =
      apply("headroom:where_memory_goes/40?batch=8&bach=2&seq=many#memory_timelin?axis=host", reader.model);
  CHECK(refused.size() == 4);
  CHECK(says(refused, "\"bach\""));
  CHECK(says(refused, "seq=many"));
  CHECK(says(refused, "There is no figure \"memory_timelin\": the nearest is memory_timeline."));
  CHECK(says(refused, "the link asks for step 40"));
  CHECK(reader.model.settings().as_text("batch") == "8");

  const std::vector<std::string> figure =
      apply("headroom:where_memory_goes#memory_timeline?axis=sideways", reader.model);
  CHECK(figure.size() == 1);
  const std::vector<std::string> conflict =
      apply("headroom:where_memory_goes?batch=2&checkpointing=off&offload.parameters=on", reader.model);
  REQUIRE(conflict.size() == 1);
  CHECK(says(conflict, "offload.parameters=on is ignored"));
  CHECK(reader.model.settings().as_text("batch") == "2");
}

TEST_CASE("a link with only a page's name keeps the page's settings", "[link]") {
  Reader reader;
  reader.poll(3);
  REQUIRE(reader.model.set_param("batch", "8").ok());
  CHECK(apply("where_memory_goes", reader.model).empty());
  CHECK(reader.model.settings().as_text("batch") == "8");
}
