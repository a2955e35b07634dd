// Asks attempt after attempt.
#include "app/page/second_question.h"

#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "app/page/question.h"

namespace headroom::app::page {

SecondQuestion::SecondQuestion(const lessons::Page& page) : page_(&page) {
  if (exists()) ask_attempt(0);
}

void SecondQuestion::ask_attempt(int attempt) {
  const lessons::SecondQuestion& spec = *page_->lesson.second;
  const record::Params settings = lessons::settings_of_attempt(*page_, attempt);
  attempt_ = attempt;
  ask_ = lessons::with_drawn(spec.ask, spec, settings);
  because_ = lessons::mark_links(lessons::with_drawn(spec.because, spec, settings));
  key_ = lessons::key_of(spec, settings);
  unit_ = lessons::unit_for(spec.answer->unit, key_);
  said_.reset();
}

bool SecondQuestion::right() const {
  return said_ && std::abs(*said_ - key_) <= page_->lesson.second->tolerance * std::abs(key_);
}

record::Status SecondQuestion::answer(std::string_view text) {
  if (!exists() || said_) return record::Ok{};
  const auto number = typed_amount(text, page_->lesson.second->answer->unit, unit_.name, unit_.size);
  if (!number) return number.error();
  said_ = number.value();
  return record::Ok{};
}

void SecondQuestion::again() {
  if (said_) ask_attempt(attempt_ + 1);
}

std::string SecondQuestion::remembered() const {
  if (attempt_ == 0 && !said_) return {};
  return said_ ? fmt::format("{} said {:.17g}", attempt_ + 1, *said_) : std::to_string(attempt_ + 1);
}

bool SecondQuestion::recall(const std::string& words) {
  std::istringstream text(words);
  int attempt = 0;
  if (!exists() || !(text >> attempt) || attempt < 1) return false;
  ask_attempt(attempt - 1);
  std::string what;
  if (!(text >> what)) return true;
  double value = 0;
  if (what != "said" || !(text >> value)) return false;
  said_ = value;
  return true;
}

}  // namespace headroom::app::page
