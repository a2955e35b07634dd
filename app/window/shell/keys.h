// The keyboard: what each key does, in one table, which the `?` page shows and the keys of each frame go through.
#pragma once

#include <span>
#include <string_view>

#include "app/window/views/page_frame.h"
#include "imgui.h"

namespace headroom::app::window {

// Where a key has its meaning: at the desk or on stage, before the answer or after it.
inline constexpr unsigned kDeskAsked = 1, kDeskAnswered = 2, kStageAsked = 4, kStageAnswered = 8;
inline constexpr unsigned kAtDesk = kDeskAsked | kDeskAnswered, kOnStage = kStageAsked | kStageAnswered,
                          kAsked = kDeskAsked | kStageAsked, kEverywhere = kAtDesk | kOnStage;

// One line of the `?` page: keys that do the same, or opposite things.
struct KeyEntry {
  enum class Group : unsigned char { kAnywhere, kPage, kTimeline, kStage };
  enum class Needs : unsigned char {
    kNothing,
    kFree,       // no text is being typed and no list or dialog is open
    kNoControl,  // nor has a control the keyboard's focus
    kTimeline,   // free, and the timeline has the focus
  };
  struct Press {
    ImGuiKeyChord keys = 0;
    int which = 0;
  };

  std::string_view caps;  // as drawn, separated by blanks; empty: the line before shows it
  std::string_view does;
  Group group = Group::kAnywhere;
  Press presses[9] = {};
  char typed = 0;  // or this character, wherever the keyboard has it
  unsigned where = kEverywhere;
  Needs needs = Needs::kFree;
  bool repeats = false;                          // while it is held
  bool owned = false;                            // taken from ImGui's navigation; repeats
  Turn (*act)(PageFrame&, int which) = nullptr;  // null: ImGui does it
};

std::span<const KeyEntry> key_table();

// Acts on this frame's keys. Says where the reader wants to go.
Turn take_keys(PageFrame& frame);
// The page of keys, while it is open.
void draw_keys(PageFrame& frame);

// The next larger (+1) or smaller (−1) font scale, 0.75 to 4.
float next_font_scale(float now, int direction);

}  // namespace headroom::app::window
