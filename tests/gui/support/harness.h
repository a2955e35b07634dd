// Opens the window's content in memory and drives it by scripts of clicks and keys.
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

// A temporary folder with the product's texts and fonts and the test's recordings.
class TestAssets {
 public:
  TestAssets();
  ~TestAssets();
  TestAssets(const TestAssets&) = delete;
  TestAssets& operator=(const TestAssets&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void add(const record::Recording& recording, const std::string& name) const;
  // The first call replaces the shipped pages with the test's.
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
  std::shared_ptr<const record::Recording> from;  // the run given to the page
  backend::Backend* runner = nullptr;
  app::Predictions* predictions = nullptr;
  app::SweepDriver::MakeBackend make_backend;
  app::SettingsFile* settings = nullptr;
  std::string engine;                                  // a real engine instead of `runner`
  std::function<void(app::window::App&)> after_frame;  // after each drawn frame
};

inline Stage shipped(const char* page) {
  Stage stage;
  stage.assets = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets";
  stage.page = page;
  return stage;
}

struct Actor {
  ImGuiTestContext* ctx;
  app::window::App& app;

  template <class View>
  View& widget() const {
    return *app.view().widgets().find<View>();
  }
  app::page::PageModel& page() const { return app.page(); }
  app::page::Question& question() const { return app.page().question(); }
  void frames(int count) const { ctx->Yield(count); }
  // Finds a control by name, anywhere on the page.
  void click(const std::string& name) const;
  bool there(const std::string& name) const;
  // Screen position of a timeline point, in axis values.
  ImVec2 on_screen(double x, double y) const;
  // Screen position of the guess's pill.
  ImVec2 on_pill() const;
  // Guesses without a drag.
  void guess(double value) const;
  void wait_for_end_of_run() const;
  void wait_until(const std::function<bool()>& condition) const;
  void skip_question() const;
  // `page`: its number in the contents.
  void jump(const std::string& page) const;
  std::vector<std::string> texts() const;
  // Saves a picture in folder HEADROOM_SHOTS, if set.
  void picture(const std::string& name) const;
};

// Scripts may use only IM_CHECK and its relatives.
void perform(const char* name, const Stage& stage, const std::function<void(Actor&)>& script);

struct FrameTime {
  double wall = 0, processor = 0;  // milliseconds; processor time of all threads
};
// Measures frames without a script, as fast as possible. `each` is measured with its frame, and returns whether to
// draw it.
std::vector<FrameTime> time_frames(const Stage& stage, const std::function<bool(app::window::App&, int)>& each);

}  // namespace headroom::tests
