// Back and forward between visited pages, as in a browser.
#pragma once

#include <cstddef>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::app::page {

struct Visit {
  const lessons::Page* page = nullptr;
  int step = -1;  // of Read more, from 0; −1: before it
};

class History {
 public:
  // For pages not opened by go(). Forgets the visits ahead.
  void visit(const lessons::Page& page) {
    if (!visits_.empty() && visits_[at_].page == &page) return;
    if (!visits_.empty()) visits_.resize(++at_);
    visits_.push_back({&page});
  }
  void note_step(int step) {
    if (!visits_.empty()) visits_[at_].step = step;
  }
  // Moves to the previous (−1) or next (+1) visit; null: none.
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
