// The course of this source tree, read once.
#pragma once

#include <stdexcept>
#include <string>

#include "lessons/pages/course.h"

namespace headroom::tests {

inline const lessons::Course& course() {
  static const lessons::Course course = lessons::Course::load(HEADROOM_SOURCE_DIR "/assets");
  return course;
}

inline const lessons::Page& page(std::string_view id) {
  const lessons::Page* page = course().find_page(id);
  if (page == nullptr) throw std::logic_error("There is no page " + std::string(id));
  return *page;
}

inline const lessons::QuestionSpec* question_of(const lessons::Page& page) {
  return page.question ? &*page.question : nullptr;
}

// A page's right answer, which must be a number.
inline const lessons::Answer& answer_of(std::string_view id) {
  const lessons::NumberQuestion* question = lessons::number_of(question_of(page(id)));
  if (question == nullptr) throw std::logic_error("The page " + std::string(id) + " does not ask for a number");
  return *question->answer;
}

}  // namespace headroom::tests
