// Links in a page's words that act: `[batch 8](set:batch=8)`, `[the needle](view:zoom=loss highlight=logits)`, `[the
// chunks](page:flce)`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "lessons/pages/page.h"

namespace headroom::lessons {

struct Act {
  std::vector<Setting> settings;
  std::string page;
  TourView view;  // shown if the link has neither settings nor a page

  bool sets() const { return !settings.empty(); }
  bool shows() const { return settings.empty() && page.empty(); }
};

bool is_act(std::string_view target);
record::Result<Act> parse_act(std::string_view target);
// "batch=8 checkpointing=layer", as on the command line; empty if the link sets nothing.
std::string assignment_of(const Act& act);

// Sets a part of a view by its key. Fails for unknown keys.
record::Status set_in_view(TourView& view, const Setting& part);

// Complains about refused, conflicting or unused settings and unknown places of a view. course.cpp checks links to
// pages.
using Complain = std::function<void(std::string what)>;
void check_act(const Act& act, const Page& page, const Complain& complain);
void check_view(const TourView& view, const Page& page, const Complain& complain);

}  // namespace headroom::lessons
