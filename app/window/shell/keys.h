// The keyboard: one table of keys, for the `?` page and for each frame.
#pragma once

#include <span>
#include <string_view>
#include <type_traits>

#include "app/window/views/page_frame.h"
#include "imgui.h"

namespace headroom::app::window {

// When a key applies: at the desk or on stage, before or after the answer.
inline constexpr unsigned kDeskAsked = 1, kDeskAnswered = 2, kStageAsked = 4, kStageAnswered = 8;
inline constexpr unsigned kAtDesk = kDeskAsked | kDeskAnswered, kOnStage = kStageAsked | kStageAnswered,
                          kAsked = kDeskAsked | kStageAsked, kEverywhere = kAtDesk | kOnStage;

// The action of a key or a command. `which` distinguishes the keys of an entry. Most actions stay on the page.
class Act {
 public:
  constexpr Act() = default;
  template <class Does>
  constexpr Act(Does does) {
    if constexpr (std::is_void_v<std::invoke_result_t<Does, PageFrame&, int>>)
      stays_ = does;
    else
      turns_ = does;
  }
  constexpr bool empty() const { return stays_ == nullptr && turns_ == nullptr; }
  Turn operator()(PageFrame& frame, int which) const {
    if (turns_ != nullptr) return turns_(frame, which);
    stays_(frame, which);
    return Turn::kStay;
  }

 private:
  void (*stays_)(PageFrame& frame, int which) = nullptr;
  Turn (*turns_)(PageFrame& frame, int which) = nullptr;
};

// A line of the `?` page: keys that do the same or opposite things.
struct KeyEntry {
  enum class Group : unsigned char { kAnywhere, kPage, kTimeline, kStage };
  enum class Needs : unsigned char {
    kNothing,
    kFree,       // no text is being typed and no popup is open
    kNoControl,  // free, and no control has the keyboard focus
    kNoSlider,   // free, and no slider takes the digits
    kTimeline,   // free, and the timeline has the focus
  };
  struct Press {
    ImGuiKeyChord keys = 0;
    int which = 0;
  };

  std::string_view caps;  // shown, separated by blanks; empty if the previous entry shows them
  std::string_view does;
  Group group = Group::kAnywhere;
  Press presses[9] = {};
  char typed = 0;  // instead of a key: this character, in any keyboard layout
  unsigned where = kEverywhere;
  Needs needs = Needs::kFree;
  bool repeats = false;  // while held
  bool owned = false;    // taken from ImGui's navigation; repeats
  Act act = {};          // empty: ImGui acts
};

std::span<const KeyEntry> key_table();

Turn take_keys(PageFrame& frame);
void draw_keys(PageFrame& frame);

namespace acts {

void show_keys(PageFrame& frame, int);
void run(PageFrame& frame, int);
void peel(PageFrame& frame, int);
void undo_or_redo(PageFrame& frame, int which);
void change_screen(PageFrame& frame, int which);
void show_figure_only(PageFrame& frame, int);
void show_contents(PageFrame& frame, int);
void show_glossary(PageFrame& frame, int);
Turn go_where_i_was(PageFrame& frame, int which);
void show_export(PageFrame& frame, int);
void change_scale(PageFrame& frame, int which);
Turn go_on(PageFrame& frame, int);
Turn go_back(PageFrame& frame, int);
void lock(PageFrame& frame, int);
void move_guess(PageFrame& frame, int which);
void take_digit(PageFrame& frame, int which);
void show_next_figure(PageFrame& frame, int);
void pin(PageFrame& frame, int);
void zoom(PageFrame& frame, int which);
void pan(PageFrame& frame, int which);
void step(PageFrame& frame, int which);
Turn turn_screen(PageFrame& frame, int which);
void change_batch(PageFrame& frame, int which);

}  // namespace acts

}  // namespace headroom::app::window
