// Back and forward between visited pages, as in a browser; undo and redo of settings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demos/record/schema.h"
#include "lessons/pages/page.h"

namespace headroom::app::page {

struct Visit {
  const lessons::Page* page = nullptr;
  int step = -1;  // step of Read more, from 0; −1: before Read more
};

class History {
 public:
  // Call for pages not opened by go(). Forgets the visits after the current one.
  void visit(const lessons::Page& page) {
    if (!visits_.empty() && visits_[at_].page == &page) return;
    if (!visits_.empty()) visits_.resize(++at_);
    visits_.push_back({&page});
  }
  void note_step(int step) {
    if (!visits_.empty()) visits_[at_].step = step;
  }
  // Moves to the previous (−1) or next (+1) visit.
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

// Settings for undo and redo, and those before a switch was held.
class SettingsHistory {
 public:
  // `key`: the changed setting; empty: several. Consecutive changes of one key, as from a slider, are one undo step.
  void remember(std::string_view key, const record::Params& before) {
    constexpr std::size_t kMost = 100;
    after_.clear();
    if (key.empty() || key != remembered_key_ || before_.empty()) before_.push_back(before);
    if (before_.size() > kMost) before_.erase(before_.begin());
    remembered_key_ = key;
  }
  void forget_changes() { before_.clear(); }
  bool changed() const { return !before_.empty(); }
  std::optional<record::Params> undo(const record::Params& now) { return step(before_, after_, now); }
  std::optional<record::Params> redo(const record::Params& now) { return step(after_, before_, now); }

  // Undo and redo skip settings that came from a held switch.
  void hold(const record::Params& now) { held_from_ = now; }
  bool holding() const { return held_from_.has_value(); }
  std::optional<record::Params> release() { return std::exchange(held_from_, std::nullopt); }

 private:
  std::optional<record::Params> step(std::vector<record::Params>& from, std::vector<record::Params>& to,
                                     const record::Params& now) {
    if (from.empty()) return std::nullopt;
    record::Params wanted = std::move(from.back());
    from.pop_back();
    to.push_back(now);
    remembered_key_.clear();
    return wanted;
  }

  std::vector<record::Params> before_, after_;
  std::string remembered_key_;
  std::optional<record::Params> held_from_;
};

}  // namespace headroom::app::page
