// A page's words as the window draws them.
#include "app/page/page_text.h"

namespace headroom::app::page {

PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers) {
  const auto marked = [&](const std::vector<lessons::Block>& blocks) {
    return lessons::mark_terms(lessons::with_numbers(lessons::markdown_of(blocks), numbers));
  };
  PageText text;
  text.body = marked(page.front);
  for (const lessons::TourStep& step : page.more) text.more.push_back(marked(step.blocks));
  if (page.question) {
    text.ask = lessons::with_numbers(page.question->ask, numbers);
    text.because = lessons::with_numbers(page.question->because, numbers);
  }
  return text;
}

}  // namespace headroom::app::page
