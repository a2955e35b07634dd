// The finder (Ctrl P), with what is typed and found. The glossary.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/page/words/finder.h"
#include "app/window/draw/draw.h"
#include "app/window/views/page_frame.h"

namespace headroom::app::window {

// Commands (actions of keys and buttons), those that would do nothing now with the reason.
std::vector<page::Findable> commands_now(const PageFrame& frame);
Turn run_command(std::string_view id, PageFrame& frame);

class FinderView {
 public:
  explicit FinderView(const lessons::Course& course) : finder_(course) {}

  // Draws while open; UiState::open opens it. Returns the choice. `read`: pages whose question is answered.
  std::optional<page::Findable> draw(PageFrame& frame, std::span<const lessons::Page* const> read);

 private:
  void open(const PageFrame& frame, std::span<const lessons::Page* const> read);
  void search(const PageFrame& frame, std::span<const lessons::Page* const> read);
  void move(std::size_t rows);
  // Null: Enter does nothing, because the row is gray, or another page's text that the reader did not
  // choose.
  const page::Findable* on_enter() const;
  std::string_view hint() const;
  std::optional<page::Findable> draw_rows(const Rect& rect, std::size_t rows);

  page::Finder finder_;
  std::vector<page::Findable> now_;  // settings and commands as of opening
  const lessons::Page* here_ = nullptr;
  std::string typed_, searched_;
  std::vector<page::Found> found_;
  std::size_t chosen_ = 0, first_ = 0;
  bool picked_ = false;   // the reader chose the row, by an arrow key or the mouse
  bool entered_ = false;  // Enter did nothing, so the field takes the focus again
};

class GlossaryView {
 public:
  explicit GlossaryView(const lessons::Course& course) : entries_(page::glossary_of(course)) {}

  // Draws while open; UiState::open opens it. Returns the clicked page, or null.
  const lessons::Page* draw(UiState& ui);

 private:
  const lessons::Page* draw_entry(const page::GlossaryEntry& entry, float width);
  const lessons::Page* draw_pages(const page::GlossaryEntry& entry, Rect rect, float& bottom);

  std::vector<page::GlossaryEntry> entries_;
  std::string shown_;     // key of the requested term
  std::string unfolded_;  // key of the term with all pages shown
  int to_scroll_ = 0;     // frames left until the term is in sight
};

}  // namespace headroom::app::window
