// The window's content.
#include "app/window/shell/app.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/window/draw/widgets.h"
#include "app/window/shell/chrome.h"
#include "app/window/shell/keys.h"
#include "app/window/views/comparison_view.h"
#include "app/window/views/export_view.h"
#include "app/window/views/settings_view.h"
#include "app/window/views/text_column.h"
#include "demos/experiments/demo.h"

namespace headroom::app::window {

namespace {

// Below this the page scrolls instead of shrinking (px at scale 1).
constexpr float kLeastWidth = 640, kLeastHeight = 340;

// The page's size in a window of this size: no less than the least, with room for the scroll bars that this takes.
ImVec2 page_size(ImVec2 window) {
  const float bar = ImGui::GetStyle().ScrollbarSize;
  const ImVec2 least{px(kLeastWidth), px(kLeastHeight)};
  const float width = window.y < least.y ? window.x - bar : window.x;
  const float height = width < least.x ? window.y - bar : window.y;
  return {std::max(width, least.x), std::max(height, least.y)};
}

bool is_base(const lessons::Page& page, std::string_view recording) {
  return std::find(page.bases.begin(), page.bases.end(), recording) != page.bases.end();
}

const lessons::Page& first_page() { return *lessons::chapters().front()->pages.front(); }

}  // namespace

App::App(AppOptions options, Session session, SettingsFile* settings)
    : options_(std::move(options)), session_(std::move(session)), settings_(settings) {
  const Settings kept = settings_ == nullptr ? Settings{} : settings_->values();
  ui_.theme = options_.theme.value_or(theme_from(kept.theme));
  ui_.font_scale = options_.scale.value_or(static_cast<float>(kept.font_scale));
  ui_.display_scale = options_.display_scale;
  ui_.assets = options_.assets;
  if (settings_ != nullptr) ui_.notice = settings_->notice();
  if (options_.page.empty()) options_.page = kept.page;
  runner_ = options_.runner;
  planner_ = options_.planner;
  if (options_.make_backend)
    sweep_.use(options_.make_backend);
  else if (session_.has_engine() && options_.from == nullptr)
    sweep_.use([command = *session_.engine().command] { return backend::make_engine(command); });
}

record::Result<std::unique_ptr<App>> App::create(AppOptions options, Session session, SettingsFile* settings) {
  const bool asked = !options.page.empty();
  std::unique_ptr<App> app(new App(std::move(options), std::move(session), settings));
  const lessons::Page* page = lessons::find_page(app->options_.page);
  if (page == nullptr && asked)
    return record::Error{fmt::format("There is no page \"{}\": `headroom list` names them all.", app->options_.page)};
  const record::Status opened = app->open(page == nullptr ? first_page() : *page);
  if (!opened) return opened.error();
  return app;
}

record::Status App::load_look() {
  const std::filesystem::path fonts = options_.assets / "fonts";
  const record::Status loaded = load_faces(fonts);
  if (!loaded) return loaded;
  apply_look(ui_.theme, ui_.scale());
  markdown_ = std::make_unique<Markdown>(fonts, page::read_glossary(options_.assets / "text" / "glossary.md"));
  return record::Ok{};
}

// Null where it is missing: not every copy of the program ships every recording. One that is damaged is said so.
std::shared_ptr<const record::Recording> App::stored(std::string_view name) {
  const std::filesystem::path path = recording_path(options_.assets, name);
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return nullptr;
  auto loaded = load_recording(path);
  if (loaded) return std::move(loaded).value();
  ui_.notice = loaded.error().message;
  return nullptr;
}

page::PageSources App::sources() {
  page::PageSources sources;
  sources.runner = runner_;
  sources.planner = planner_;
  if (options_.from != nullptr) {
    sources.stored.push_back(options_.from);
    sources.fixed_settings = fmt::format(
        "These are the settings that {} was made with. Start without --from to change them.", options_.from_name);
  } else if (!session_.has_engine()) {
    sources.fixed_settings = session_.why_no_engine();
  }
  if (options_.runner != nullptr) sources.fixed_settings.clear();
  if (!sources.fixed_settings.empty())
    sources.replay_of = [this](const std::shared_ptr<const record::Recording>& recording) {
      replays_.push_back(backend::make_replay(recording, backend::ReplayPace::kAsRecorded));
      return replays_.back().get();
    };
  return sources;
}

// Not before the first picture: loading an engine takes the processor from the drawing.
void App::start_engines() {
  if (runner_ != nullptr || planner_ != nullptr || !session_.has_engine()) return;
  if (options_.from == nullptr) runner_ = session_.runner();
  planner_ = session_.planner();
  for (const auto& [page, model] : pages_) model->use(runner_, planner_);
}

record::Status App::open(const lessons::Page& page) {
  if (const auto known = pages_.find(&page); known != pages_.end()) {
    page_ = known->second.get();
    page_->reopen();
    return record::Ok{};
  }
  auto text = page::read_page(options_.assets / "text" / page.text);
  if (!text) return text.error();
  const experiments::DemoInfo* demo = experiments::find_demo(page.demo);
  if (demo == nullptr)
    return record::Error{fmt::format("The page {} names the demo {}, which is not there.", page.id, page.demo)};
  page::PageSources sources = this->sources();
  // One recording shows at once; the others come while the reader reads.
  auto name = options_.from == nullptr ? page.recordings.begin() : page.recordings.end();
  for (; sources.stored.empty() && name != page.recordings.end(); ++name)
    if (auto recording = stored(*name)) {
      if (is_base(page, *name)) sources.bases.push_back(recording);
      sources.stored.push_back(std::move(recording));
    }
  auto model = std::make_unique<page::PageModel>(page, std::move(text).value(), *demo, std::move(sources));
  page_ = model.get();
  for (; name != page.recordings.end(); ++name) to_load_.push_back({page_, *name});
  pages_[&page] = std::move(model);
  ui_.reading_more = ui_.drawer = ui_.figure_face = false;
  return record::Ok{};
}

// One recording a call: opening a page never waits for all of them.
void App::load_next_recording() {
  if (to_load_.empty()) return;
  const ToLoad next = to_load_.front();
  to_load_.erase(to_load_.begin());
  if (auto recording = stored(next.recording))
    next.page->add_stored(std::move(recording), is_base(next.page->page(), next.recording));
}

bool App::running() const {
  return sweep_.running() ||
         std::any_of(pages_.begin(), pages_.end(), [](const auto& each) { return each.second->control().running(); });
}

// Each once, for all pages: who polls is told what changed, and nobody after that.
bool App::poll_backends() {
  bool news = runner_ != nullptr && runner_->poll();
  if (planner_ != nullptr) news = planner_->poll() || news;
  for (const auto& replay : replays_) news = replay->poll() || news;
  return news;
}

bool App::poll(double now) {
  if (drawn_) start_engines();
  const bool news = poll_backends();
  bool changed = news;
  for (const auto& [page, model] : pages_) changed = model->poll(now, news) || changed;
  changed = sweep_.poll() || changed;
  if (!to_load_.empty()) {
    load_next_recording();
    changed = true;
  }
  return changed;
}

void App::before_frame() {
  if (theme().id != ui_.theme || look().scale != ui_.scale()) apply_look(ui_.theme, ui_.scale());
}

PageFrame App::frame_of(double now, float effective_width) {
  PageFrame frame{ui_, *page_, *markdown_, width_class(effective_width), now, {}};
  const auto chapters = lessons::chapters();
  for (int c = 0; c < static_cast<int>(chapters.size()); ++c) {
    const lessons::Chapter& chapter = *chapters[static_cast<std::size_t>(c)];
    const auto at = std::find(chapter.pages.begin(), chapter.pages.end(), &page_->page());
    if (at == chapter.pages.end()) continue;
    frame.place.chapter = c;
    frame.place.page = static_cast<int>(at - chapter.pages.begin());
    frame.place.pages = static_cast<int>(chapter.pages.size());
    frame.place.chapter_title = chapter.title;
    frame.place.has_previous = c > 0 || frame.place.page > 0;
    frame.place.has_next = c + 1 < static_cast<int>(chapters.size()) || frame.place.page + 1 < frame.place.pages;
  }
  const lessons::FigureData& figure = page_->figure(figure_.columns());
  const lessons::Axis& axis = lessons::guess_axis(figure);
  const lessons::AxisUnit asked = page_->question().unit();
  const bool drawn = figure.empty_reason.empty() && axis.unit == asked;
  const paint::ByteUnit unit = paint::guess_unit(asked, drawn ? axis.high : static_cast<double>(record::kGiB));
  frame.guess_unit = unit.bytes;
  frame.guess_unit_name = unit.name;
  return frame;
}

void App::draw_card(PageFrame& frame, const Rect& rect) {
  const bool wide = frame.width == Width::kWide;
  card(rect);
  Rect inner = wide ? rect.inset(px(20)) : rect.inset(px(12));
  const Rect head = inner.cut_top(px(wide ? 30 : 28));
  inner.cut_top(px(wide ? 12 : 6));
  const Rect settings = inner.cut_bottom(px(2 * 64 - 12));
  horizontal_line(rect.x0 + 1, rect.x1 - 1, settings.y0 - px(wide ? 16 : 10), theme().hairline);
  inner.cut_bottom(px(wide ? 32 : 20));
  if (const float height = comparison_height(frame); height > 0) {
    draw_comparison(frame, inner.cut_bottom(px(height)));
    inner.cut_bottom(px(wide ? 12 : 8));
  }
  Rect whole{head.x0, head.y0, head.x1, inner.y1};
  const bool laddered = LadderView::serves(frame.page);
  if (laddered) ladder_.draw(frame, whole);
  if (laddered) {
    figure_.draw_head(frame, whole.cut_top(px(wide ? 30 : 28)));
    whole.cut_top(px(wide ? 12 : 6));
    figure_.draw_picture(frame, whole);
  } else if (!KernelEditor::serves(frame.page)) {
    figure_.draw_head(frame, head);
    figure_.draw_picture(frame, inner);
  } else if (editor_.draw(frame, whole)) {
    figure_.draw_head(frame, whole.cut_top(px(28)));
    figure_.draw_picture(frame, whole);
  }
  if (ReportView::serves(frame.page))
    report_.draw(frame, settings);
  else
    draw_settings(frame, settings);
}

void App::draw_page(PageFrame& frame, const Rect& rect, Turn& turn) {
  if (frame.width == Width::kNarrow) {
    draw_narrow(frame, rect, turn);
    return;
  }
  const bool wide = frame.width == Width::kWide;
  Rect rest = rect;
  const Rect text = rest.cut_left(px(wide ? 416 : 316));
  rest.cut_left(px(wide ? 24 : 16));
  turn = draw_text_column(frame, text);
  draw_card(frame, rest);
}

// Text and figure become two faces of the page.
void App::draw_narrow(PageFrame& frame, Rect rect, Turn& turn) {
  const Rect head = rect.cut_top(px(30));
  rect.cut_top(px(8));
  const std::vector<std::string> faces{"Read", "Figure"};
  int face = ui_.figure_face ? 1 : 0;
  if (segmented("face", head.left(px(150)), faces, face)) ui_.figure_face = face == 1;
  if (!ui_.figure_face) {
    ui_.timeline_focus = false;
    turn = draw_text_column(frame, rect);
    return;
  }
  Rect middle{head.x0 + px(150 + 16), head.y0, head.x1, head.y1};
  const bool listed = page_->figure(figure_.columns()).cursor.has_value();
  ui_.drawer = ui_.drawer && listed;
  if (listed) {
    const ButtonText list{"Alive here", Icon::kLayers};
    const float list_width = button_width(list);
    if (button("drawer", {head.x1 - list_width, head.y0, head.x1, head.y1}, list)) ui_.drawer = !ui_.drawer;
    middle.x1 -= list_width + px(8);
  }
  figure_.draw_head(frame, middle);

  const bool open = page_->question().hides();
  const bool report = ReportView::serves(frame.page) && !open;
  Rect foot = rect.cut_bottom(px(report ? 96 : 34));
  rect.cut_bottom(px(10));
  if (const float below = draw_notice(frame, rect); below > rect.y0) rect.y0 = below + px(8);
  card(rect);
  Rect inner = rect.inset(px(12));
  if (LadderView::serves(frame.page) && inner.width() > px(560)) ladder_.draw(frame, inner);
  if (!KernelEditor::serves(frame.page) || editor_.draw(frame, inner)) figure_.draw_picture(frame, inner);
  if (ui_.drawer) figure_.draw_drawer(frame, Rect(rect).inset(px(8)).right(px(240)));
  if (report) {
    report_.draw(frame, foot);
    return;
  }

  const ButtonText lock{"Lock answer", Icon::kNone, "Enter"}, run{"Run", Icon::kPlay},
      stop{"Cancel", Icon::kStop, "Esc"};
  const bool running = page_->control().running();
  const ButtonText& act = open ? lock : running ? stop : run;
  const bool acts = open || has_run_button(frame);
  const float act_width = acts ? button_width(act) : -px(8);
  const Rect at{foot.x1 - act_width, foot.y0, foot.x1, foot.y1};
  if (acts && button("act", at, act, running && !open ? ButtonKind::kSecondary : ButtonKind::kPrimary)) {
    if (open)
      lock_answer(frame);
    else if (running)
      page_->cancel();
    else
      page_->run(frame.now);
  }
  foot.x1 = at.x0 - px(8);
  if (open) {
    const ButtonText skip{"Skip", Icon::kNone, "", "Show the answer without a guess"};
    const float width = button_width(skip);
    if (button("skip", {foot.x1 - width, foot.y0, foot.x1, foot.y1}, skip)) page_->question().skip();
    foot.x1 -= width + px(8);
  }
  draw_settings_folded(frame, foot);
}

void App::turn_page(Turn turn) {
  if (turn == Turn::kStay) return;
  std::vector<const lessons::Page*> all;
  for (const lessons::Chapter* chapter : lessons::chapters())
    all.insert(all.end(), chapter->pages.begin(), chapter->pages.end());
  const auto at = std::find(all.begin(), all.end(), &page_->page());
  const std::ptrdiff_t to = (at - all.begin()) + (turn == Turn::kOn ? 1 : -1);
  if (to < 0 || to >= std::ssize(all)) return;
  const record::Status opened = open(*all[static_cast<std::size_t>(to)]);
  if (!opened) ui_.notice = opened.error().message;
}

void App::keep_settings() {
  if (settings_ == nullptr) return;
  const Settings now{std::string(page_->page().id), std::string(key_of(ui_.theme)), ui_.font_scale};
  if (now == settings_->values()) return;
  const std::string before = settings_->notice();
  settings_->save(now);
  if (settings_->notice() != before) ui_.notice = settings_->notice();
}

void App::draw(double now) {
  const ImGuiViewport* viewport = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport->Pos);
  ImGui::SetNextWindowSize(viewport->Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::Begin("headroom", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_HorizontalScrollbar |
                   ImGuiWindowFlags_NoScrollWithMouse * (viewport->Size.y >= px(kLeastHeight)));
  ImGui::PopStyleVar();

  const ImVec2 origin = ImGui::GetCursorScreenPos();  // moves when the page scrolls
  const ImVec2 size = page_size(viewport->Size);
  const Rect whole{origin.x, origin.y, origin.x + size.x, origin.y + size.y};
  PageFrame frame = frame_of(now, size.x / look().scale);
  const PageLayout layout = page_layout(whole, frame.width);
  markdown_->begin_frame();
  Turn turn = take_keys(frame, figure_);

  fill(whole, theme().canvas);
  const PageChoice choice = draw_rail(frame, layout.rail, read_);
  draw_top_bar(frame, layout.top);
  Turn clicked = Turn::kStay;
  draw_page(frame, layout.page, clicked);
  const auto devices = page_->control().backend() == nullptr ? std::vector<protocol::DeviceFacts>{}
                                                             : page_->control().backend()->devices();
  draw_status_bar(frame, layout.status, devices);
  draw_keys(frame);
  draw_export(frame);
  ui_.lit = markdown_->pointed_at() ? markdown_->pointed_at() : figure_.pointed_at();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
  ImGui::End();

  const page::Question::State state = page_->question().state();
  const bool done = state != page::Question::State::kOpen && state != page::Question::State::kWaiting;
  if (done && std::find(read_.begin(), read_.end(), &page_->page()) == read_.end()) read_.push_back(&page_->page());
  if (choice.chapter >= 0) {
    const record::Status opened = open(
        *lessons::chapters()[static_cast<std::size_t>(choice.chapter)]->pages[static_cast<std::size_t>(choice.page)]);
    if (!opened) ui_.notice = opened.error().message;
  }
  turn_page(clicked != Turn::kStay ? clicked : turn);
  keep_settings();
  drawn_ = true;
}

}  // namespace headroom::app::window
