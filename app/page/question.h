// The page's question: a guess, locked, then compared with what a run says. Numbers are in the question's unit, mostly
// bytes. Knows nothing of how it is drawn.
#pragma once

#include <optional>
#include <string_view>

#include "demos/record/result.h"
#include "lessons/chapter.h"

namespace headroom::app::page {

class Question {
 public:
  enum class State {
    kNone,      // the page asks nothing
    kOpen,      // the answer is hidden
    kWaiting,   // locked; no finished run has the answer yet
    kAnswered,  // locked and compared
    kSkipped,
  };
  struct Reveal {
    double said = 0, is = 0;
    double factor = 1;  // how far off, as a factor of at least 1
  };

  explicit Question(const lessons::Prediction* prediction);

  State state() const { return state_; }
  // Hidden until answered or skipped.
  bool hides() const { return state_ == State::kOpen; }
  bool locked() const { return state_ == State::kWaiting || state_ == State::kAnswered; }
  // Of all its numbers.
  lessons::AxisUnit unit() const { return prediction_ == nullptr ? lessons::AxisUnit::kBytes : prediction_->unit; }
  const std::optional<double>& guess() const { return guess_; }  // empty until something is known to guess about
  const std::optional<Reveal>& reveal() const { return reveal_; }

  // Kept inside the marker's range; ignored once locked.
  void set_guess(double value);
  // Where the marker stands until the reader moves it. True if it moved.
  bool suggest(double value);
  // "21", in units of this name and size, or with a unit of its own: "21 GiB".
  record::Status set_guess_text(std::string_view text, std::string_view unit, double size);
  void lock();
  void skip();
  // What a finished run says; false where it cannot answer.
  bool compare(const record::Ledger& run);

 private:
  const lessons::Prediction* prediction_;
  State state_;
  std::optional<double> guess_;
  bool moved_by_reader_ = false;
  std::optional<Reveal> reveal_;
};

}  // namespace headroom::app::page
