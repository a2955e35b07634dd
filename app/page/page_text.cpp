// A page's words as the window draws them.
#include "app/page/page_text.h"

namespace headroom::app::page {

PageText text_of(const lessons::Page& page, const lessons::NumberInput& numbers) {
  const auto marked = [&](const std::string& markdown) {
    return lessons::mark_terms(lessons::with_numbers(markdown, numbers));
  };
  PageText text;
  text.body = marked(lessons::markdown_of(page.front));
  text.more = marked(lessons::markdown_of(page.more));
  if (page.question) {
    text.ask = lessons::with_numbers(page.question->ask, numbers);
    text.because = lessons::with_numbers(page.question->because, numbers);
  }
  return text;
}

bool has_numbers(const lessons::Page& page) {
  const auto in = [](const std::string& markdown) { return !lessons::numbers_in(markdown).empty(); };
  const bool asked = page.question && (in(page.question->ask) || in(page.question->because));
  return asked || in(lessons::markdown_of(page.front)) || in(lessons::markdown_of(page.more));
}

}  // namespace headroom::app::page
