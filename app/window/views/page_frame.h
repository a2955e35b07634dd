// A frame's data for the views of a page, and the window's state of each page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/window/draw/controls.h"
#include "app/window/shell/ui_state.h"
#include "demos/record/schema.h"
#include "demos/record/units.h"
#include "lessons/pages/references.h"

namespace headroom::app::page {
class MySettings;
class PageModel;
}  // namespace headroom::app::page

namespace headroom::app::window {

class FigureCard;
class Insets;
class Markdown;
class PageWidgets;
struct SecondCard;

enum class Density : unsigned char { kNarrow, kCompact, kWide };
// `width` is px at scale 1.
constexpr Density density_for(float width) {
  return width < 1100 ? Density::kNarrow : width < 1500 ? Density::kCompact : Density::kWide;
}

// Without room for both, words and figure take turns.
constexpr bool has_faces(float width) { return width < 920; }

struct WordsState {
  bool above = false, below = false;  // the words continue above or below
  int scroll = 0;                     // column heights to scroll in this frame
};

// Notices and answers that the words scroll to.
struct SightState {
  int noticed = 0;                // frames since a notice appeared
  bool hid = false;               // the answer was hidden in the last frame
  int revealed = 0;               // frames left to scroll to the answer
  float words = 0, question = 0;  // heights in the last frame, px
};

struct GuessState {
  std::string text;
  std::string error;  // why `text` is no size; empty: it is one
  bool editing = false;
};

struct SettingsState {
  std::string group;          // group open under "More settings"
  std::string editing, text;  // key of the setting being typed, and what is typed
  bool focus = false;         // the field was just opened
  bool typed = false;         // digits opened the field
  bool by_keys = false;       // so that the slider gets the focus back
  std::string takes_digits;   // key of the slider that the mouse points at or that has the focus
  int scrubbed_from = 0;      // the slider's stop when its value was pressed
  float wheel = 0;            // turned, but less than a stop
  std::string refused;        // why the last value was refused
};

// The setting that the finder leads to; its control gets the keyboard focus.
struct SoughtState {
  std::string param;  // "figure " precedes a figure's key
  int frames = 0;     // left to reach it
};

// Run or *Try it* was pressed once; a long run needs a second press.
struct AskedState {
  bool run = false, trial = false;
};

struct SizingState {
  std::vector<std::string> ways;            // names of the shown chips
  std::string card_search;                  // typed in the list of cards
  bool makes_fit = false;                   // the sets of *Make it fit* are open, or open in the next frame
  std::optional<record::Params> previewed;  // settings under the mouse, drawn as a line in this frame
};

struct PageState {
  bool reading_more = false;
  int step = 0;                                 // of Read more, from 0
  bool figure_face = false;                     // narrow: figure instead of text
  bool drawer = false;                          // narrow: the list of live tensors
  bool timeline_focus = false;                  // letters act on the timeline
  std::optional<record::Category> lit;          // kind pointed at in text or figure
  std::optional<record::Category> lit_by_step;  // otherwise the step's kind
  DragOrder order;                              // of a question's items
  SizingState sizing;
  WordsState words;
  SightState sight;
  GuessState guess;
  SettingsState settings;
  SoughtState sought;
  AskedState asked;
};

// The page's place in the course.
struct Place {
  int chapter = -1, page = 0;  // from 0; chapter −1: the bench
  int pages = 1;               // in the chapter
  std::string_view chapter_number, chapter_title;
  bool has_previous = false, has_next = false;
  bool was_before = false, was_after = false;  // the history has an earlier or a later page
};

// The previous (kBack) or next page, or an earlier or later page of the history.
enum class Turn : unsigned char { kStay, kBack, kOn, kEarlier, kLater };

struct Surroundings {
  UiState& ui;
  Markdown& markdown;
  Density density = Density::kCompact;
  bool faces = false;
  double now = 0;  // seconds
  Place place;
  const lessons::References& references;  // of all pages
  page::MySettings& mine;
};

struct PageFrame : Surroundings {
  PageState& state;
  page::PageModel& page;
  PageWidgets& widgets;
  FigureCard& figure;  // the figure that keys act on
  Insets& insets;
  SecondCard& second;
  double guess_unit = 1;  // unit of the question's axis
  std::string_view guess_unit_name = "B";
};

}  // namespace headroom::app::window
