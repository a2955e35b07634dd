// The reader's settings and card: one set, which the bench edits and every page can take.
#pragma once

#include <map>
#include <optional>

#include "demos/predict/cards/cards.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

class PageModel;

class MySettings {
 public:
  const std::optional<record::Params>& set() const { return set_; }
  void take(const record::Params& set) { set_ = set; }
  // Empty: each page has its own. Null: this machine's card, or that of the page's run.
  const std::optional<const predict::Card*>& card() const { return card_; }
  void take_card(const predict::Card* card) { card_ = card; }

  // Call when a page opens: gives it the card, and the set if it has taken it.
  void open(PageModel& page);
  // Call once per frame with the current page: changes on the bench, or on a page with the set, change the set.
  void follow(const PageModel& page);

  // True if the page can take the set, and would change.
  bool offered(const PageModel& page) const;
  bool taken_by(const PageModel& page) const { return own_.contains(&page); }
  // Gives the page the set, pinning its run as A; or its own settings again.
  void give(PageModel& page);
  void give_back(PageModel& page);

 private:
  struct Own {
    record::Params settings;
    bool pinned = false;  // run A was pinned for the comparison
  };

  std::optional<record::Params> set_;
  std::optional<const predict::Card*> card_;
  const PageModel* followed_ = nullptr;
  const predict::Card* seen_ = nullptr;  // the followed page's card
  std::map<const PageModel*, Own> own_;  // of pages that have taken the set
};

}  // namespace headroom::app::page
