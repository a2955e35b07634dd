// A page and its state as text:
//
//     headroom:PAGE[/STEP][?KEY=VALUE&…][#FIGURE[?KEY=VALUE&…]]
//     headroom:schedule/2?batch=8&checkpointing=layer#checkpoint_schedule?frame=3
//
// KEY is a setting, or "card". STEP counts the steps of Read more from 1. Settings that a link omits have the page's initial values. A page's name
// alone leaves the page as it is. Special characters are escaped: %26 is "&".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::app::page {

class PageModel;

struct Link {
  std::string page;
  int step = -1;       // from 0; −1: before Read more
  bool state = false;  // false: settings stay as they are
  std::vector<lessons::Setting> settings, figure_settings;
  std::string figure;                // empty: the first
  std::vector<std::string> refused;  // a sentence per invalid part
};

bool is_link(std::string_view text);  // starts with "headroom:"
Link parse_link(std::string_view text);
// `step` of Read more, from 0; −1: none.
std::string link_to(const PageModel& page, int step);
// The bench with these settings, "KEY=VALUE", and that card; empty: its own.
std::string link_to_bench(const std::vector<std::string>& settings, const std::string& card);
// Applies all but the step. Returns a sentence per part left out.
std::vector<std::string> apply(const Link& link, PageModel& page);

}  // namespace headroom::app::page
