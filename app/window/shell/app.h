// The window's content: the current page and what surrounds it. Uses ImGui, but no platform.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/settings.h"
#include "app/page/link.h"
#include "app/page/settings/history.h"
#include "app/window/draw/markdown.h"
#include "app/window/shell/finder_view.h"
#include "app/window/shell/page_library.h"
#include "app/window/shell/ui_state.h"

namespace headroom::app::window {

struct AppOptions {
  LibraryOptions pages;
  std::string page;  // id or link; empty: from the settings
  std::optional<ThemeId> theme;
  std::optional<float> scale;
  float display_scale = 1;
  bool present = false;  // starts on stage
};

class App {
 public:
  // Reads the page texts; fonts are loaded later. `settings` may be null; then nothing is saved.
  static record::Result<std::unique_ptr<App>> create(AppOptions options, Session session, SettingsFile* settings);

  // Call load_look() after ImGui's renderer is up, and drop_look() before it shuts down.
  record::Status load_look();
  void drop_look() { markdown_.reset(); }

  // Polls the engines. True if a frame is needed.
  bool poll(double now);
  // Call between frames.
  void before_frame();
  void draw(double now);
  // Writes the latest state to the settings file.
  void keep_all();

  // Opens a page from the next frame on, or reports why it cannot. `step`: the step of Read more.
  void go_to(const lessons::Page& page, int step = -1);
  // Restores the link's state as far as it exists.
  void open_link(std::string_view text);
  // Opens a recording on the page that shows it, or takes a model's folder, or says what a file must be.
  void open_file(const std::filesystem::path& path);

  UiState& ui() { return ui_; }
  const lessons::Course& course() const { return library_.course(); }
  PageView& view() { return *view_; }
  page::PageModel& page() { return view_->model(); }
  bool running() const { return library_.running(); }
  bool awaits_prediction() const { return library_.awaits_prediction(); }

 private:
  App(AppOptions options, Session session, SettingsFile* settings);

  record::Status open(const lessons::Page& page);
  Place place() const;
  void draw_window(double now, ImVec2 viewport);
  void turn_page(Turn turn);
  void go_where_i_was(int direction);
  void note_visit();
  // A link with settings but without a page is for the bench.
  std::string id_of(const page::Link& link) const;
  void apply_link(const page::Link& link);
  void want_step(int step);
  Turn follow(const page::Findable& chosen, PageFrame& frame);
  void act(const page::Findable& chosen, PageFrame& frame);
  void draw_ways(PageFrame& frame, Turn& turn);
  void note_read();
  void recall_page();
  void recall_mine(const Settings& kept);
  void keep_mine(Settings& wanted);
  PageMemory memory_of_page();
  // Saves at most once per second, apart from page, theme and font scale.
  void keep_settings(double now);

  UiState ui_;
  SettingsFile* settings_;
  PageLibrary library_;
  FinderView finder_;
  GlossaryView glossary_;
  std::unique_ptr<Markdown> markdown_;
  PageView* view_ = nullptr;
  page::History history_;
  std::optional<int> wanted_step_;  // step of Read more for the next frame
  bool drawn_ = false;
  std::vector<const lessons::Page*> read_;
  std::vector<const lessons::Page*> recalled_;
  double kept_at_ = 0;
};

}  // namespace headroom::app::window
