// The question after the explanation: the same idea with other settings, drawn anew at each attempt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demos/experiments/sweep_axes.h"
#include "lessons/pages/answers.h"

namespace headroom::lessons {

struct Page;

struct SecondQuestion {
  std::string ask, because;                   // Markdown; {batch} is the drawn value
  std::vector<experiments::SweepAxis> drawn;  // settings, and the values to draw from
  const Answer* answer = nullptr;             // has a formula
  double tolerance = 0.1;                     // as a share of the right number
};

// All settings of an attempt, which counts from 0. Every combination comes once before any comes again, in the page's
// own order. The page must have a second question.
record::Params settings_of_attempt(const Page& page, int attempt);
// The right number.
double key_of(const SecondQuestion& question, const record::Params& settings);
// Fills in drawn values and live numbers.
std::string with_drawn(std::string_view markdown, const SecondQuestion& question, const record::Params& settings);

}  // namespace headroom::lessons
