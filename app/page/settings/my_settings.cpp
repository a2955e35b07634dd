// Copies the settings that pages have in common.
#include "app/page/settings/my_settings.h"

#include <string>

#include "app/page/page_facts.h"

namespace headroom::app::page {

namespace {

// `to` with the values of `from`. Run lengths, seeds and files of a run stay.
record::Params with_values_of(const record::Params& from, record::Params to) {
  for (const record::ParamSpec& spec : to.schema())
    if (travels(spec) && from.has(spec.key)) (void)to.set(spec.key, std::string_view(from.as_text(spec.key)));
  return to;
}

bool has_settings(const PageModel& page) { return has_step_settings(page) || lessons::calculates(page.page()); }

}  // namespace

void MySettings::open(PageModel& page) {
  if (card_ && limit_set(page) == 0) page.choose_card(*card_);
  const bool takes = taken_by(page) || (!page.page().lesson.in_course && !page.runs().is_given());
  if (set_ && takes) page.adopt(with_values_of(*set_, page.settings()));
  followed_ = nullptr;
}

void MySettings::follow(const PageModel& page) {
  if (page.history().holding() || page.trying() || page.control().running()) return;
  const predict::Card* const card = page.verdict().chosen_card();
  if (followed_ == &page && card != seen_) card_ = card;
  followed_ = &page;
  seen_ = card;
  if (!page.page().lesson.in_course)
    set_ = page.settings();
  else if (taken_by(page))
    set_ = with_values_of(page.settings(), *set_);
}

bool MySettings::offered(const PageModel& page) const {
  if (!set_ || !page.page().lesson.in_course || taken_by(page) || page.question().hides() || !has_settings(page)) return false;
  return !(with_values_of(*set_, page.settings()) == page.settings());
}

void MySettings::give(PageModel& page) {
  if (!offered(page)) return;
  const bool pins = page.run_a().pinned() == nullptr && can_pin(page);
  own_[&page] = {page.settings(), pins};
  if (pins) toggle_pin(page);
  page.adopt(with_values_of(*set_, page.settings()));
}

void MySettings::give_back(PageModel& page) {
  const auto own = own_.find(&page);
  if (own == own_.end()) return;
  if (own->second.pinned && page.run_a().pinned() != nullptr) toggle_pin(page);
  page.adopt(own->second.settings);
  own_.erase(own);
}

}  // namespace headroom::app::page
