// The window's content: pages, their models, and what is drawn each frame. Knows ImGui, but no platform.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/session.h"
#include "app/common/settings.h"
#include "app/page/page_model.h"
#include "app/window/draw/markdown.h"
#include "app/window/shell/ui_state.h"
#include "app/window/views/figure_card.h"
#include "app/window/views/kernel_editor.h"
#include "app/window/views/ladder_view.h"
#include "app/window/views/report_view.h"
#include "app/window/views/sweep_run.h"

namespace headroom::app::window {

struct AppOptions {
  std::filesystem::path assets;
  std::string page;              // id; empty: as the settings say
  std::optional<ThemeId> theme;  // else as the settings say
  std::optional<float> scale;
  std::shared_ptr<const record::Recording> from;  // replaces what the pages have stored
  std::string from_name;
  float display_scale = 1;
  backend::Backend* runner = nullptr;  // instead of the session's; not owned
  backend::Backend* planner = nullptr;
  SweepRun::MakeBackend make_backend;  // fresh ones, for sweeps; else the session's engine
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

  UiState& ui() { return ui_; }
  page::PageModel& page() { return *page_; }
  const FigureCard& figure() const { return figure_; }
  const KernelEditor& editor() const { return editor_; }
  const LadderView& ladder() const { return ladder_; }
  const SweepRun& sweep() const { return sweep_; }
  bool running() const;  // a run of any page

 private:
  App(AppOptions options, Session session, SettingsFile* settings);

  record::Status open(const lessons::Page& page);
  page::PageSources sources();
  void start_engines();
  bool poll_backends();
  std::shared_ptr<const record::Recording> stored(std::string_view name);
  void load_next_recording();
  PageFrame frame_of(double now, float effective_width);
  void draw_page(PageFrame& frame, const Rect& rect, Turn& turn);
  void draw_narrow(PageFrame& frame, Rect rect, Turn& turn);
  void draw_card(PageFrame& frame, const Rect& rect);
  void turn_page(Turn turn);
  void keep_settings();

  AppOptions options_;
  Session session_;
  SettingsFile* settings_;
  UiState ui_;
  std::unique_ptr<Markdown> markdown_;
  FigureCard figure_;
  KernelEditor editor_;
  SweepRun sweep_;
  LadderView ladder_{sweep_};
  ReportView report_{sweep_};
  std::vector<std::unique_ptr<backend::Backend>> replays_;
  backend::Backend* runner_ = nullptr;  // null: not started yet, or there is none
  backend::Backend* planner_ = nullptr;
  bool drawn_ = false;  // the first picture stands
  std::map<const lessons::Page*, std::unique_ptr<page::PageModel>> pages_;
  page::PageModel* page_ = nullptr;
  std::vector<const lessons::Page*> read_;
  struct ToLoad {
    page::PageModel* page;
    std::string_view recording;
  };
  std::vector<ToLoad> to_load_;
};

}  // namespace headroom::app::window
