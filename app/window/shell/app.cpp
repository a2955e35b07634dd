// The window's content.
#include "app/window/shell/app.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/common/plan/card_words.h"
#include "app/page/page_facts.h"
#include "app/window/shell/chrome.h"
#include "app/window/shell/keys.h"
#include "app/window/views/views.h"
#include "demos/record/text.h"
#include "imgui_internal.h"  // NavHighlightItemUnderNav

namespace headroom::app::window {

namespace {

// Px at scale 1; the page scrolls in smaller windows.
constexpr float kLeastWidth = 640, kLeastHeight = 340;

// The page's size, at least the minimum, with room for scroll bars.
ImVec2 page_size(ImVec2 window) {
  const float bar = ImGui::GetStyle().ScrollbarSize;
  const ImVec2 least{px(kLeastWidth), px(kLeastHeight)};
  const float width = window.y < least.y ? window.x - bar : window.x;
  const float height = width < least.x ? window.y - bar : window.y;
  return {std::max(width, least.x), std::max(height, least.y)};
}

std::string in_words(const lessons::Problems& problems) {
  const std::string first = problems.front().text();
  return problems.size() == 1
             ? first
             : fmt::format("{} (and {} more: `headroom doctor` names them)", first, problems.size() - 1);
}

}  // namespace

App::App(AppOptions options, Session session, SettingsFile* settings)
    : settings_(settings),
      library_(options.pages, std::move(session),
               KeptRuns(settings == nullptr ? std::filesystem::path() : settings->runs_folder())),
      finder_(library_.course()),
      glossary_(library_.course()) {
  const Settings kept = settings_ == nullptr ? Settings{} : settings_->values();
  ui_.theme = options.theme.value_or(theme_from(kept.theme));
  ui_.stage = options.present;
  ui_.font_scale = options.scale.value_or(static_cast<float>(kept.font_scale));
  ui_.display_scale = options.display_scale;
  ui_.assets = options.pages.assets;
  if (settings_ != nullptr) ui_.say(settings_->notice());
  ui_.first_start = settings_ != nullptr && kept.pages.empty();
  for (const auto& [id, memory] : kept.pages)
    if (const lessons::Page* page = course().find_page(id); page != nullptr && memory.read) read_.push_back(page);
  if (!library_.course().problems().empty()) ui_.say(in_words(library_.course().problems()));
  recall_mine(kept);
}

// The bench keeps the set as its page's memory.
void App::recall_mine(const Settings& kept) {
  if (!kept.card.empty()) {
    const auto card = table_card(kept.card);
    if (card)
      library_.mine().take_card(card.value());
    else
      ui_.say(refused_in(settings_->path(), {"card: " + card.error().message}));
  }
  const lessons::Page* const bench = course().bench();
  if (bench == nullptr) return;
  const auto known = kept.pages.find(bench->id);
  if (known == kept.pages.end() || known->second.settings.empty()) return;
  record::Params set = lessons::settings_of(*bench);
  for (const auto& [key, value] : known->second.settings) (void)set.set(key, std::string_view(value));
  library_.mine().take(set);
}

void App::keep_mine(Settings& wanted) {
  const page::MySettings& mine = library_.mine();
  if (mine.card()) wanted.card = *mine.card() == nullptr ? "this machine" : (*mine.card())->name;
  const lessons::Page* const bench = course().bench();
  if (bench == nullptr || !mine.set() || page().runs().is_given()) return;
  const record::Params begin = lessons::settings_of(*bench);
  std::map<std::string, std::string> changes;
  for (const record::ParamSpec& spec : begin.schema())
    if (const std::string value = mine.set()->as_text(spec.key);
        page::travels(spec) && value != begin.as_text(spec.key))
      changes[std::string(spec.key)] = value;
  if (!changes.empty() || wanted.pages.contains(bench->id)) wanted.pages[bench->id].settings = changes;
}

record::Result<std::unique_ptr<App>> App::create(AppOptions options, Session session, SettingsFile* settings) {
  const bool asked = !options.page.empty();
  const page::Link link = page::parse_link(asked || settings == nullptr ? options.page : settings->values().page);
  const auto given = options.pages.from;
  const std::string given_name = options.pages.from_name;
  std::unique_ptr<App> app(new App(std::move(options), std::move(session), settings));
  const lessons::Course& course = app->course();
  if (course.chapters().empty())
    return record::Error{fmt::format("There is no page to show: {}", in_words(course.problems()))};
  const std::string id = app->id_of(link);
  const lessons::Page* page = course.find_page(id);
  if (given != nullptr && !course.chapters().empty()) {
    const lessons::Page* const of_run = page::page_of_run(course, *given);
    if (of_run == nullptr)
      return record::Error{fmt::format("No page shows the run in {}, because it is a run of the demo \"{}\".",
                                       given_name, given->info().demo)};
    if (!asked) page = of_run;
    const bool shows = page != nullptr && page::shows_run(*page, *given);
    app->library_.give_run_to(shows ? *page : *of_run);
    if (page != nullptr && !shows)
      app->ui_.say(fmt::format("This page cannot show the run in {}. The page {} can.", given_name, of_run->title));
  }
  if (page == nullptr && !asked && !id.empty())
    app->ui_.say(refused_in(settings->path(), {fmt::format("there is no page {}: the first is shown.", id)}));
  if (page == nullptr && asked)
    return record::Error{fmt::format("There is no page \"{}\": `headroom list` names them all.", id)};
  const record::Status opened = app->open(page == nullptr ? *course.chapters().front().pages.front() : *page);
  if (!opened) return opened.error();
  app->note_visit();
  if (asked)
    app->apply_link(link);
  else if (page != nullptr && settings != nullptr && given == nullptr)
    app->wanted_step_ = settings->values().step;
  return app;
}

record::Status App::load_look() {
  const std::filesystem::path fonts = ui_.assets / "fonts";
  const record::Status loaded = load_faces(fonts);
  if (!loaded) return loaded;
  apply_look(ui_.theme, ui_.scale());
  markdown_ = std::make_unique<Markdown>(fonts, course().glossary());
  return record::Ok{};
}

record::Status App::open(const lessons::Page& page) {
  const auto opened = library_.open(page);
  if (!opened) return opened.error();
  view_ = opened.value();
  ui_.say(library_.take_notice());
  recall_page();
  return record::Ok{};
}

void App::recall_page() {
  const lessons::Page* const opened = &page().page();
  if (settings_ == nullptr || page().runs().is_given() ||
      std::find(recalled_.begin(), recalled_.end(), opened) != recalled_.end())
    return;
  recalled_.push_back(opened);
  const auto known = settings_->values().pages.find(opened->id);
  if (known == settings_->values().pages.end()) return;
  const PageMemory& memory = known->second;
  std::vector<std::string> refused = page().recall(memory.answer, memory.settings, memory.pin, memory.task);
  if (!memory.second.empty() && !view_->second_question().recall(memory.second))
    refused.push_back(fmt::format("{} is no answer to the second question.", record::quoted(memory.second)));
  for (std::string& sentence : refused) sentence = fmt::format("page {}: {}", opened->id, sentence);
  if (!refused.empty()) ui_.say(refused_in(settings_->path().filename(), refused));
}

PageMemory App::memory_of_page() {
  const bool read = std::find(read_.begin(), read_.end(), &page().page()) != read_.end();
  return {
      .read = read,
      .answer = page().question().remembered(),
      .settings = library_.mine().taken_by(page()) ? std::map<std::string, std::string>() : page::changes_of(page()),
      .pin = page().run_a().name(page().runs()),
      .task = page().task().remembered(),
      .second = view_->second_question().remembered()};
}

bool App::poll(double now) {
  if (drawn_) library_.start_engines();
  const bool changed = library_.poll(now);
  ui_.say(library_.take_notice());
  return changed;
}

void App::before_frame() {
  constexpr float kScreen = 1080, kSmallest = 11, kLegible = 27;  // px: an em of 11 is 27 px on a screen 1080 px high
  if (ImGui::GetCurrentContext() != nullptr && ImGui::GetIO().DisplaySize.y > 0)
    ui_.stage_scale = ImGui::GetIO().DisplaySize.y / kScreen * kLegible / kSmallest;
  if (look().theme != ui_.theme || look().scale != ui_.scale()) apply_look(ui_.theme, ui_.scale());
}

Place App::place() const {
  Place place;
  place.was_before = history_.can_go(-1);
  place.was_after = history_.can_go(+1);
  const auto& chapters = course().chapters();
  for (int c = 0; c < static_cast<int>(chapters.size()); ++c) {
    const lessons::Chapter& chapter = chapters[static_cast<std::size_t>(c)];
    const auto at = std::find(chapter.pages.begin(), chapter.pages.end(), &view_->model().page());
    if (at == chapter.pages.end()) continue;
    place.chapter = c;
    place.page = static_cast<int>(at - chapter.pages.begin());
    place.pages = static_cast<int>(chapter.pages.size());
    place.chapter_number = chapter.number;
    place.chapter_title = chapter.title;
    place.has_previous = c > 0 || place.page > 0;
    place.has_next = c + 1 < static_cast<int>(chapters.size()) || place.page + 1 < place.pages;
  }
  return place;
}

void App::turn_page(Turn turn) {
  if (turn == Turn::kStay) return;
  if (turn == Turn::kEarlier || turn == Turn::kLater) return go_where_i_was(turn == Turn::kEarlier ? -1 : +1);
  if (!page().page().lesson.in_course) return;
  const std::vector<const lessons::Page*> all = course().pages();
  const auto at = std::find(all.begin(), all.end(), &page().page());
  const std::ptrdiff_t to = (at - all.begin()) + (turn == Turn::kOn ? 1 : -1);
  if (to >= 0 && to < std::ssize(all)) go_to(*all[static_cast<std::size_t>(to)]);
}

// A page counts as read once its question, if any, is answered or skipped.
void App::note_read() {
  const page::Question::State state = page().question().state();
  const bool done = state != page::Question::State::kOpen && state != page::Question::State::kWaiting;
  if (done && page().page().lesson.in_course && std::find(read_.begin(), read_.end(), &page().page()) == read_.end())
    read_.push_back(&page().page());
}

void App::keep_settings(double now) {
  if (settings_ == nullptr) return;
  constexpr double kPause = 1;  // seconds
  const Settings& kept = settings_->values();
  const int step = view_->state().reading_more ? view_->state().step : -1;
  Settings wanted{page().page().id, std::string(key_of(ui_.theme)), ui_.font_scale,
                  kept.pages,       wanted_step_.value_or(step),    kept.card};
  if (page().runs().is_given()) {  // the next start returns to the course
    wanted.page = kept.page;
    wanted.step = kept.step;
  }
  const bool soon = wanted.page != kept.page || wanted.theme != kept.theme || wanted.font_scale != kept.font_scale;
  if (!soon && now - kept_at_ < kPause) return;
  kept_at_ = now;
  const PageMemory memory = memory_of_page();
  const bool known = memory != PageMemory{} || wanted.pages.contains(wanted.page);
  if (known && !page().runs().is_given()) wanted.pages[wanted.page] = memory;
  keep_mine(wanted);
  if (wanted == kept) return;
  const std::string before = settings_->notice();
  settings_->save(wanted);
  if (settings_->notice() != before) ui_.say(settings_->notice());
}

void App::draw_window(double now, ImVec2 viewport) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();  // moves when the page scrolls
  const ImVec2 size = page_size(viewport);
  const Rect whole{origin.x, origin.y, origin.x + size.x, origin.y + size.y};
  const float width = size.x / look().scale;
  PageFrame frame = view_->frame(
      {ui_, *markdown_, density_for(width), has_faces(width), now, place(), course().references(), library_.mine()});
  if (wanted_step_) read_step(frame, *std::exchange(wanted_step_, {}));
  const PageLayout layout = page_layout(whole, frame.density);
  markdown_->begin_frame();
  Turn turn = take_keys(frame);

