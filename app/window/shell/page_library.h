// The open pages: their texts, recordings and shared engines.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/kept_runs.h"
#include "app/common/session.h"
#include "app/page/settings/my_settings.h"
#include "app/window/views/page_view.h"
#include "app/window/widgets/sweep_run.h"
#include "lessons/pages/course.h"

namespace headroom::app::window {

struct LibraryOptions {
  std::filesystem::path assets;
  std::shared_ptr<const record::Recording> from;  // replaces the stored runs of one page
  std::string from_name;
  backend::Backend* runner = nullptr;  // replaces the session's backend; neither `runner` nor `predictions` is owned
  Predictions* predictions = nullptr;
  SweepDriver::MakeBackend make_backend;  // for sweeps; if empty, the session's engine
};

class PageLibrary {
 public:
  PageLibrary(LibraryOptions options, Session session, KeptRuns kept);

  const lessons::Course& course() const { return course_; }
  page::MySettings& mine() { return mine_; }
  // The page that shows LibraryOptions::from instead of its stored runs.
  void give_run_to(const lessons::Page& page) { given_to_ = &page; }
  // A reopened page is as the reader left it.
  record::Result<PageView*> open(const lessons::Page& page);
  // Call after the first frame: loading an engine slows the drawing.
  void start_engines();
  bool poll(double now);
  bool running() const;
  // The engine's devices; empty: not reported yet, or no engine.
  std::vector<protocol::DeviceFacts> devices() const;
  // True if there is no engine, or it does not start.
  bool no_engine() const;
  bool awaits_prediction() const { return predictions_ != nullptr && predictions_->busy(); }
  // Problems with recordings since the last call.
  std::string take_notice();

 private:
  record::Result<PageView*> find_or_make(const lessons::Page& page);
  page::PageSources sources(const lessons::Page& page);
  bool poll_backends();
  std::shared_ptr<const record::Recording> stored(std::string_view name);
  std::shared_ptr<const record::Recording> read(const std::filesystem::path& path);
  void keep_runs();
  void load_next_recording();

  LibraryOptions options_;
  lessons::Course course_;
  Session session_;
  KeptRuns kept_;
  const lessons::Page* given_to_ = nullptr;
  page::MySettings mine_;
  SweepEngines engines_;
  backend::Backend* runner_ = nullptr;  // null: not started, or none
  Predictions* predictions_ = nullptr;
  std::map<const lessons::Page*, std::unique_ptr<PageView>> pages_;
  struct ToLoad {
    page::PageModel* page;
    std::string recording;
    enum class As : unsigned char {
      kStored,
      kKept,
      kBeside
    } as = As::kStored;  // shipped, the reader's, of another demo
  };
  std::vector<ToLoad> to_load_;
  std::map<std::string, const page::PageModel*> calculators_;  // by schema: the page that the reader set last
  std::string notice_;
};

}  // namespace headroom::app::window
