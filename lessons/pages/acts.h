// Links in a page's words that do something: `[batch 8](set:batch=8)`, `[the needle](view:zoom=loss
// highlight=logits)`, `[the chunks](page:flce)`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "lessons/pages/page.h"

namespace headroom::lessons {

struct Act {
  std::vector<Setting> settings;  // of the page, to set
  std::string page;               // id of the page to open
  TourView view;                  // to show, where neither is there

  bool sets() const { return !settings.empty(); }
  bool shows() const { return settings.empty() && page.empty(); }
};

// "set:batch=8&checkpointing=layer", "view:zoom=loss highlight=logits", "page:flce"
bool is_act(std::string_view target);
record::Result<Act> parse_act(std::string_view target);
// "batch=8 checkpointing=layer", as the command line takes it; empty: the link sets nothing.
std::string assignment_of(const Act& act);

// A part of a view by its key; refuses unknown keys.
record::Status set_in_view(TourView& view, const Setting& part);

// Says what on this page leads nowhere: values that a setting refuses, settings that do not go together or would do
// nothing, places that a view cannot have. Pages that a link opens are looked up when all are read (course.cpp).
using Complain = std::function<void(std::string what)>;
void check_act(const Act& act, const Page& page, const Complain& complain);
void check_view(const TourView& view, const Page& page, const Complain& complain);

}  // namespace headroom::lessons
