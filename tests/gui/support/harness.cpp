// Drives the window's content in memory.
#include "tests/gui/support/harness.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "app/window/shell/window.h"
#include "imgui_te_engine.h"
#include "tests/gui/support/screen_text.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"

namespace headroom::tests {

namespace fs = std::filesystem;
using app::window::App;
using app::window::PlatformWindow;

namespace {

constexpr double kFrameSeconds = 1.0 / 60;

std::string wanted_picture;
std::optional<std::vector<std::string>> wanted_texts;  // empty until the frame is drawn

std::unique_ptr<App> make_app(const Stage& stage) {
  app::window::AppOptions options;
  options.pages.assets = stage.assets;
  options.page = stage.page;
  options.pages.from = stage.from;
  options.theme = stage.theme;
  options.scale = stage.scale;
  options.pages.runner = stage.runner;
  options.pages.predictions = stage.predictions;
  options.pages.make_backend = stage.make_backend;
  const app::EngineChoice engine = stage.engine.empty() ? app::EngineChoice{std::nullopt, "A test has no engine."}
                                                        : app::choose_engine(stage.engine);
  auto made = App::create(std::move(options), app::Session(engine), stage.settings);
  if (!made) FAIL(made.error().message);
  return std::move(made).value();
}

std::unique_ptr<PlatformWindow> open_platform(const Stage& stage) {
  // GLFW loads libEGL per window. Each unloaded libEGL leaks thread-specific keys, which run out after about ninety
  // windows, so it stays loaded.
  [[maybe_unused]] static void* const egl = dlopen("libEGL.so.1", RTLD_LAZY);
  auto opened = PlatformWindow::open({.width = stage.width, .height = stage.height, .headless = true});
  if (!opened) FAIL(opened.error().message);
  return std::move(opened).value();
}

// Time of all threads of this process, including the software renderer's.
double processor_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

// HEADROOM_SHOTS=DIR saves a picture of each script's end.
void keep_picture(PlatformWindow& platform, const std::string& name) {
  if (const char* folder = std::getenv("HEADROOM_SHOTS")) {
    std::string file = name;
    for (char& c : file)
      if (c == ' ' || c == ',' || c == '/') c = '_';
    const record::Status saved = platform.save_png(fs::path(folder) / (file + ".png"));
    if (!saved) WARN(saved.error().message);
  }
}

}  // namespace

TestAssets::TestAssets() {
  std::string name = (fs::temp_directory_path() / "headroom-assets-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) FAIL("no temporary folder");
  path_ = name;
  const fs::path source = fs::path(HEADROOM_SOURCE_DIR) / "assets";
  fs::create_directory_symlink(source / "fonts", path_ / "fonts");
  fs::create_directory_symlink(source / "text", path_ / "text");
  fs::create_directory(path_ / "recordings");
}

TestAssets::~TestAssets() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void TestAssets::add(const record::Recording& recording, const std::string& name) const {
  const record::Status written = recording.write(path_ / "recordings" / (name + ".hrec"));
  if (!written) FAIL(written.error().message);
}

void TestAssets::write_text(const std::string& name, const std::string& text) const {
  const fs::path folder = path_ / "text", source = fs::path(HEADROOM_SOURCE_DIR) / "assets" / "text";
  if (fs::is_symlink(folder)) {
    fs::remove(folder);
    fs::create_directory(folder);
    for (const char* shared : {"glossary.md", "sources.csv"}) fs::copy_file(source / shared, folder / shared);
  }
  std::ofstream(folder / name) << text;
}

void Actor::click(const std::string& name) const { ctx->ItemClick(("**/" + name).c_str()); }

bool Actor::there(const std::string& name) const { return ctx->ItemExists(("**/" + name).c_str()); }

ImVec2 Actor::on_screen(double x, double y) const {
  const ImGuiTestItemInfo plot = ctx->ItemInfo("**/timeline");
  const app::paint::PlotMap& map = app.view().figure().scene().map;
  return {plot.RectFull.Min.x + map.x_px(x) - map.plot.x0, plot.RectFull.Min.y + map.y_px(y) - map.plot.y0};
}

ImVec2 Actor::on_pill() const {
  const ImGuiTestItemInfo plot = ctx->ItemInfo("**/timeline");
  const app::paint::Scene& scene = app.view().figure().scene();
  IM_CHECK_RETV(scene.guess.has_value(), ImVec2());
  return {plot.RectFull.Min.x + scene.guess->center_x() - scene.map.plot.x0,
          plot.RectFull.Min.y + scene.guess->center_y() - scene.map.plot.y0};
}

void Actor::jump(const std::string& page) const {
  std::string number;
  for (const lessons::Chapter& chapter : app.course().chapters())
    for (std::size_t i = 0; i < chapter.pages.size(); ++i)
      if (chapter.pages[i]->id == page) number = lessons::page_number(chapter, i);
  ctx->KeyPress(ImGuiKey_G);
  frames(3);
  for (const char each : number)
    ctx->KeyPress(each == '.'   ? ImGuiKey_Period
                  : each == 'P' ? ImGuiKey_P
                                : static_cast<ImGuiKey>(ImGuiKey_0 + each - '0'));
  ctx->KeyPress(ImGuiKey_Enter);
  frames(3);
}

void Actor::guess(double value) const {
  question().set_guess(value);
  ctx->Yield(2);
}

void Actor::wait_until(const std::function<bool()>& condition) const {
  IM_CHECK(tests::wait_until([&] { return condition() || ctx->IsError(); }, [&] { frames(1); }));
}

void Actor::skip_question() const {
  if (question().hides()) click("skip");
  frames(2);
}

void Actor::wait_for_end_of_run() const {
  wait_until([&] { return !app.running(); });
  ctx->Yield(3);
}

std::vector<std::string> Actor::texts() const {
  wanted_texts.emplace();
  ctx->Yield(2);
  return *std::exchange(wanted_texts, {});
}

void Actor::picture(const std::string& name) const {
  if (std::getenv("HEADROOM_SHOTS") != nullptr) wanted_picture = name;
  ctx->Yield(2);
}

void perform(const char* name, const Stage& stage, const std::function<void(Actor&)>& script) {
  std::unique_ptr<App> app = make_app(stage);
  std::unique_ptr<PlatformWindow> platform = open_platform(stage);
  const record::Status look = app->load_look();
  if (!look) FAIL(look.error().message);

  ImGuiTestEngine* engine = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine);
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Info;
  io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Debug;
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigNoThrottle = true;
  io.ConfigSavedSettings = false;
  io.ConfigFixedDeltaTime = static_cast<float>(kFrameSeconds);
  io.ConfigWatchdogKillTest = 600;
  ImGuiTest* test = IM_REGISTER_TEST(engine, "window", name);
  test->TestFunc = [&](ImGuiTestContext* ctx) {
    Actor actor{ctx, *app};
    ctx->SetRef("headroom");
    ctx->Yield(6);
    script(actor);
  };
  ImGuiTestEngine_Start(engine, ImGui::GetCurrentContext());
  ImGuiTestEngine_QueueTest(engine, test, ImGuiTestRunFlags_RunFromCommandLine);
  double now = 0;
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine)) {
    platform->wait(0);
    now += kFrameSeconds;
    app->poll(now);
    app->before_frame();
    const auto content = [&] { app->draw(now); };
    const auto after = [&] {
      if (wanted_texts) *wanted_texts = read_screen();
      if (stage.after_frame) stage.after_frame(*app);
      ImGuiTestEngine_PreSwap(engine);
    };
    if (wanted_picture.empty())
      platform->draw_unseen(content, after);
    else
      platform->draw(content, [&] {
        keep_picture(*platform, std::exchange(wanted_picture, {}));
        after();
      });
    ImGuiTestEngine_PostSwap(engine);
  }
  platform->draw([&] { app->draw(now); }, [&] { keep_picture(*platform, name); });
  const bool passed = test->Output.Status == ImGuiTestStatus_Success;
  const std::string log = test->Output.Log.Buffer.c_str();
  ImGuiTestEngine_Stop(engine);
  app->drop_look();
  platform.reset();
  ImGuiTestEngine_DestroyContext(engine);
  INFO(log);
  CHECK(passed);
}

std::vector<FrameTime> time_frames(const Stage& stage, const std::function<bool(App&, int)>& each) {
  using Clock = std::chrono::steady_clock;
  std::unique_ptr<App> app = make_app(stage);
  std::unique_ptr<PlatformWindow> platform = open_platform(stage);
  const record::Status look = app->load_look();
  if (!look) FAIL(look.error().message);
  std::vector<FrameTime> times;
  double now = 0;
  for (int frame = 0;; ++frame) {
    const auto begin = Clock::now();
    const double busy = processor_milliseconds();
    if (!each(*app, frame)) break;
    platform->wait(0);
    now += kFrameSeconds;
    app->poll(now);
    app->before_frame();
    unsigned pixel = 0;
    // Reading a pixel waits until the software renderer has drawn everything.
    platform->draw([&] { app->draw(now); }, [&] { platform->read_pixels(0, 0, 1, 1, &pixel); });
    times.push_back(
        {std::chrono::duration<double, std::milli>(Clock::now() - begin).count(), processor_milliseconds() - busy});
  }
  app->drop_look();
  return times;
}

}  // namespace headroom::tests

// For builds with address sanitizer: MicroTeX keeps its table of commands until exit.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:microtex::\nleak:libgallium\nleak:swrast_dri\n"; }
