// The keyboard: one table of keys, for the `?` page and for each frame.
#pragma once

#include <span>
#include <string_view>

#include "app/window/views/page_frame.h"
#include "imgui.h"

namespace headroom::app::window {

// When a key applies: at the desk or on stage, before or after the answer.
inline constexpr unsigned kDeskAsked = 1, kDeskAnswered = 2, kStageAsked = 4, kStageAnswered = 8;
inline constexpr unsigned kAtDesk = kDeskAsked | kDeskAnswered, kOnStage = kStageAsked | kStageAnswered,
                          kAsked = kDeskAsked | kStageAsked, kEverywhere = kAtDesk | kOnStage;

// A line of the `?` page: keys that do the same or opposite things.
struct KeyEntry {
  enum class Group : unsigned char { kAnywhere, kPage, kTimeline, kStage };
  enum class Needs : unsigned char {
    kNothing,
    kFree,       // no text is being typed and no popup is open
    kNoControl,  // and no control has the keyboard focus
    kTimeline,   // free, and the timeline has the focus
  };
  struct Press {
    ImGuiKeyChord keys = 0;
    int which = 0;
  };

  std::string_view caps;  // shown, separated by blanks; empty: see the entry before
  std::string_view does;
  Group group = Group::kAnywhere;
  Press presses[9] = {};
  char typed = 0;  // or this character, in any keyboard layout
  unsigned where = kEverywhere;
  Needs needs = Needs::kFree;
  bool repeats = false;                          // while held
  bool owned = false;                            // taken from ImGui's navigation; repeats
  Turn (*act)(PageFrame&, int which) = nullptr;  // null: ImGui acts
};

std::span<const KeyEntry> key_table();

// Handles this frame's keys. Returns where the reader wants to go.
Turn take_keys(PageFrame& frame);
void draw_keys(PageFrame& frame);

// The next larger (+1) or smaller (−1) font scale.
float next_font_scale(float now, int direction);

}  // namespace headroom::app::window
