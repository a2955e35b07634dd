// The glossary in alphabetical order, with the pages that use each term.
#pragma once

#include <string>
#include <vector>

#include "lessons/pages/course.h"

namespace headroom::app::page {

struct GlossaryEntry {
  std::string key, name, text;
  std::vector<const lessons::Page*> pages;
};

std::vector<GlossaryEntry> glossary_of(const lessons::Course& course);

}  // namespace headroom::app::page
