// A page and its state as text, to send to another reader:
//
//     headroom:PAGE[/STEP][?KEY=VALUE&…][#FIGURE[?KEY=VALUE&…]]
//     headroom:schedule/2?batch=8&checkpointing=layer#checkpoint_schedule?frame=3
//
// STEP is of Read more, from 1. Settings that a link does not name are as the page begins. The page's name alone, without
// "headroom:" and settings, is the page as the reader left it. %26 is "&", and so on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/page.h"

namespace headroom::app::page {

class PageModel;

struct Link {
  std::string page;
  int step = -1;       // from 0; −1: what is read first
  bool state = false;  // it says what the settings are; false: they stay
  std::vector<lessons::Setting> settings, figure_settings;
  std::string figure;                // empty: the first
  std::vector<std::string> refused;  // what of the text is no part of a link, a sentence each
};

bool is_link(std::string_view text);  // it begins as one
Link parse_link(std::string_view text);
// Of what is on show. `step`: of Read more.
std::string link_to(const PageModel& page, int step);
// Brings the page into that state but for the step. What does not exist there is left out: a sentence each.
std::vector<std::string> apply(const Link& link, PageModel& page);

}  // namespace headroom::app::page
