// The page's question after the explanation: each attempt has other settings. No drawing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "demos/record/result.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"
#include "lessons/shown_unit.h"

namespace headroom::app::page {

class SecondQuestion {
 public:
  // `page` must outlive this.
  explicit SecondQuestion(const lessons::Page& page);

  bool exists() const { return page_->lesson.second.has_value(); }
  // This attempt's words, with its numbers.
  const std::string& ask() const { return ask_; }
  const lessons::MarkedText& because() const { return because_; }
  const lessons::ShownUnit& unit() const { return unit_; }
  double key() const { return key_; }
  int attempt() const { return attempt_; }  // from 0
  const std::optional<double>& said() const { return said_; }
  bool right() const;

  // "19.8", in unit(), or "19.8 GiB". The first answer of an attempt counts.
  record::Status answer(std::string_view text);
  // The next attempt; no-op without an answer.
  void again();

  // For a file; empty: never answered. recall() is false for invalid words.
  std::string remembered() const;
  bool recall(const std::string& words);

 private:
  void ask_attempt(int attempt);

  const lessons::Page* page_;
  int attempt_ = 0;
  std::string ask_;
  lessons::MarkedText because_;
  double key_ = 0;
  lessons::ShownUnit unit_;
  std::optional<double> said_;
};

}  // namespace headroom::app::page
