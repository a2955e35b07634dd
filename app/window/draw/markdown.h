// Page text on screen: Markdown with formulas, through imgui_rich_md, with our faces, with terms that light their part
// of the figure, and with links that act.
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

// What the links that act do on the page on show.
struct ActWords {
  std::function<std::string(const lessons::Act&)> why_not;   // empty: it acts; else it is plain text
  std::function<std::string(const lessons::Act&)> in_words;  // for its tooltip
};

class Markdown {
 public:
  // After ImGui and its backends are set up; destroyed before they are shut down.
  explicit Markdown(std::filesystem::path fonts, lessons::Glossary glossary);
  ~Markdown();
  Markdown(const Markdown&) = delete;
  Markdown& operator=(const Markdown&) = delete;

  // At the cursor, as wide as the window's content. `line`: line height over em. `lit`: the kind that is pointed at
  // elsewhere. Returns the link that acts now, by mouse or keyboard; null: none.
  const lessons::Act* render(const lessons::MarkedText& text, float em, float line, std::optional<record::Category> lit,
                             const ActWords& acts);
  // A plain paragraph of ours (question, because) in the same way.
  void render(const std::string& text, float em, float line);

  // The kind whose term or view the mouse is on, as of the last frame's render() calls.
  std::optional<record::Category> pointed_at() const { return pointed_at_; }
  // What the link does that the mouse is on, as of those calls; null: it is on none.
  const lessons::Act* pointed_act() const { return pointed_act_ ? &*pointed_act_ : nullptr; }
  // Key of the term that was clicked in them; empty: none.
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
  std::size_t last_term_ = 0;  // the term of the word before, and where that word ended
  float last_x_ = 0, last_y_ = -1;
  // A link on one line; one that goes on in the next line is several.
  struct ActLine {
    std::size_t act = 0;  // of the text
    ImVec2 from, to;
  };
  std::vector<ActLine> act_lines_;  // of the text that is rendered
  const ActWords* acts_ = nullptr;
  int links_ = 0;  // that act, in this frame: their names
  std::optional<record::Category> lit_;
  std::optional<record::Category> pointed_at_;
  std::optional<lessons::Act> pointed_act_;
  std::string clicked_term_;
  bool on_term_ = false;  // the mouse, of the text that is rendered
};

}  // namespace headroom::app::window
