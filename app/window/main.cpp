// headroom-window: opens the window, or writes a picture of it.
#include <malloc.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "app/common/assets.h"
#include "app/common/exit_codes.h"
#include "app/window/shell/app.h"
#include "app/window/shell/window.h"

namespace {

using namespace headroom;
using namespace headroom::app;
using namespace headroom::app::window;

struct CommandLine {
  std::string page, from, theme, size, screenshot, card;
  std::vector<std::string> settings;
  std::optional<double> scale;
  bool headless = false, present = false;
};

// The largest picture is an 8K screen; 16384x16384 has eight times its pixels and takes 3.7 GB to draw.
constexpr int kSmallestSide = 320, kLargestWidth = 7680, kLargestHeight = 4320;
// Frames needed to load recordings (one per frame), draw formulas and size cards.
constexpr int kSettlingFrames = 12;
constexpr double kLongestWait = 300;  // seconds to wait for predictions; only a hanging engine takes longer

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds since the process was created, which include loading. Resolution: a clock tick, 10 ms.
double seconds_since_start() {
  std::ifstream file("/proc/self/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));  // after the program's name
  std::string skipped;
  for (int i = 0; i < 19; ++i) fields >> skipped;
  double started = 0;  // ticks since boot, like CLOCK_BOOTTIME
  fields >> started;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 -
         started / static_cast<double>(sysconf(_SC_CLK_TCK));
}

record::Result<PlatformOptions> platform_options(const CommandLine& line) {
  PlatformOptions options;
  options.headless = line.headless;
  if (line.size.empty()) return options;
  int width = 0, height = 0;
  char rest = 0;
  if (std::sscanf(line.size.c_str(), "%dx%d%c", &width, &height, &rest) != 2 ||
      std::min(width, height) < kSmallestSide || width > kLargestWidth || height > kLargestHeight)
    return record::Error{fmt::format("--size {}: use WIDTHxHEIGHT in pixels, such as 1280x720, from {}x{} to {}x{}.",
                                     line.size, kSmallestSide, kSmallestSide, kLargestWidth, kLargestHeight)};
  options.width = width;
  options.height = height;
  return options;
}

record::Result<AppOptions> app_options(const CommandLine& line) {
  AppOptions options;
  auto assets = find_assets();
  if (!assets) return assets.error();
  options.pages.assets = std::move(assets).value();
  options.page = line.page;
  if (!line.settings.empty() || !line.card.empty()) {
    if (!line.page.empty()) return record::Error{"--set and --card open the bench: remove --page."};
    options.page = page::link_to_bench(line.settings, line.card);
  }
  options.present = line.present;
  if (!line.theme.empty()) {
    options.theme = theme_from(line.theme);
    if (key_of(*options.theme) != line.theme)
      return record::Error{fmt::format("--theme {}: use light, dark or high_contrast.", line.theme)};
  }
  if (line.scale) {
    if (!(*line.scale >= kMinFontScale && *line.scale <= kMaxFontScale))  // also rejects NaN
      return record::Error{
          fmt::format("--scale {}: use a number from {} to {}.", *line.scale, kMinFontScale, kMaxFontScale)};
    options.scale = static_cast<float>(*line.scale);
  }
  if (!line.from.empty()) {
    auto recording = load_recording(line.from);
    if (!recording) return recording.error();
    options.pages.from = std::move(recording).value();
    options.pages.from_name = line.from;
  }
  return options;
}

// Draws only on input and new data: on input at the display's rate, on data at about 30 frames per second; at 10 while
// only a tooltip may change, never while hidden.
void run_loop(PlatformWindow& platform, App& window) {
  constexpr double kFrame = 1.0 / 30, kIdle = 0.1, kAsleep = 0.25;
  constexpr double kLinger = 0.8;  // seconds; tooltips appear late
  double last_input = seconds_now(), last_drawn = 0;
  bool wanted = true;
  while (!platform.should_close()) {
    const bool lingers = seconds_now() - last_input < kLinger;
    const double pause = wanted ? std::max(0.0, kFrame - (seconds_now() - last_drawn))
                         : window.running() || window.awaits_prediction() ? kFrame
                         : lingers                                        ? kIdle
                                                                          : kAsleep;
    const bool input = platform.wait(pause);
    const double now = seconds_now();
    if (input) last_input = now;
    for (const std::filesystem::path& file : platform.take_dropped()) window.open_file(file);
    wanted = window.poll(now) || input || wanted;
    if (platform.hidden()) {
      wanted = false;
      continue;
    }
    if (!wanted && !(lingers && now - last_drawn >= kIdle)) continue;
    if (!input && now - last_drawn < kFrame) continue;
    window.before_frame();
    platform.draw([&] { window.draw(now); });
    platform.set_full_screen(window.ui().full_screen || window.ui().stage);
    last_drawn = seconds_now();
    wanted = input;  // ImGui reacts to some input a frame later
  }
}

// Saves the last frame once everything has settled, and prints how long the first frame took.
record::Status take_picture(PlatformWindow& platform, App& window, const std::string& path) {
  record::Status result = record::Ok{};
  double first = 0;
  bool last = false;
  const auto waits = [&] { return window.awaits_prediction() && seconds_since_start() < kLongestWait; };
  for (int frame = 0, settled = 0; !last; ++frame) {
    // An answer may lead to another question, such as what each switch changes. Polls only: drawing slows the engine.
    for (; frame >= kSettlingFrames && waits(); platform.wait(0.01)) window.poll(seconds_now());
    settled = waits() ? 0 : settled + 1;
    last = settled >= kSettlingFrames;
    platform.wait(0);
    window.poll(seconds_now());
    window.before_frame();
    platform.draw([&] { window.draw(seconds_now()); },
                  [&] {
                    unsigned pixel = 0;
                    if (frame == 0) platform.read_pixels(0, 0, 1, 1, &pixel);
                    if (last) result = platform.save_png(path);
                  });
    if (frame == 0) first = seconds_since_start();
  }
  if (result) fmt::print(stderr, "{}: the first picture was drawn {:.2f} s after the start.\n", path, first);
  return result;
}

record::Result<ExitCode> run_window(const CommandLine& line) {
  const auto platform_asked = platform_options(line);
  if (!platform_asked) return platform_asked.error();
  auto options = app_options(line);
  if (!options) return options.error();
  const bool picture = !line.screenshot.empty();
  SettingsFile settings;
  // A picture neither depends on the reader's settings nor changes them.
  auto made = App::create(std::move(options).value(), Session(choose_engine()), picture ? nullptr : &settings);
  if (!made) return made.error();
  App& window = *made.value();
  window.ui().free_memory = !picture;
  auto opened = PlatformWindow::open(platform_asked.value());
  if (!opened) return opened.error();
  PlatformWindow& platform = *opened.value();
  if (!picture) window.ui().display_scale = platform.display_scale();
  const record::Status look = window.load_look();
  if (!look) return look.error();

  record::Status result = record::Ok{};
  if (picture) {
    result = take_picture(platform, window, line.screenshot);
  } else {
    run_loop(platform, window);
    window.keep_all();
  }
  window.drop_look();
  if (!result) return result.error();
  return ExitCode::kDone;
}

ExitCode run_main(int argc, char** argv) {
  CommandLine line;
  CLI::App parser{"Headroom's window: where GPU memory goes when a Llama trains.", "headroom-window"};
  parser.add_option("--page", line.page, "page to open, as named by `headroom list`");
  parser.add_option("--from", line.from, "recording (.hrec) to open, on the page that shows such runs");
  parser.add_option("--set", line.settings, "KEY=VALUE: a setting of the bench, which opens");
  parser.add_option("--card", line.card, "the card of the bench: a name, or a size such as 24GiB");
  parser.add_option("--theme", line.theme, "light, dark or high_contrast");
  parser.add_option("--scale", line.scale, "font scale, 0.75 to 4");
  parser.add_flag("--present", line.present, "on stage: full screen, a claim and a figure per screen (F5)");
  parser.add_option("--size", line.size, "WIDTHxHEIGHT in pixels");
  parser.add_option("--screenshot", line.screenshot, "write a picture (PNG) of the first page and exit");
  parser.add_flag("--headless", line.headless, "draw in memory, without a display; needs --screenshot");
  try {
    parser.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", parser.help());
    return ExitCode::kDone;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "headroom-window: {}. `headroom-window --help` lists all options.\n", error.what());
    return ExitCode::kBadInput;
  }
  if (line.headless && line.screenshot.empty()) {
    fmt::print(stderr, "headroom-window: --headless shows nothing: add --screenshot FILE.png.\n");
    return ExitCode::kBadInput;
  }
  const record::Result<ExitCode> result = run_window(line);
  if (result) return result.value();
  fmt::print(stderr, "headroom-window: {}\n", result.error().message);
  return exit_code_of(result.error());
}

}  // namespace

int main(int argc, char** argv) {
  // One heap, so that all threads reuse memory that the prediction thread frees. Freed event lists return to the
  // system.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_THRESHOLD, 256 * 1024);  // bytes
  try {
    return static_cast<int>(run_main(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "headroom-window: this is a bug in Headroom, please report it: {}\n", error.what());
    return static_cast<int>(ExitCode::kFailed);
  }
}
