// Checks of whole pages: limits of the final format, which a page declares with the lines "goal" and "minutes", and one
// control for one thing.
#pragma once

#include <string_view>

#include "lessons/pages/document.h"
#include "lessons/pages/page.h"

namespace headroom::lessons {

// Skips other pages. A page with only one of the two lines has a problem.
void lint_page(const Document& document, const Page& page, Problems& problems);

// A figure's parameter shares neither key nor label with a setting in use. Pages whose figures ignore the settings show
// none of them and are exempt.
void lint_controls(const Document& document, const Page& page, Problems& problems);

// Counts numbers in digits, without those in formulas, link targets, live numbers, names of models, and "8-bit".
int count_numbers(std::string_view markdown);
bool has_verb(std::string_view sentence);

}  // namespace headroom::lessons
