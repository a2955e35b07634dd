// The platform: when frames must be drawn without input.
#include "app/window/shell/window.h"
#include "tests/support/catch.h"
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

using namespace headroom::app::window;

TEST_CASE("a resized window must be redrawn once", "[gui][platform]") {
  auto opened = PlatformWindow::open({.width = 640, .height = 480, .headless = true});
  REQUIRE(opened);
  PlatformWindow& window = *opened.value();
  for (int frame = 0; frame < 10 && window.wait(0); ++frame) window.draw([] {});  // due to opening the window
  REQUIRE_FALSE(window.wait(0));
  glfwSetWindowSize(glfwGetCurrentContext(), 800, 600);
  CHECK(window.wait(0));
  window.draw([] {});
  CHECK_FALSE(window.wait(0));
}
