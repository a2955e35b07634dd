// What every view of a page gets in a frame, and what the window remembers about each page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/draw/drag_order.h"
#include "app/window/shell/ui_state.h"
#include "demos/record/units.h"
#include "lessons/pages/references.h"

namespace headroom::app::page {
class PageModel;
}

namespace headroom::app::window {

class FigureCard;
class Insets;
class Markdown;
class PageWidgets;

// How much room a page has. Narrow: words and figure are two faces of it.
enum class Density : unsigned char { kNarrow, kCompact, kWide };
// By a width in px at scale 1.
constexpr Density density_for(float width) {
  return width < 1100 ? Density::kNarrow : width < 1500 ? Density::kCompact : Density::kWide;
}

// Words and figure are two faces of a narrow page that has no room for both.
constexpr bool has_faces(float width) { return width < 920; }

struct PageState {
  bool reading_more = false;
  int step = 0;                                   // of what is read more, from 0
  bool words_above = false, words_below = false;  // the words go on beyond what their column shows
  int scroll_words = 0;                           // by so many columns' heights, in this frame
  int noticed = 0;                                // for so many frames a notice has been among the words
  bool hid = false;                               // the question's answer, in the frame before
  int revealed = 0;                               // for so many frames more what is said of the answer comes into sight
  bool figure_face = false;                       // narrow: figure instead of text
  bool drawer = false;                            // narrow: the list of what is alive
  bool timeline_focus = false;                    // letters act on the timeline; the status line says so
  std::optional<record::Category> lit;            // kind pointed at in text or figure
  std::optional<record::Category> lit_by_step;    // else the one that the step is about
  std::string guess_text;                         // in the field
  std::string guess_error;                        // why it is no size; empty: it is one
  bool editing_guess = false;
  DragOrder order;                // of the items of a question
  bool long_run_asked = false;    // Run was pressed once, and would take long
  bool long_trial_asked = false;  // the same of *Try it*
  std::vector<std::string> ways;  // the chips that are shown, by their names
  std::string settings_group;     // the one that is open behind "More settings"
  std::string editing_param;      // key of the setting that is being typed
  std::string param_text;
  bool param_focus = false;   // the field has just been opened
  std::string refused_value;  // why the last value that was typed is not taken
  // Key of the setting that the list leads to, "figure " before it where it is the figure's: its control takes the
  // keyboard's focus once it is there.
  std::string sought_param;
  int sought_for = 0;  // so many frames more
};

// Where the page is among the others.
struct Place {
  int chapter = 0, page = 0;  // from 0
  int pages = 1;              // of the chapter
  std::string_view chapter_number, chapter_title;
  bool has_previous = false, has_next = false;
  bool was_before = false, was_after = false;  // where the reader was: there is an earlier, a later page
};

// To the page before or after this one, or to where the reader was before and after that.
enum class Turn : unsigned char { kStay, kBack, kOn, kEarlier, kLater };

// What the window gives to the page that it draws.
struct Surroundings {
  UiState& ui;
  Markdown& markdown;
  Density density = Density::kCompact;
  bool faces = false;
  double now = 0;  // seconds
  Place place;
  const lessons::References& references;
};

struct PageFrame {
  UiState& ui;
  PageState& state;
  page::PageModel& page;
  PageWidgets& widgets;
  FigureCard& figure;  // the one that keys act on
  Insets& insets;
  Markdown& markdown;
  Density density = Density::kCompact;
  bool faces = false;
  double now = 0;  // seconds
  Place place;
  const lessons::References& references;  // of all pages
  double guess_unit = 1;                  // of the axis that is asked about
  std::string_view guess_unit_name = "B";
};

}  // namespace headroom::app::window
