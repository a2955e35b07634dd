// Renders page text: Markdown with formulas, through imgui_rich_md, in our faces, with terms that highlight their
// part of the figure and links that act.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "imgui.h"
#include "lessons/pages/words.h"

namespace headroom::app::window {

struct ActWords {
  std::function<std::string(const lessons::Act&)> why_not;   // why a link cannot act, in plain text; empty: it can
  std::function<std::string(const lessons::Act&)> in_words;  // for tooltips
};

class Markdown {
 public:
  // Create after ImGui and its backends are set up; destroy before they shut down.
  explicit Markdown(std::filesystem::path fonts, lessons::Glossary glossary);
  ~Markdown();
  Markdown(const Markdown&) = delete;
  Markdown& operator=(const Markdown&) = delete;

  // Renders at the cursor, as wide as the window's content. `line`: line height over em. `lit`: the kind pointed at
  // elsewhere. Returns the activated link or null.
  const lessons::Act* render(const lessons::MarkedText& text, float em, float line, std::optional<record::Category> lit,
                             const ActWords& acts);
  // Renders a plain paragraph (question, because).
  void render(const std::string& text, float em, float line);

  // The kind whose term or link the mouse was on in the last frame.
  std::optional<record::Category> pointed_at() const { return pointed_at_; }
  // The link that the mouse is on; null: none.
  const lessons::Act* pointed_act() const { return pointed_act_ ? &*pointed_act_ : nullptr; }
  // Key of the clicked term; empty: none.
  const std::string& clicked_term() const { return clicked_term_; }
  void begin_frame() {
    clicked_term_.clear();
    pointed_act_.reset();
    pointed_at_.reset();
    links_ = 0;
  }

 private:
  bool on_tag(const std::string& tag, bool opening);
  void end_term(std::size_t index);
  void end_act_word(std::size_t index);
  const lessons::Act* draw_acts();

  lessons::Glossary glossary_;
  const lessons::MarkedText* rendered_ = nullptr;
  float em_ = 14;
  std::size_t last_term_ = 0;  // term and end of the previous word
  float last_x_ = 0, last_y_ = -1;
  // The part of a link on one line.
  struct ActLine {
    std::size_t act = 0;  // index in the text
    ImVec2 from, to;
  };
  std::vector<ActLine> act_lines_;
  const ActWords* acts_ = nullptr;
  int links_ = 0;  // active links of this frame
  std::optional<record::Category> lit_;
  std::optional<record::Category> pointed_at_;
  std::optional<lessons::Act> pointed_act_;
  std::string clicked_term_;
  bool on_term_ = false;
};

}  // namespace headroom::app::window
