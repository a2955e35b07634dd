// What the window itself remembers, beside its pages.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "app/window/draw/theme.h"

namespace headroom::app::window {

struct UiState {
  ThemeId theme = ThemeId::kLight;
  float font_scale = 1;      // the reader's, 0.75 … 4
  float display_scale = 1;   // the monitor's
  bool first_start = false;  // nothing was done on any page yet
  bool keys_open = false;
  bool contents_open = false;
  std::string open_page;      // id of the page to go to after this frame; empty: none
  bool finder_open = false;
  bool glossary_open = false;
  std::string glossary_term;  // key of the one that comes into sight; empty: the first
  bool popup = false;         // a list, menu or dialog was open in the frame before
  std::string jump;           // the page's number that is typed there
  bool figure_only = false;   // without the words beside it
  bool full_screen = false;   // the window follows
  bool free_memory = true;    // is shown; it differs from moment to moment, and so do pictures with it
  bool stage = false;         // for a room: a claim and a figure per screen
  float stage_scale = 1;
  enum class Blank { kNone, kBlack, kWhite } blank = Blank::kNone;  // on stage
  bool spotlight = false;                                           // on stage, at the mouse
  bool export_open = false;
  std::string export_folder = "figures";  // relative to where the program was started
  std::filesystem::path assets;           // where the fonts of exported files are
  std::array<bool, 5> export_formats{true, false, false, false, false};
  std::string export_result;  // what became of it, in one sentence
  std::string passing;        // said for a few seconds, such as what was copied
  double passing_until = 0;
  std::string notice;  // of the program itself: settings not kept, …; a line each, until it is closed

  void say(const std::string& sentence) {
    if (sentence.empty() || notice.find(sentence) != std::string::npos) return;
    notice += (notice.empty() ? "" : "\n") + sentence;
  }
  void say_in_passing(std::string sentence, double now) {
    constexpr double kSeconds = 5;
    passing = std::move(sentence);
    passing_until = now + kSeconds;
  }
  float scale() const { return stage ? stage_scale : font_scale * display_scale; }
};

}  // namespace headroom::app::window
