// State of the window, apart from its pages.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "app/window/draw/theme.h"

namespace headroom::app::window {

// Shown for a few seconds.
struct PassingWords {
  std::string words;
  double until = 0;
};

// Popups to open in this frame.
struct ToOpen {
  bool keys = false, contents = false, finder = false, glossary = false, exports = false;
};

struct Exports {
  std::string folder = "figures";  // relative to the working directory
  std::array<bool, 5> formats{true, false, false, false, false};
  std::string result;
};

struct UiState {
  ThemeId theme = ThemeId::kLight;
  float font_scale = 1;      // the reader's, 0.75 … 4
  float display_scale = 1;   // the monitor's
  bool first_start = false;  // nothing was done on any page yet
  ToOpen open;
  Exports exports;
  std::string open_page;      // id of the next frame's page; empty: none
  std::string glossary_term;  // key of the term to show; empty: the first
  bool popup = false;         // a popup was open in the previous frame
  std::string jump;           // the typed page number
  bool figure_only = false;   // without the words
  bool full_screen = false;
  bool free_memory = true;  // is shown; pictures with it differ each time
  bool stage = false;       // a claim and a figure per screen
  float stage_scale = 1;
  enum class Blank { kNone, kBlack, kWhite } blank = Blank::kNone;  // on stage
  bool spotlight = false;                                           // on stage, at the mouse
  bool notes = false;                                               // on stage: notes for the presenter
  std::filesystem::path assets;                                     // contains exported files' fonts
  PassingWords passing;
  std::string notice;  // notices, one per line, shown until closed

  void say(const std::string& sentence) {
    if (sentence.empty() || notice.find(sentence) != std::string::npos) return;
    notice += (notice.empty() ? "" : "\n") + sentence;
  }
  void say_in_passing(std::string sentence, double now, double seconds = 5) {
    passing = {std::move(sentence), now + seconds};
  }
  float scale() const { return stage ? stage_scale : font_scale * display_scale; }
};

}  // namespace headroom::app::window
