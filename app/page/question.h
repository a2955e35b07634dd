// The page's question: an answer, locked, then compared with what is right. A number is right when a run says so, a
// choice or an order at once. Numbers are in the question's unit, mostly bytes. Knows nothing of how it is drawn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/result.h"
#include "lessons/pages/page.h"

namespace headroom::app::page {

class Question {
 public:
  enum class State {
    kNone,      // the page asks nothing
    kOpen,      // the answer is hidden
    kWaiting,   // a number is locked; no finished run has the answer yet
    kAnswered,  // locked and compared
    kSkipped,
  };
  struct Reveal {
    double said = 0, is = 0;
    double factor = 1;  // how far off, as a factor of at least 1
  };
  // How far off in words: "that is" "5" "% too high"; from a factor of 1.25 on "off by" "2.0×".
  struct Distance {
    std::string_view head;
    std::string value;
    std::string_view unit;
  };

  // `spec` outlives this; null: no question.
  explicit Question(const lessons::QuestionSpec* spec);

  const lessons::QuestionSpec* spec() const { return spec_; }
  const lessons::NumberQuestion* number() const { return lessons::number_of(spec_); }
  const lessons::ChoiceQuestion* choices() const;  // null: of another kind
  const lessons::OrderQuestion* items() const;
  State state() const { return state_; }
  // Hidden until answered or skipped.
  bool hides() const { return state_ == State::kOpen; }
  bool locked() const { return state_ == State::kWaiting || state_ == State::kAnswered; }
  bool can_lock() const { return state_ == State::kOpen && why_not_lock().empty(); }
  // What is missing before an open question can be locked; empty: nothing.
  std::string_view why_not_lock() const;
  // A number waits for compare(); a choice and an order are answered at once. Nothing given yet: stays open.
  void lock();
  void skip();
  // What was done, in a few words for a file; empty: nothing yet. And done again from them, where they are of this
  // question and it is open; a number then waits for compare().
  std::string remembered() const;
  void recall(const std::string& words);
  // Of what was answered at once; of a number, whether it is within a tenth.
  bool right() const;
  // What to say to a wrong choice or order; empty: right, or a number.
  std::string_view reply() const;
  std::string_view misconception() const;  // its key, in the same way

  // --- a number
  // Of all its numbers.
  lessons::AxisUnit unit() const;
  const std::optional<double>& guess() const { return guess_; }  // empty until the reader gives one
  double highest_guess() const { return highest_guess_; }        // so far; 0: none
  const std::optional<Reveal>& reveal() const { return reveal_; }
  // Kept inside the marker's range; ignored once locked.
  void set_guess(double value);
  // "21", in units of this name and size, or with a unit in the text: "21 GiB".
  record::Status set_guess_text(std::string_view text, std::string_view unit, double size);
  // What a finished run says; false where it cannot answer.
  bool compare(const record::Ledger& run);

  // --- a choice
  const std::optional<std::size_t>& chosen() const { return chosen_; }
  void choose(std::size_t index);  // ignored once locked

  // --- an order: indices into items(), from the first place; it begins in the alphabet's order
  const std::vector<std::size_t>& order() const { return order_; }
  void move(std::size_t from, std::size_t to);  // the item at one place goes to another; ignored once locked

 private:
  const lessons::AnswerChoice* wrong_choice() const;

  const lessons::QuestionSpec* spec_;
  State state_;
  std::optional<double> guess_;
  double highest_guess_ = 0;
  std::optional<Reveal> reveal_;
  std::optional<std::size_t> chosen_;
  std::vector<std::size_t> order_;
};

Question::Distance distance_of(const Question::Reveal& reveal);

}  // namespace headroom::app::page
