// The pages that are open: their texts and recordings, and the engines that all of them share.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/kept_runs.h"
#include "app/common/session.h"
#include "app/window/views/page_view.h"
#include "app/window/widgets/sweep_run.h"
#include "lessons/pages/course.h"

namespace headroom::app::window {

struct LibraryOptions {
  std::filesystem::path assets;
  std::shared_ptr<const record::Recording> from;  // shown instead of what the pages that show it have stored
  std::string from_name;
  backend::Backend* runner = nullptr;  // instead of the session's; not owned, as is the next
  Predictions* predictions = nullptr;
  SweepDriver::MakeBackend make_backend;  // fresh ones, for sweeps; else the session's engine
};

class PageLibrary {
 public:
  PageLibrary(LibraryOptions options, Session session, KeptRuns kept);

  const lessons::Course& course() const { return course_; }
  // A page that was open before is as the reader left it.
  record::Result<PageView*> open(const lessons::Page& page);
  // Not before the first picture: loading an engine takes the processor from the drawing.
  void start_engines();
  // Takes in what has arrived, for all pages. True: something changed.
  bool poll(double now);
  bool running() const;  // a run of any page
  // Where the engine is, as it said; empty: not yet, or there is none.
  std::vector<protocol::DeviceFacts> devices() const;
  // Nothing can be run: there is no engine, or it does not start.
  bool no_engine() const;
  bool awaits_prediction() const { return predictions_ != nullptr && predictions_->busy(); }
  // What went wrong with a stored recording since the last call; mostly empty.
  std::string take_notice();

 private:
  record::Result<PageView*> find_or_make(const lessons::Page& page);
  page::PageSources sources(const lessons::Page& page);
  bool is_for_given(const lessons::Page& page) const;
  bool poll_backends();
  std::shared_ptr<const record::Recording> stored(std::string_view name);
  std::shared_ptr<const record::Recording> read(const std::filesystem::path& path);
  void keep_runs();
  void load_next_recording();

  LibraryOptions options_;
  lessons::Course course_;
  Session session_;
  KeptRuns kept_;
  SweepEngines engines_;
  backend::Backend* runner_ = nullptr;  // null: not started yet, or there is none
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
  std::map<std::string, const page::PageModel*> calculators_;  // by schema: where the reader set it last
  std::string notice_;
};

}  // namespace headroom::app::window
