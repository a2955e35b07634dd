// Where the reader was, as in a browser: back to it, and forward again.
#pragma once

#include <cstddef>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::app::page {

struct Visit {
  const lessons::Page* page = nullptr;
  int step = -1;  // of Read more, from 0; −1: what is read first
};

class History {
 public:
  // The reader has come to a page by another way than this. What was ahead is forgotten.
  void visit(const lessons::Page& page) {
    if (!visits_.empty() && visits_[at_].page == &page) return;
    if (!visits_.empty()) visits_.resize(++at_);
    visits_.push_back({&page});
  }
  // The step that the reader is at, on the page of now.
  void note_step(int step) {
    if (!visits_.empty()) visits_[at_].step = step;
  }
  // The visit before (−1) or the one after (+1), which is that of now from here on; null: there is none.
  const Visit* go(int direction) {
    if (!can_go(direction)) return nullptr;
    at_ = direction < 0 ? at_ - 1 : at_ + 1;
    return &visits_[at_];
  }
  bool can_go(int direction) const { return direction < 0 ? at_ > 0 : at_ + 1 < visits_.size(); }

 private:
  std::vector<Visit> visits_;
  std::size_t at_ = 0;
};

}  // namespace headroom::app::page
