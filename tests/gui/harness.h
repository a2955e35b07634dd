// Opens the window's content in memory, without a display, and lets a script of clicks and keys drive it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/window/shell/app.h"
#include "imgui.h"
#include "imgui_te_context.h"

namespace headroom::tests {

// A folder with the product's texts and fonts, and the recordings that a test puts there. Removed at the end.
class TestAssets {
 public:
  TestAssets();
  ~TestAssets();
  TestAssets(const TestAssets&) = delete;
  TestAssets& operator=(const TestAssets&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void add(const record::Recording& recording, const std::string& name) const;
  // From the first one on, the pages are those that a test writes.
  void write_text(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

struct Stage {
  int width = 1280, height = 720;
  float scale = 1;
  app::window::ThemeId theme = app::window::ThemeId::kLight;
  std::filesystem::path assets;
  std::string page;                               // empty: the first
  std::shared_ptr<const record::Recording> from;  // that it is opened for
  backend::Backend* runner = nullptr;
  app::Predictions* predictions = nullptr;
  app::SweepDriver::MakeBackend make_backend;
  app::SettingsFile* settings = nullptr;
  std::string engine;                                  // a real one, instead of `runner`
  std::function<void(app::window::App&)> after_frame;  // of each that was drawn
};

// The page as it is shipped.
inline Stage shipped(const char* page) {
  Stage stage;
  stage.assets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";
  stage.page = page;
  return stage;
}

// What a script works with.
struct Actor {
  ImGuiTestContext* ctx;
  app::window::App& app;

  // The page's widget of that type.
  template <class View>
  View& widget() const {
    return *app.view().widgets().find<View>();
  }
  app::page::PageModel& page() const { return app.page(); }
  app::page::Question& question() const { return app.page().question(); }
  void frames(int count) const { ctx->Yield(count); }
  // A control by its name, wherever on the page it is.
  void click(const std::string& name) const;
  bool there(const std::string& name) const;
  // A place of the timeline, in axis values, on the screen.
  ImVec2 on_screen(double x, double y) const;
  // The pill of the guess, on the screen.
  ImVec2 on_pill() const;
  // A guess without a drag, for scripts that are about something else.
  void guess(double value) const;
  void wait_for_end_of_run() const;
  // Draws frames until the condition holds.
  void wait_until(const std::function<bool()>& condition) const;
  void skip_question() const;
  // To that page, by its number among the contents.
  void jump(const std::string& page) const;
  // What can be read on the screen at this moment, piece by piece.
  std::vector<std::string> texts() const;
  // Keeps a picture of this moment in the folder HEADROOM_SHOTS, if that is set.
  void picture(const std::string& name) const;
};

// Runs the script to its end and reports to Catch2. Inside the script only IM_CHECK and its kin.
void perform(const char* name, const Stage& stage, const std::function<void(Actor&)>& script);

struct FrameTime {
  double wall = 0, processor = 0;  // milliseconds; processor time of all threads
};
// Frames without a script, as fast as they come; for measurements. `each` begins each frame, is measured with it, and
// says whether to draw it.
std::vector<FrameTime> time_frames(const Stage& stage, const std::function<bool(app::window::App&, int)>& each);

}  // namespace headroom::tests
