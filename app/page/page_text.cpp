// A page's words as the window draws them.
#include "app/page/page_text.h"

namespace headroom::app::page {

PageText text_of(const lessons::Page& page) {
  PageText text;
  text.body = lessons::mark_terms(lessons::markdown_of(page.front));
  text.more = lessons::mark_terms(lessons::markdown_of(page.more));
  if (page.question) {
    text.ask = page.question->ask;
    text.because = page.question->because;
  }
  return text;
}

}  // namespace headroom::app::page
