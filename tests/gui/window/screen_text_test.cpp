// Tests that read_screen() returns what is drawn.
#include <algorithm>

#include "imgui_te_engine.h"
#include "tests/gui/support/page_scene.h"
#include "tests/gui/support/screen_text.h"
#include "tests/support/catch.h"

using namespace headroom::tests;

TEST_CASE("visible text is read from the screen, clipped or hidden text is not", "[gui]") {
  Scene scene;
  const std::string peak = "peak " + headroom::record::format_bytes(peak_of({}), 1);
  perform("read", scene.stage, [&](Actor& actor) {
    const auto on_screen = [&](std::string_view words) {
      return std::ranges::any_of(actor.texts(),
                                 [&](const auto& piece) { return piece.find(words) != std::string::npos; });
    };
    IM_CHECK(on_screen("The forward pass is shown."));
    IM_CHECK(on_screen("Lock answer"));
    IM_CHECK(!on_screen(peak));
    actor.click("skip");
    actor.frames(2);
    IM_CHECK(!on_screen("Lock answer"));
    IM_CHECK(on_screen(peak));
  });
}

TEST_CASE("numbers are read from text as printed", "[gui]") {
  CHECK(numbers_in({"1,848 launches of 31.2 ms.", "7, 8"}) == std::vector<std::string>{"1848", "31.2", "7", "8"});
}
