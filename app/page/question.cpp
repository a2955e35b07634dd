// The page's question.
#include "app/page/question.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "demos/record/units.h"

namespace headroom::app::page {

namespace {

// "1,024" as this program writes it is a thousand and more; "21,5" is what many readers type for 21.5.
std::string without_commas(std::string_view text) {
  std::string plain(text);
  const auto is_digit = [&plain](std::size_t i) { return i < plain.size() && plain[i] >= '0' && plain[i] <= '9'; };
  for (std::size_t at = plain.find(','); at != std::string::npos; at = plain.find(',', at)) {
    const bool thousands = is_digit(at + 1) && is_digit(at + 2) && is_digit(at + 3) && !is_digit(at + 4);
    if (thousands)
      plain.erase(at, 1);
    else
      plain[at] = '.';
  }
  return plain;
}

}  // namespace

Question::Question(const lessons::Prediction* prediction)
    : prediction_(prediction), state_(prediction == nullptr ? State::kNone : State::kOpen) {}

void Question::set_guess(double value) {
  if (state_ != State::kOpen) return;
  guess_ = std::clamp(value, prediction_->low, prediction_->high);
  moved_by_reader_ = true;
}

bool Question::suggest(double value) {
  if (state_ != State::kOpen || moved_by_reader_) return false;
  const std::optional<double> before = guess_;
  guess_ = std::clamp(value, prediction_->low, prediction_->high);
  return guess_ != before;
}

record::Status Question::set_guess_text(std::string_view text, std::string_view unit, double size) {
  const auto trim = [](std::string_view words) {
    while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
    while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
    return words;
  };
  text = trim(text);
  const bool named = prediction_->unit != lessons::AxisUnit::kBytes && text.ends_with(unit);
  const std::string plain = without_commas(named ? trim(text.substr(0, text.size() - unit.size())) : text);
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (error == std::errc() && end == plain.data() + plain.size() && number >= 0) {
    set_guess(number * size);
    return record::Ok{};
  }
  if (prediction_->unit != lessons::AxisUnit::kBytes)
    return record::Error{"\"" + std::string(text) + "\" is not a number of " + std::string(unit) + "."};
  const auto bytes = record::parse_bytes(plain);
  if (!bytes) return record::Error{"\"" + std::string(text) + "\" is not a size: type a number, or 21 GiB."};
  set_guess(static_cast<double>(bytes.value()));
  return record::Ok{};
}

void Question::lock() {
  if (state_ == State::kOpen && guess_) state_ = State::kWaiting;
}

void Question::skip() {
  if (state_ == State::kOpen || state_ == State::kWaiting) state_ = State::kSkipped;
}

bool Question::compare(const record::Ledger& run) {
  if (state_ != State::kWaiting) return false;
  const double is = prediction_->answer(run);
  if (is < 0) return false;
  // Nothing is infinitely far off: a byte, or a tenth of a percent, is the least that counts.
  const double least = prediction_->unit == lessons::AxisUnit::kPercent ? 0.1 : 1;
  const double low = std::max(least, std::min(*guess_, is)), high = std::max({least, *guess_, is});
  reveal_ = Reveal{*guess_, is, high / low};
  state_ = State::kAnswered;
  return true;
}

}  // namespace headroom::app::page
