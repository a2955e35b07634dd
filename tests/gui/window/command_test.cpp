// headroom-window as a command: pictures without a display, and errors in one sentence.
#include <algorithm>
#include <filesystem>
#include <string>

#include "demos/record/recording.h"
#include "tests/gui/support/small_run.h"
#include "tests/gui/support/window_command.h"
#include "tests/support/catch.h"

using namespace headroom;
using headroom::tests::contents;
using headroom::tests::Ran;
using headroom::tests::TestAssets;
using headroom::tests::window;

namespace {

namespace fs = std::filesystem;

int png_number(const std::string& png, std::size_t at) {
  return static_cast<unsigned char>(png[at]) << 24 | static_cast<unsigned char>(png[at + 1]) << 16 |
         static_cast<unsigned char>(png[at + 2]) << 8 | static_cast<unsigned char>(png[at + 3]);
}

}  // namespace

TEST_CASE("a picture is taken without a display, with equal bytes each time", "[gui][command]") {
  TestAssets assets;
  assets.add(*tests::small_run(), "tiny_cpu");
  const std::string picture = (assets.path() / "a.png").string(), again = (assets.path() / "b.png").string();
  for (const std::string& file : {picture, again}) {
    const Ran ran = window(assets, "--headless --size 960x600 --theme dark --scale 0.875 --screenshot '" + file + "'");
    INFO(ran.errors);
    REQUIRE(ran.status == 0);
  }
  const std::string png = contents(picture);
  REQUIRE(png.size() > 10'000);
  CHECK(png.substr(1, 3) == "PNG");
  CHECK(png_number(png, 16) == 960);
  CHECK(png_number(png, 20) == 600);
  CHECK((png == contents(again)));  // keeps Catch from printing the bytes
  CHECK_FALSE(fs::exists(assets.path() / "headroom"));
}

TEST_CASE("a recording from a file is shown instead of the page's own", "[gui][command]") {
  TestAssets assets;
  assets.add(*tests::small_run(), "tiny_cpu");
  const fs::path file = assets.path() / "run.hrec", own = assets.path() / "own.png",
                 shown = assets.path() / "shown.png";
  REQUIRE(tests::small_run({.weights = 80 * record::kMiB})->write(file).ok());
  REQUIRE(window(assets, "--headless --screenshot '" + own.string() + "'").status == 0);
  const Ran ran = window(assets, "--headless --from '" + file.string() + "' --screenshot '" + shown.string() + "'");
  INFO(ran.errors);
  CHECK(ran.status == 0);
  REQUIRE(fs::exists(shown));
  CHECK(contents(shown) != contents(own));
  // --from alone opened the bench, which shows such runs. A picture must not depend on free memory.
  const std::string taken(std::size_t{512} << 20, 'x');
  const fs::path asked = assets.path() / "asked.png";
  REQUIRE(window(assets, "--headless --from '" + file.string() + "' --page bench --screenshot '" + asked.string() + "'")
              .status == 0);
  CHECK((contents(asked) == contents(shown)));
}

TEST_CASE("a missing display gives exit code 2 and a sentence with the cure", "[gui][command]") {
  TestAssets assets;
  const Ran ran = window(assets, "");
  CHECK(ran.status == 2);
  CHECK(ran.says("headroom figures"));
}

TEST_CASE("bad input gives one sentence with the cure, and changes nothing", "[gui][command]") {
  TestAssets assets;
  const std::string picture = " --headless --screenshot '" + (assets.path() / "a.png").string() + "'";
  const auto refused = [&](const std::string& arguments, int status, std::string_view words) {
    const Ran ran = window(assets, arguments);
    INFO(arguments);
    INFO(ran.errors);
    CHECK(ran.status == status);
    CHECK(ran.says(words));
    CHECK(std::count(ran.errors.begin(), ran.errors.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(assets.path() / "a.png"));
  };
  refused("--size 20x20" + picture, 2, "from 320x320 to 7680x4320");
  refused("--size 16384x16384" + picture, 2, "from 320x320 to 7680x4320");
  refused("--size big" + picture, 2, "1280x720");
  refused("--theme pink" + picture, 2, "light, dark or high_contrast");
  refused("--scale 9" + picture, 2, "0.75 to 4");
  refused("--scale nan" + picture, 2, "0.75 to 4");
  refused("--page nowhere" + picture, 2, "headroom list");
  refused("--from nothing.hrec" + picture, 2, "nothing.hrec");
  refused("--color" + picture, 2, "--help");
  refused("--headless", 2, "--screenshot");
  refused("--headless --screenshot /proc/nowhere/a.png", 6, "/proc/nowhere/a.png");
}
