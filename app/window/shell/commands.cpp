// The finder's commands.
#include "app/window/shell/finder_view.h"

#include <algorithm>
#include <string>

#include "app/page/link.h"
#include "app/page/page_facts.h"
#include "app/page/words/page_words.h"
#include "app/window/shell/keys.h"
#include "app/window/views/views.h"
#include "app/window/widgets/widget.h"

namespace headroom::app::window {

namespace {

struct Command {
  std::string_view id, title, also, keys;
  bool (*offered)(const PageFrame& frame) = nullptr;  // null: always
  Act act = {};
  int which = 0;
};

Turn turn_page(PageFrame&, int which) { return which > 0 ? Turn::kOn : Turn::kBack; }

void play(PageFrame& frame, int which) { frame.page.figures().play(which > 0, frame.now); }

void copy_link(PageFrame& frame, int) {
  const std::string link = page::link_to(frame.page, frame.state.reading_more ? frame.state.step : -1);
  ImGui::SetClipboardText(link.c_str());
  frame.ui.say_in_passing("Copied: " + link, frame.now);
}

void copy_command(PageFrame& frame, int) {
  ImGui::SetClipboardText(page::as_command(frame.page).c_str());
  frame.ui.say_in_passing("Copied: " + page::as_command(frame.page), frame.now);
}

bool asks(const PageFrame& frame) { return frame.page.question().hides(); }
bool has_settings(const PageFrame& frame) { return !frame.widgets.offers(frame).empty(); }

void set_theme(PageFrame& frame, int which) { frame.ui.theme = static_cast<ThemeId>(which); }
constexpr int theme_number(ThemeId id) { return static_cast<int>(id); }

using Frame = PageFrame;
constexpr Command kCommands[] = {
    {"lock", "Lock the answer", "question guess", "Enter",
     [](const Frame& f) { return asks(f) && f.page.question().can_lock(); }, acts::lock},
    {"skip", "Skip the question", "answer guess show", "", asks, [](Frame& f, int) { f.page.question().skip(); }},
    {"run", "Run", "train measure start", "Ctrl R",
     [](const Frame& f) { return f.widgets.run_button() && page::can_run(f.page) && !f.page.control().running(); },
     acts::run},
    {"cancel", "Cancel the run", "stop", "Esc", [](const Frame& f) { return f.page.control().running(); },
     [](Frame& f, int) { f.page.control().cancel(); }},
    {"undo", "Undo the last change of settings", "back", "Ctrl Z", has_settings, acts::undo_or_redo, 0},
    {"redo", "Redo the last change of settings", "", "Ctrl Y", has_settings, acts::undo_or_redo, 1},
    {"begin", "Back to the page's own run and settings", "reset restore defaults", "",
     [](const Frame& f) { return page::left_the_begin(f.page); }, [](Frame& f, int) { f.page.show_run(0); }},
    {"pin", "Pin as run A", "compare", "C",
     [](const Frame& f) { return f.page.run_a().pinned() == nullptr && page::can_pin(f.page); }, acts::pin},
    {"unpin", "Unpin run A", "compare unpin", "C", [](const Frame& f) { return f.page.run_a().pinned() != nullptr; },
     acts::pin},
    {"more", "Read more", "tour steps", "",
     [](const Frame& f) { return !asks(f) && !f.state.reading_more && !f.page.text().more.empty(); }, read_step, 0},
    {"less", "Back to the page's opening text", "tour leave", "Esc",
     [](const Frame& f) { return f.state.reading_more; }, read_step, -1},
    {"next", "Next page", "continue on", "", [](const Frame& f) { return f.place.has_next; }, turn_page, +1},
    {"previous", "Previous page", "", "", [](const Frame& f) { return f.place.has_previous; }, turn_page, -1},
    {"earlier", "Back to where I was", "history browser", "Alt ←", [](const Frame& f) { return f.place.was_before; },
     acts::go_where_i_was, -1},
    {"later", "Forward again", "history browser", "Alt →", [](const Frame& f) { return f.place.was_after; },
     acts::go_where_i_was, +1},
    {"copy link", "Copy a link to this view", "clipboard share url", "", nullptr, copy_link},
    {"copy command", "Copy as command", "clipboard headroom figures shell terminal", "",
     [](const Frame& f) { return !page::as_command(f.page).empty(); }, copy_command},
    {"export", "Export this figure", "save write svg pdf png csv json file", "Ctrl E", nullptr, acts::show_export},
    {"figure", "Next figure of the page", "tab", "V", [](const Frame& f) { return f.page.page().figures.size() > 1; },
     acts::show_next_figure},
    {"whole", "Show the whole step", "fit zoom out", "Esc",
     [](const Frame& f) { return f.page.figures().view().zoomed(); },
     [](Frame& f, int) { f.page.figures().view().fit_all(); }},
    {"play", "Play the figure", "animate", "",
     [](const Frame& f) { return f.page.figures().frames() > 1 && !f.page.figures().plays(); }, play, 1},
    {"pause", "Pause the figure", "stop", "", [](const Frame& f) { return f.page.figures().plays(); }, play, 0},
    {"glossary", "Glossary", "terms words definitions", "", nullptr, acts::show_glossary},
    {"contents", "Contents", "pages chapters table", "G", nullptr, acts::show_contents},
    {"keys", "Keys", "keyboard shortcuts help", "?", nullptr, acts::show_keys},
    {"on stage", "Present: on stage", "room projector slides", "F5", [](const Frame& f) { return !f.ui.stage; },
     acts::change_screen, 0},
    {"desk", "Leave the stage", "desk room", "F5", [](const Frame& f) { return f.ui.stage; }, acts::change_screen, 0},
    {"full screen", "Full screen", "window", "F11", [](const Frame& f) { return !f.ui.stage; }, acts::change_screen, 1},
    {"figure only", "Show only the figure, or the text as well", "hide text", "F", nullptr, acts::show_figure_only},
    {"light", "Theme: light", "color white", "Ctrl T", [](const Frame& f) { return f.ui.theme != ThemeId::kLight; },
     set_theme, theme_number(ThemeId::kLight)},
    {"dark", "Theme: dark", "color black night", "Ctrl T", [](const Frame& f) { return f.ui.theme != ThemeId::kDark; },
     set_theme, theme_number(ThemeId::kDark)},
    {"contrast", "Theme: high contrast", "color", "Ctrl T",
     [](const Frame& f) { return f.ui.theme != ThemeId::kHighContrast; }, set_theme,
     theme_number(ThemeId::kHighContrast)},
    {"larger", "Larger", "font scale zoom size", "Ctrl +", nullptr, acts::change_scale, +1},
    {"smaller", "Smaller", "font scale zoom size", "Ctrl −", nullptr, acts::change_scale, -1},
    {"normal", "Normal size", "font scale zoom", "Ctrl 0", nullptr, acts::change_scale, 0},
};

}  // namespace

std::vector<page::Findable> commands_now(const PageFrame& frame) {
  std::vector<page::Findable> commands;
  for (const Command& each : kCommands)
    if (each.offered == nullptr || each.offered(frame))
      commands.push_back({.kind = page::FoundKind::kCommand,
                          .title = std::string(each.title),
                          .also = std::string(each.also),
                          .detail = std::string(each.keys),
                          .key = std::string(each.id)});
  return commands;
}

Turn run_command(std::string_view id, PageFrame& frame) {
  const auto command = std::ranges::find(kCommands, id, &Command::id);
  return command == std::end(kCommands) ? Turn::kStay : command->act(frame, command->which);
}

}  // namespace headroom::app::window
