// The window's content: which page is read, and what surrounds it. Knows ImGui, but no platform.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/settings.h"
#include "app/page/history.h"
#include "app/page/link.h"
#include "app/window/draw/markdown.h"
#include "app/window/shell/finder_view.h"
#include "app/window/shell/glossary_view.h"
#include "app/window/shell/page_library.h"
#include "app/window/shell/ui_state.h"

namespace headroom::app::window {

struct AppOptions {
  LibraryOptions pages;
  std::string page;              // id or link; empty: as the settings say
  std::optional<ThemeId> theme;  // else as the settings say
  std::optional<float> scale;
  float display_scale = 1;
  bool present = false;  // begins on stage
};

class App {
 public:
  // Before the fonts are loaded; page texts are read now. `settings` may be null: nothing is kept.
  static record::Result<std::unique_ptr<App>> create(AppOptions options, Session session, SettingsFile* settings);

  // Once ImGui and its renderer are up; before the renderer goes down.
  record::Status load_look();
  void drop_look() { markdown_.reset(); }

  // Takes in what has arrived. True: draw a frame.
  bool poll(double now);
  // Between frames: style and scale follow the state.
  void before_frame();
  void draw(double now);
  // What was done last is in the settings' file from here on.
  void keep_all();

  // Another page, from the next frame on; one that cannot be opened says so and leaves this one. `step`: of Read more.
  void go_to(const lessons::Page& page, int step = -1);
  // A page and its state. What does not exist is said, and the rest is done.
  void open_link(std::string_view text);

  UiState& ui() { return ui_; }
  const lessons::Course& course() const { return library_.course(); }
  PageView& view() { return *view_; }
  page::PageModel& page() { return view_->model(); }
  bool running() const { return library_.running(); }  // a run of any page
  bool awaits_prediction() const { return library_.awaits_prediction(); }

 private:
  App(AppOptions options, Session session, SettingsFile* settings);

  record::Status open(const lessons::Page& page);
  Place place() const;
  void draw_window(double now, ImVec2 viewport);
  void turn_page(Turn turn);
  void go_where_i_was(int direction);
  void note_visit();
  void apply_link(const page::Link& link);
  void want_step(int step);
  // What was chosen in the list of everything.
  Turn follow(const page::Findable& chosen, PageFrame& frame);
  void draw_ways(PageFrame& frame, Turn& turn);
  void note_read();
  void recall_page();
  PageMemory memory_of_page();
  // At most once per second, but for the page, the theme and the font scale.
  void keep_settings(double now);

  UiState ui_;
  SettingsFile* settings_;
  PageLibrary library_;
  FinderView finder_;
  GlossaryView glossary_;
  std::unique_ptr<Markdown> markdown_;
  PageView* view_ = nullptr;
  page::History history_;
  std::optional<int> wanted_step_;  // of Read more, from the next frame on
  bool drawn_ = false;              // the first picture is there
  std::vector<const lessons::Page*> read_;
  std::vector<const lessons::Page*> recalled_;
  double kept_at_ = 0;
};

}  // namespace headroom::app::window
