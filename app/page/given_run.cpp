// Matches recordings with pages.
#include "app/page/given_run.h"

#include <algorithm>

#include "lessons/figure.h"

namespace headroom::app::page {

bool shows_run(const lessons::Page& page, const record::Recording& recording) {
  if (page.demo.empty() || page.demo != recording.info().demo) return false;
  const auto& points = recording.sweep_points();
  const auto wanted = points.empty()                      ? lessons::Basis::kRun
                      : points.front().series == "ladder" ? lessons::Basis::kLadder
                                                          : lessons::Basis::kSweep;
  return std::ranges::any_of(page.figures, [&](const std::string& id) {
    const lessons::Figure* const figure = lessons::find_figure(id);
    return figure != nullptr && figure->basis == wanted;
  });
}

const lessons::Page* page_of_run(const lessons::Course& course, const record::Recording& recording) {
  for (const lessons::Page* const page : course.pages())
    if (shows_run(*page, recording)) return page;
  return nullptr;
}

}  // namespace headroom::app::page
