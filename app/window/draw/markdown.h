// Page text on screen: Markdown with formulas, through imgui_rich_md, with our faces and with terms that light their
// part of the figure.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "demos/record/units.h"
#include "lessons/pages/words.h"

namespace headroom::app::window {

class Markdown {
 public:
  // After ImGui and its backends are set up; destroyed before they are shut down.
  explicit Markdown(std::filesystem::path fonts, lessons::Glossary glossary);
  ~Markdown();
  Markdown(const Markdown&) = delete;
  Markdown& operator=(const Markdown&) = delete;

  // At the cursor, as wide as the window's content. `line`: line height over em. `lit`: the kind that is pointed at
  // elsewhere.
  void render(const lessons::MarkedText& text, float em, float line, std::optional<record::Category> lit);
  // A plain paragraph of ours (question, because) in the same way.
  void render(const std::string& text, float em, float line);

  // The kind whose term the mouse is on, as of the last frame's render() calls.
  std::optional<record::Category> pointed_at() const { return pointed_at_; }
  void begin_frame() { pointed_at_.reset(); }

 private:
  bool on_tag(const std::string& tag, bool opening);
  void end_term(std::size_t index);

  lessons::Glossary glossary_;
  const lessons::MarkedText* rendered_ = nullptr;
  float em_ = 14;
  std::size_t last_term_ = 0;  // the term of the word before, and where that word ended
  float last_x_ = 0, last_y_ = -1;
  std::optional<record::Category> lit_;
  std::optional<record::Category> pointed_at_;
};

}  // namespace headroom::app::window
