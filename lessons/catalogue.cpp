// Looks chapters' pages and figures up by id.
#include "lessons/chapter.h"
#include "lessons/figure.h"

namespace headroom::lessons {

const Figure* find_figure(std::string_view id) {
  for (const Figure* figure : figures()) {
    if (figure->id == id) return figure;
  }
  return nullptr;
}

const Page* find_page(std::string_view id) {
  for (const Chapter* chapter : chapters()) {
    for (const Page* page : chapter->pages) {
      if (page->id == id) return page;
    }
  }
  return nullptr;
}

}  // namespace headroom::lessons
