// What the window itself remembers, beside the page: look, faces of the narrow page, what is pointed at.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "app/window/draw/theme.h"
#include "demos/record/units.h"

namespace headroom::app::page {
class PageModel;
}

namespace headroom::app::window {

class Markdown;

enum class Width : unsigned char { kNarrow, kCompact, kWide };
// By the window's width in px at scale 1.
constexpr Width width_class(float effective) {
  return effective < 1100 ? Width::kNarrow : effective < 1500 ? Width::kCompact : Width::kWide;
}

struct UiState {
  ThemeId theme = ThemeId::kLight;
  float font_scale = 1;     // the reader's, 0.75 … 4
  float display_scale = 1;  // the monitor's
  bool reading_more = false;
  bool words_above = false, words_below = false;  // the words go on beyond what their column shows
  int scroll_words = 0;                           // by so many columns' heights, in this frame
  int noticed = 0;                                // for so many frames a notice has stood among the words
  bool figure_face = false;                       // narrow: figure instead of text
  bool drawer = false;                            // narrow: the list of what is alive
  bool keys_open = false;
  bool export_open = false;
  std::string export_folder = "figures";  // relative to where the program was started
  std::filesystem::path assets;           // where the fonts of exported files are
  std::array<bool, 5> export_formats{true, false, false, false, false};
  std::string export_result;            // what became of it, in one sentence
  bool timeline_focus = false;          // letters act on the timeline; the status line says so
  std::optional<record::Category> lit;  // kind pointed at in text or figure
  std::string guess_text;               // what stands in the field
  std::string guess_error;              // why it is no size; empty: it is one
  bool editing_guess = false;
  std::string settings_group;  // the one that is open behind "More settings"
  std::string editing_param;   // key of the setting that is being typed
  std::string param_text;
  bool param_focus = false;   // the field has just been opened
  std::string refused_value;  // why the last value that was typed is not taken
  std::string notice;         // one sentence of the program itself: settings not kept, …

  float scale() const { return font_scale * display_scale; }
};

// Where the page stands among the others.
struct Place {
  int chapter = 0, page = 0;  // from 0
  int pages = 1;              // of the chapter
  std::string_view chapter_title;
  bool has_previous = false, has_next = false;
};

enum class Turn : unsigned char { kStay, kBack, kOn };

// What every view gets.
struct PageFrame {
  UiState& ui;
  page::PageModel& page;
  Markdown& markdown;
  Width width = Width::kCompact;
  double now = 0;  // seconds
  Place place;
  double guess_unit = 1;  // of the axis that is asked about
  std::string_view guess_unit_name = "B";
};

}  // namespace headroom::app::window
