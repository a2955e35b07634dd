// Ways to other pages: the finder, links and history.
#include <algorithm>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/page/page_facts.h"
#include "app/window/draw/controls.h"
#include "app/window/shell/app.h"
#include "app/window/shell/finder_view.h"
#include "lessons/pages/page_reader.h"

namespace headroom::app::window {

namespace {

constexpr int kSoughtFrames = 8;  // frames until the control's list is open and the control has the focus

void draw_passing(const UiState& ui, const Rect& whole, double now) {
  if (ui.passing.words.empty() || now >= ui.passing.until) return;
  const float width = std::min(whole.width() - px(48), text_width(Face::kMedium, 12, ui.passing.words) + px(32));
  const float x = std::round(whole.center_x() - width * 0.5f), y = whole.y1 - px(76);
  const Rect at{x, y, x + width, y + px(32)};
  card(at);
  text_in(Face::kMedium, 12, at.inset(px(16), 0), theme().text,
          shortened(Face::kMedium, 12, ui.passing.words, at.width() - px(32)));
}

}  // namespace

void App::note_visit() { history_.visit(page().page()); }

void App::go_to(const lessons::Page& page, int step) {
  keep_all();
  history_.note_step(view_->state().reading_more ? view_->state().step : -1);
  const record::Status opened = open(page);
  if (!opened) return ui_.say(opened.error().message);
  note_visit();
  want_step(step);
}

// Waits for the question's answer, which Read more would give away.
void App::want_step(int step) {
  wanted_step_ = step;
  if (step >= 0 && page().question().hides())
    ui_.say(fmt::format("Answer this page's question to read step {} of Read more.", step + 1));
}

void App::go_where_i_was(int direction) {
  keep_all();
  history_.note_step(view_->state().reading_more ? view_->state().step : -1);
  const page::Visit* const visit = history_.go(direction);
  if (visit == nullptr) return;
  const record::Status opened = open(*visit->page);
  if (!opened) return ui_.say(opened.error().message);
  wanted_step_ = visit->step;
}

std::string App::id_of(const page::Link& link) const {
  return link.page.empty() && link.state && course().bench() != nullptr ? course().bench()->id : link.page;
}

void App::apply_link(const page::Link& link) {
  for (const std::string& sentence : page::apply(link, page())) ui_.say(sentence);
  if (link.step >= 0 && link.step < static_cast<int>(page().page().more.size())) want_step(link.step);
}

void App::open_link(std::string_view text) {
  const page::Link link = page::parse_link(text);
  if (const lessons::Page* const wanted = course().find_page(id_of(link))) {
    go_to(*wanted);
    if (&page().page() == wanted) apply_link(link);
    return;
  }
  std::vector<std::string_view> ids;
  for (const lessons::Page* each : course().pages()) ids.push_back(each->id);
  ui_.say(lessons::unknown("page", link.page, ids));
}

void App::open_file(const std::filesystem::path& path) {
  const lessons::Page* const bench = course().bench();
  const std::string name = path.filename().string();
  std::error_code ignored;
  const bool model =
      std::filesystem::is_directory(path, ignored) || name == "config.json" || path.extension() == ".safetensors";
  if (model && bench != nullptr) {
    go_to(*bench);
    const std::filesystem::path folder = std::filesystem::is_directory(path, ignored) ? path : path.parent_path();
    if (const record::Status set = page().set_param("weights", folder.string()); !set) ui_.say(set.error().message);
    return;
  }
  auto recording = load_recording(path);
  if (!recording) {
    return ui_.say(fmt::format("{} Drop a recording (.hrec), or the folder of a model with its config.json.",
                               recording.error().message));
  }
  const lessons::Page* const shows = page::page_of_run(course(), *recording.value());
  if (shows == nullptr)
    return ui_.say(fmt::format("No page shows the run in {}, because it is a run of the demo \"{}\".", name,
                               recording.value()->info().demo));
  go_to(*shows);
  page().open_run(std::move(recording).value());
}

void App::act(const page::Findable& chosen, PageFrame& frame) {
  const record::Params before = frame.page.settings();
  if (const record::Status done = chosen.does(frame.page); !done) return ui_.say(done.error().message);
  const bool undoes = !(frame.page.settings() == before);
  ui_.say_in_passing(chosen.title + (undoes ? " · Ctrl Z undoes" : ""), frame.now);
}

Turn App::follow(const page::Findable& chosen, PageFrame& frame) {
  using Kind = page::FoundKind;
  switch (chosen.kind) {
    case Kind::kCommand:
      return run_command(chosen.key, frame);
    case Kind::kLink:
      open_link(chosen.key);
      break;
    case Kind::kAct:
      act(chosen, frame);
      break;
    case Kind::kTerm:
      ui_.glossary_term = chosen.key;
      ui_.open.glossary = true;
      break;
    case Kind::kSetting:
      frame.state.sought.param = chosen.key;
      frame.state.sought.frames = kSoughtFrames;
      frame.state.figure_face = frame.faces;
      break;
    case Kind::kPage:
    case Kind::kText:
      go_to(*chosen.page, chosen.step);
      break;
    case Kind::kFigure: {
      if (&page().page() != chosen.page) go_to(*chosen.page);
      const std::vector<std::string>& figures = page().page().figures;
      page().show_tab(static_cast<int>(std::ranges::find(figures, chosen.key) - figures.begin()));
      view_->state().figure_face = frame.faces;
      break;
    }
  }
  return Turn::kStay;
}

void App::draw_ways(PageFrame& frame, Turn& turn) {
  if (frame.state.sought.frames > 0 && --frame.state.sought.frames == 0) frame.state.sought.param.clear();
  if (const std::string& term = markdown_->clicked_term(); !term.empty()) {
    ui_.glossary_term = term;
    ui_.open.glossary = true;
  }
  if (const auto chosen = finder_.draw(frame, read_)) turn = follow(*chosen, frame);
  if (const lessons::Page* const clicked = glossary_.draw(ui_)) go_to(*clicked);
  draw_passing(ui_, {0, 0, ImGui::GetMainViewport()->Size.x, ImGui::GetMainViewport()->Size.y}, frame.now);
}

}  // namespace headroom::app::window
