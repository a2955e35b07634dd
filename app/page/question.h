// The page's questions. Once the first is locked, a number waits for a run; choices and orders are answered at once.
// Numbers are in the question's unit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "lessons/pages/page.h"
#include "lessons/pages/words.h"
#include "lessons/shown_unit.h"

namespace headroom::app::page {

// Parses "21", which is in `unit`, or "21 GiB".
record::Result<double> typed_amount(std::string_view text, lessons::AxisUnit quantity, std::string_view unit,
                                    double size);

class Question {
 public:
  enum class State {
    kNone,
    kOpen,     // the answer is hidden
    kWaiting,  // for a finished run with the answer
    kAnswered,
    kSkipped,
  };
  struct Reveal {
    double said = 0, is = 0;
    double factor = 1;  // the error, at least 1
  };
  // The error in words: "that is" "5" "% too high", or "off by" "2.0×".
  struct Distance {
    std::string_view head;
    std::string value;
    std::string_view unit;
  };

  // `spec` must outlive this; null: no question.
  explicit Question(const lessons::QuestionSpec* spec);

  const lessons::QuestionSpec* spec() const { return spec_; }
  const lessons::NumberQuestion* number() const { return lessons::number_of(spec_); }
  const lessons::ChoiceQuestion* choices() const;  // null: another kind
  const lessons::OrderQuestion* items() const;
  State state() const { return state_; }
  bool hides() const { return state_ == State::kOpen; }
  bool locked() const { return state_ == State::kWaiting || state_ == State::kAnswered; }
  bool can_lock() const { return state_ == State::kOpen && why_not_lock().empty(); }
  // Why an open question cannot be locked.
  std::string_view why_not_lock() const;
  // No-op without an answer.
  void lock();
  void skip();
  // The answer as saved in a file; empty: none yet. recall() gives it to an open question; a number then waits for
  // compare().
  std::string remembered() const;
  void recall(const std::string& words);
  // Numbers count as right within 10 %.
  bool right() const;
  // Empty unless a choice or order is wrong.
  std::string_view reply() const;

  lessons::AxisUnit unit() const;
  const std::optional<double>& guess() const { return guess_; }
  double highest_guess() const { return highest_guess_; }  // 0: none
  const std::optional<Reveal>& reveal() const { return reveal_; }
  // Clamped to the marker's range; ignored once locked.
  void set_guess(double value);
  // "21", in a unit of this name and size, or "21 GiB".
  record::Status set_guess_text(std::string_view text, std::string_view unit, double size);
  // Returns false if the run has no answer.
  bool compare(const record::Ledger& run, std::shared_ptr<const record::Recording> recording = {});
  const std::shared_ptr<const record::Recording>& compared_with() const { return compared_with_; }

  const std::optional<std::size_t>& chosen() const { return chosen_; }
  void choose(std::size_t index);  // ignored once locked

  // Indices into items(), alphabetical at first.
  const std::vector<std::size_t>& order() const { return order_; }
  void move(std::size_t from, std::size_t to);  // ignored once locked

 private:
  const lessons::AnswerChoice* wrong_choice() const;

  const lessons::QuestionSpec* spec_;
  State state_;
  std::optional<double> guess_;
  double highest_guess_ = 0;
  std::optional<Reveal> reveal_;
  std::shared_ptr<const record::Recording> compared_with_;
  std::optional<std::size_t> chosen_;
  std::vector<std::size_t> order_;
};

Question::Distance distance_of(const Question::Reveal& reveal);

// The page's question after the explanation: each attempt has other settings.
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
  // No-op without an answer.
  void again();

  // The answer as saved in a file; empty: never answered. recall() is false for invalid words.
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
