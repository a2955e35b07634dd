// The finder's commands.
#include "app/window/shell/finder_view.h"

#include <algorithm>
#include <string>

#include "app/page/link.h"
#include "app/page/page_facts.h"
#include "app/page/settings/my_settings.h"
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
  std::string_view why_not = {};  // where it is not offered
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

bool does_not_fit(const PageFrame& frame) {
  const StepPlan* const plan = page::plan_of(frame.page);
  return plan != nullptr && !plan->cards.empty() && plan->cards.front().fit.verdict != predict::Verdict::kFits;
}

void set_theme(PageFrame& frame, int which) { frame.ui.theme = static_cast<ThemeId>(which); }
constexpr int theme_number(ThemeId id) { return static_cast<int>(id); }
constexpr std::string_view kIsTheme = "This is the theme.";

using Frame = PageFrame;
constexpr Command kCommands[] = {
    {"lock", "Lock the answer", "question guess", "Enter",
     [](const Frame& f) { return asks(f) && f.page.question().can_lock(); }, acts::lock, 0,
     "There is no answer to lock."},
    {"skip", "Skip the question", "answer guess show", "", asks, [](Frame& f, int) { f.page.question().skip(); }, 0,
     "No question is open."},
    {"run", "Run", "train measure start", "Ctrl R",
     [](const Frame& f) { return f.widgets.run_button() && page::can_run(f.page) && !f.page.control().running(); },
     acts::run, 0, "A run is active, this page has no Run, or there is no engine."},
    {"cancel", "Cancel the run", "stop", "Esc", [](const Frame& f) { return f.page.control().running(); },
     [](Frame& f, int) { f.page.control().cancel(); }, 0, "Nothing runs on this page."},
    {"undo", "Undo the last change of settings", "back", "Ctrl Z",
     [](const Frame& f) { return has_settings(f) && f.page.history().changed(); }, acts::undo_or_redo, 0,
     "No setting was changed."},
    {"redo", "Redo the last change of settings", "", "Ctrl Y", has_settings, acts::undo_or_redo, 1,
     "This page has no settings."},
    {"begin", "Back to the page's own run and settings", "reset restore defaults", "",
     [](const Frame& f) { return page::left_the_begin(f.page); }, [](Frame& f, int) { f.page.show_run(0); }, 0,
     "The page shows its own run and settings."},
    {"make fit", "Make it fit", "fits switches advise memory card", "",
     [](const Frame& f) { return does_not_fit(f) && !f.ui.stage; },
     [](Frame& f, int) { f.state.sizing.makes_fit = true; }, 0, "The step fits, or its verdict is not on show."},
    {"mine", "With my settings", "bench set", "", [](const Frame& f) { return f.mine.offered(f.page); },
     [](Frame& f, int) { f.mine.give(f.page); }, 0, "The page shows them, or cannot."},
    {"own", "With the page's own settings", "bench set back", "",
     [](const Frame& f) { return f.mine.taken_by(f.page); }, [](Frame& f, int) { f.mine.give_back(f.page); }, 0,
     "The page shows its own settings."},
    {"pin", "Pin as run A", "compare", "C",
     [](const Frame& f) { return f.page.run_a().pinned() == nullptr && page::can_pin(f.page); }, acts::pin, 0,
     "Run A is pinned, or the figure shows no finished run."},
    {"unpin", "Unpin run A", "compare unpin", "C", [](const Frame& f) { return f.page.run_a().pinned() != nullptr; },
     acts::pin, 0, "No run is pinned."},
    {"more", "Read more", "tour steps", "",
     [](const Frame& f) { return !asks(f) && !f.state.reading_more && !f.page.text().more.empty(); }, read_step, 0,
     "The question is open, or Read more is."},
    {"less", "Back to the page's opening text", "tour leave", "Esc",
     [](const Frame& f) { return f.state.reading_more; }, read_step, -1, "The opening text is shown."},
    {"next", "Next page", "continue on", "", [](const Frame& f) { return f.place.has_next; }, turn_page, +1,
     "This is the last page."},
    {"previous", "Previous page", "", "", [](const Frame& f) { return f.place.has_previous; }, turn_page, -1,
     "This is the first page."},
    {"earlier", "Back to where I was", "history browser", "Alt ←", [](const Frame& f) { return f.place.was_before; },
     acts::go_where_i_was, -1, "This was the first place."},
    {"later", "Forward again", "history browser", "Alt →", [](const Frame& f) { return f.place.was_after; },
     acts::go_where_i_was, +1, "This was the last place."},
    {"copy link", "Copy a link to this view", "clipboard share url", "", nullptr, copy_link},
    {"copy command", "Copy as command", "clipboard headroom figures shell terminal", "",
     [](const Frame& f) { return !page::as_command(f.page).empty(); }, copy_command, 0,
     "The command line cannot draw this figure."},
    {"export", "Export this figure", "save write svg pdf png csv json file", "Ctrl E", nullptr, acts::show_export},
    {"figure", "Next figure of the page", "tab", "V", [](const Frame& f) { return f.page.page().figures.size() > 1; },
     acts::show_next_figure, 0, "This page has one figure."},
    {"whole", "Show the whole step", "fit zoom out", "Esc",
     [](const Frame& f) { return f.page.figures().view().zoomed(); },
     [](Frame& f, int) { f.page.figures().view().fit_all(); }, 0, "The whole step is shown."},
    {"play", "Play the figure", "animate", "",
     [](const Frame& f) { return f.page.figures().frames() > 1 && !f.page.figures().plays(); }, play, 1,
     "This figure does not move, or plays already."},
    {"pause", "Pause the figure", "stop", "", [](const Frame& f) { return f.page.figures().plays(); }, play, 0,
     "The figure does not play."},
    {"glossary", "Glossary", "terms words definitions", "", nullptr, acts::show_glossary},
    {"contents", "Contents", "pages chapters table", "G", nullptr, acts::show_contents},
    {"keys", "Keys", "keyboard shortcuts help", "?", nullptr, acts::show_keys},
    {"on stage", "Present: on stage", "room projector slides", "F5", [](const Frame& f) { return !f.ui.stage; },
     acts::change_screen, 0, "It is on stage."},
    {"desk", "Leave the stage", "desk room", "F5", [](const Frame& f) { return f.ui.stage; }, acts::change_screen, 0,
     "It is not on stage."},
    {"full screen", "Full screen", "window", "F11", [](const Frame& f) { return !f.ui.stage; }, acts::change_screen, 1,
     "The stage fills the screen."},
    {"figure only", "Show only the figure, or the text as well", "hide text", "F", nullptr, acts::show_figure_only},
    {"light", "Theme: light", "color white", "Ctrl T", [](const Frame& f) { return f.ui.theme != ThemeId::kLight; },
     set_theme, theme_number(ThemeId::kLight), kIsTheme},
    {"dark", "Theme: dark", "color black night", "Ctrl T", [](const Frame& f) { return f.ui.theme != ThemeId::kDark; },
     set_theme, theme_number(ThemeId::kDark), kIsTheme},
    {"contrast", "Theme: high contrast", "color", "Ctrl T",
     [](const Frame& f) { return f.ui.theme != ThemeId::kHighContrast; }, set_theme,
     theme_number(ThemeId::kHighContrast), kIsTheme},
    {"larger", "Larger", "font scale zoom size", "Ctrl +", nullptr, acts::change_scale, +1},
    {"smaller", "Smaller", "font scale zoom size", "Ctrl −", nullptr, acts::change_scale, -1},
    {"normal", "Normal size", "font scale zoom", "Ctrl 0", nullptr, acts::change_scale, 0},
};

}  // namespace

std::vector<page::Findable> commands_now(const PageFrame& frame) {
  std::vector<page::Findable> commands;
  for (const Command& each : kCommands) {
    const bool offered = each.offered == nullptr || each.offered(frame);
    commands.push_back({.kind = page::FoundKind::kCommand,
                        .title = std::string(each.title),
                        .also = std::string(each.also),
                        .detail = std::string(each.keys),
                        .key = std::string(each.id),
                        .why_not = offered ? std::string() : std::string(each.why_not)});
  }
  return commands;
}

Turn run_command(std::string_view id, PageFrame& frame) {
  const auto command = std::ranges::find(kCommands, id, &Command::id);
  return command == std::end(kCommands) ? Turn::kStay : command->act(frame, command->which);
}

}  // namespace headroom::app::window
