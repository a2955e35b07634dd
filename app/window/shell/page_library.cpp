// The open pages.
#include "app/window/shell/page_library.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/page/page_facts.h"
#include "demos/experiments/demo.h"

namespace headroom::app::window {

namespace {

bool is_base(const lessons::Page& page, std::string_view recording) {
  return std::find(page.bases.begin(), page.bases.end(), recording) != page.bases.end();
}

// The settings of `page`, with what the reader changed on the page of `last`.
record::Params carried_over(const lessons::Page& page, const page::PageModel& last) {
  record::Params settings = lessons::settings_of(page);
  const record::Params &now = last.settings(), begin = lessons::settings_of(last.page());
  for (const record::ParamSpec& spec : now.schema())
    if (now.as_text(spec.key) != begin.as_text(spec.key))
      (void)settings.set(spec.key, std::string_view(now.as_text(spec.key)));
  return settings;
}

}  // namespace

PageLibrary::PageLibrary(LibraryOptions options, Session session, KeptRuns kept)
    : options_(std::move(options)),
      course_(lessons::Course::load(options_.assets)),
      session_(std::move(session)),
      kept_(std::move(kept)),
      runner_(options_.runner),
      predictions_(options_.predictions) {
  if (options_.make_backend)
    engines_.make = options_.make_backend;
  else if (session_.has_engine())
    engines_.make = [command = *session_.engine().command] { return backend::make_engine(command); };
}

// Null if this installation does not include the recording.
std::shared_ptr<const record::Recording> PageLibrary::stored(std::string_view name) {
  const std::filesystem::path path = recording_path(options_.assets, name);
  return read(path);
}

std::shared_ptr<const record::Recording> PageLibrary::read(const std::filesystem::path& path) {
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return nullptr;
  auto loaded = load_recording(path);
  if (loaded) return std::move(loaded).value();
  notice_ = loaded.error().message;
  return nullptr;
}

page::PageSources PageLibrary::sources(const lessons::Page& page) {
  page::PageSources sources;
  if (page.demo.empty()) return sources;  // nothing runs on this page
  sources.runner = runner_;
  sources.files_here = !session_.engine().elsewhere();
  sources.predictions = predictions_;
  if (&page == given_to_) sources.given = options_.from;
  if (options_.runner == nullptr) {
    sources.why_no_engine = session_.why_no_engine();
    // Other demos have no closed form that follows their settings.
    if (!experiments::trains(page.demo)) sources.fixed_settings = sources.why_no_engine;
  }
  return sources;
}

void PageLibrary::start_engines() {
  if (runner_ != nullptr || predictions_ != nullptr || !session_.has_engine()) return;
  runner_ = session_.later_runner();
  predictions_ = session_.predictions();
  for (const auto& [page, view] : pages_)
    if (!page->demo.empty()) view->model().use(runner_, predictions_);
}

record::Result<PageView*> PageLibrary::open(const lessons::Page& page) {
  auto opened = find_or_make(page);
  if (!opened) return opened;
  if (!page.schema.empty()) {
    const page::PageModel*& last = calculators_[page.schema];
    page::PageModel& model = opened.value()->model();
    if (last != nullptr && last != &model) model.adopt(carried_over(page, *last));
    last = &model;
  }
  mine_.open(opened.value()->model());
  return opened;
}

record::Result<PageView*> PageLibrary::find_or_make(const lessons::Page& page) {
  if (const auto known = pages_.find(&page); known != pages_.end()) {
    known->second->reopen();
    return known->second.get();
  }
  const experiments::DemoInfo* info = lessons::demo_or_schema(page);
  if (info == nullptr)
    return record::Error{fmt::format("The page {} names a demo or schema that does not exist.", page.id)};
  page::PageSources sources = this->sources(page);
  // One recording is shown at once; the others load later.
  std::vector<std::string> names = lessons::recordings_in_turn(page);
  const bool given = &page == given_to_;
  auto name = given ? names.end() : names.begin();
  auto view = std::make_unique<PageView>(std::make_unique<page::PageModel>(page, *info, std::move(sources)), engines_);
  for (; view->model().runs().all().empty() && name != names.end(); ++name)
    if (auto recording = stored(*name))
      view->model().add_run(std::move(recording), page::RunOnShow::From::kPage, *name, is_base(page, *name));
  using As = ToLoad::As;
  for (; name != names.end(); ++name) to_load_.push_back({&view->model(), std::move(*name)});
  for (const std::string& beside : page.beside) to_load_.push_back({&view->model(), beside, As::kBeside});
  if (!given && !page.demo.empty())
    for (std::string& kept : kept_.of_page(page.id)) to_load_.push_back({&view->model(), std::move(kept), As::kKept});
  return (pages_[&page] = std::move(view)).get();
}

// Loads one recording per call, so that opening a page never waits.
void PageLibrary::load_next_recording() {
  if (to_load_.empty()) return;
  const ToLoad next = to_load_.front();
  to_load_.erase(to_load_.begin());
  using As = ToLoad::As;
  auto recording = next.as == As::kKept ? read(kept_.path_of(next.recording)) : stored(next.recording);
  if (recording == nullptr) return;
  if (next.as == As::kKept)
    next.page->add_run(std::move(recording), page::RunOnShow::From::kEarlierStart, next.recording);
  else if (next.as == As::kBeside)
    next.page->runs().add_beside(std::move(recording));
  else
    next.page->add_run(std::move(recording), page::RunOnShow::From::kPage, next.recording,
                       is_base(next.page->page(), next.recording));
}

bool PageLibrary::running() const {
  return std::any_of(pages_.begin(), pages_.end(), [](const auto& each) { return each.second->running(); });
}

std::vector<protocol::DeviceFacts> PageLibrary::devices() const {
  if (runner_ != nullptr) return runner_->devices();
  return predictions_ == nullptr ? std::vector<protocol::DeviceFacts>{} : predictions_->machine().devices;
}

bool PageLibrary::no_engine() const {
  const bool never_there = predictions_ != nullptr && !predictions_->trouble().empty() && devices().empty();
  return never_there || (options_.runner == nullptr && !session_.has_engine());
}

// Polls each backend once per frame, because poll() reports a change only to its first caller.
bool PageLibrary::poll_backends() {
  bool news = runner_ != nullptr && runner_->poll();
  if (predictions_ != nullptr) news = predictions_->poll() || news;
  return news;
}

// Saves finished runs and deletes the files of forgotten ones.
void PageLibrary::keep_runs() {
  for (const auto& [page, view] : pages_) {
    page::PageModel& model = view->model();
    for (const std::string& name : model.runs().take_forgotten()) kept_.forget(name);
    const page::RunOnShow* const run = model.runs().take_unkept(model.control().running());
    if (run == nullptr) continue;
    auto name = kept_.keep(*run->recording, page->id);
    if (!name)
      notice_ = name.error().message + " The run is kept until the window closes.";
    else if (!name.value().empty())
      model.runs().note_kept(*run, std::move(name).value());
  }
}

bool PageLibrary::poll(double now) {
  const bool news = poll_backends();
  bool changed = news;
  for (const auto& [page, view] : pages_) changed = view->poll(now, news) || changed;
  keep_runs();
  if (!to_load_.empty()) {
    load_next_recording();
    changed = true;
  }
  return changed;
}

std::string PageLibrary::take_notice() { return std::exchange(notice_, {}); }

}  // namespace headroom::app::window
