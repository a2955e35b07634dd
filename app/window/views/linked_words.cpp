// Words with links that act on the page.
#include "app/window/views/linked_words.h"

#include "app/page/acts.h"
#include "app/page/page_model.h"
#include "app/window/draw/markdown.h"

namespace headroom::app::window {

void draw_linked(PageFrame& frame, const lessons::MarkedText& words, float em, float line) {
  const page::PageModel& page = frame.page;
  const ActWords acts{[&page](const lessons::Act& act) { return page::why_no_act(act, page); },
                      [&page](const lessons::Act& act) { return page::in_words(act, page); }};
  const lessons::Act* const act = frame.markdown.render(words, em, line, frame.state.lit, acts);
  if (act == nullptr) return;
  if (!act->page.empty()) {
    frame.ui.open_page = act->page;
    return;
  }
  const record::Status done = page::perform(*act, frame.page);
  frame.state.refused_value = done ? std::string() : done.error().message;
  if (act->sets()) return;
  frame.state.figure_face = frame.faces;
  if (frame.state.reading_more) frame.state.lit_by_step = lessons::category_of_term(act->view.highlight);
}

}  // namespace headroom::app::window
