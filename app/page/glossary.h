// The glossary as a reader reads it: all terms in the alphabet's order, each with the pages that use it.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/course.h"

namespace headroom::app::page {

struct GlossaryEntry {
  std::string key, name, text;
  std::vector<const lessons::Page*> pages;  // in the course's order
};

std::vector<GlossaryEntry> glossary_of(const lessons::Course& course);

}  // namespace headroom::app::page