  fill(whole, theme().canvas);
  const lessons::Page* choice = nullptr;
  Turn clicked = Turn::kStay;
  if (ui_.stage) {
    view_->draw_stage(frame, whole);
  } else {
    choice = draw_rail(frame, layout.rail, course(), read_);
    draw_top_bar(frame, layout.top);
    clicked = view_->draw(frame, layout.page);
    draw_status_bar(frame, layout.status, library_.no_engine(), library_.devices());
  }
  draw_keys(frame);
  draw_export(frame);
  if (const lessons::Page* const jumped = draw_contents(frame, course())) choice = jumped;
  turn = clicked != Turn::kStay ? clicked : turn;
  draw_ways(frame, turn);
  if (ui_.stage) draw_over_stage(ui_, whole);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);

  library_.mine().follow(page());
  note_read();
  if (choice != nullptr) go_to(*choice);
  turn_page(turn);
  if (const lessons::Page* page = course().find_page(std::exchange(ui_.open_page, {}))) go_to(*page);
}

void App::draw(double now) {
  // After a key, ImGui would show the focused control's tooltip instead of that at the mouse.
  if (ImGuiContext& context = *ImGui::GetCurrentContext(); context.HoveredIdPreviousFrame != 0)
    context.NavHighlightItemUnderNav = false;
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
  draw_window(now, viewport->Size);
  ImGui::End();
  keep_settings(now);
  drawn_ = true;
}

void App::keep_all() {
  kept_at_ = -1e9;
  keep_settings(0);
}

}  // namespace headroom::app::window
