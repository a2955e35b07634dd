// Takes, compares and remembers answers.
#include "app/page/question.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

#include "demos/record/units.h"
#include "lessons/pages/document.h"

namespace headroom::app::page {

namespace {

constexpr double kNearEnough = 1.1;      // within 10 % counts as right
constexpr double kFactorInWords = 1.25;  // larger errors are factors, smaller ones percentages

// Reads "1,024" as 1024, and "21,5" as 21.5.
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

record::Result<double> typed_amount(std::string_view text, lessons::AxisUnit quantity, std::string_view unit,
                                    double size) {
  text = lessons::trimmed(text);
  const bool named = quantity != lessons::AxisUnit::kBytes && text.ends_with(unit);
  const std::string plain = without_commas(named ? lessons::trimmed(text.substr(0, text.size() - unit.size())) : text);
  double number = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), number);
  if (error == std::errc() && end == plain.data() + plain.size() && number >= 0) return number * size;
  if (quantity != lessons::AxisUnit::kBytes)
    return record::Error{"\"" + std::string(text) + "\" is not a number of " + std::string(unit) + "."};
  const auto bytes = record::parse_bytes(plain);
  if (!bytes)
    return record::Error{"\"" + std::string(text) + "\" is not a size: type a number or a size such as 21 GiB."};
  return static_cast<double>(bytes.value());
}

Question::Question(const lessons::QuestionSpec* spec)
    : spec_(spec), state_(spec == nullptr ? State::kNone : State::kOpen) {
  if (const auto* order = items()) {
    order_.resize(order->items.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return order->items[a] < order->items[b]; });
    // If the alphabetical order is the answer, its reverse hides it.
    if (std::is_sorted(order_.begin(), order_.end())) std::reverse(order_.begin(), order_.end());
  }
}

const lessons::ChoiceQuestion* Question::choices() const {
  return spec_ == nullptr ? nullptr : std::get_if<lessons::ChoiceQuestion>(&spec_->kind);
}

const lessons::OrderQuestion* Question::items() const {
  return spec_ == nullptr ? nullptr : std::get_if<lessons::OrderQuestion>(&spec_->kind);
}

lessons::AxisUnit Question::unit() const {
  return number() == nullptr ? lessons::AxisUnit::kBytes : number()->answer->unit;
}

void Question::choose(std::size_t index) {
  if (state_ == State::kOpen && choices() != nullptr && index < choices()->choices.size()) chosen_ = index;
}

void Question::move(std::size_t from, std::size_t to) {
  if (state_ != State::kOpen || from >= order_.size() || to >= order_.size()) return;
  const std::size_t item = order_[from];
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(from));
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(to), item);
}

std::string_view Question::why_not_lock() const {
  if (choices() != nullptr && !chosen_) return "Choose an answer first.";
  if (number() != nullptr && !guess_) return "Drag the marker or type a number first.";
  return {};
}

void Question::set_guess(double value) {
  if (state_ != State::kOpen || number() == nullptr) return;
  guess_ = std::clamp(value, number()->low, number()->high);
  highest_guess_ = std::max(highest_guess_, *guess_);
}

record::Status Question::set_guess_text(std::string_view text, std::string_view unit, double size) {
  const auto value = typed_amount(text, this->unit(), unit, size);
  if (!value) return value.error();
  set_guess(value.value());
  return record::Ok{};
}

void Question::lock() {
  if (can_lock()) state_ = number() != nullptr ? State::kWaiting : State::kAnswered;
}

void Question::skip() {
  if (state_ == State::kOpen || state_ == State::kWaiting) state_ = State::kSkipped;
}

const lessons::AnswerChoice* Question::wrong_choice() const {
  if (choices() == nullptr || !chosen_) return nullptr;
  const lessons::AnswerChoice& choice = choices()->choices[*chosen_];
  return choice.right ? nullptr : &choice;
}

bool Question::right() const {
  if (state_ != State::kAnswered) return false;
  if (number() != nullptr) return reveal_->factor <= kNearEnough;
  return items() != nullptr ? std::is_sorted(order_.begin(), order_.end()) : wrong_choice() == nullptr;
}

std::string_view Question::reply() const {
  if (state_ != State::kAnswered || right()) return {};
  if (const auto* choice = wrong_choice()) return choice->reply;
  return items() == nullptr ? std::string_view{} : std::string_view(items()->reply);
}

bool Question::compare(const record::Ledger& run, std::shared_ptr<const record::Recording> recording) {
  if (state_ != State::kWaiting) return false;
  const double is = number()->answer->of(run);
  if (is < 0) return false;
  // A minimum of 1, or of 0.1 %, keeps the factor finite.
  const double least = unit() == lessons::AxisUnit::kPercent ? 0.1 : 1;
  const double low = std::max(least, std::min(*guess_, is)), high = std::max({least, *guess_, is});
  reveal_ = Reveal{*guess_, is, high / low};
  state_ = State::kAnswered;
  compared_with_ = std::move(recording);
  return true;
}

std::string Question::remembered() const {
  if (state_ == State::kSkipped) return "skipped";
  if (!locked()) return {};
  if (guess_) return fmt::format("said {:.17g}", *guess_);
  if (chosen_) return fmt::format("chose {}", *chosen_);
  std::string words = "order";
  for (const std::size_t item : order_) words += fmt::format(" {}", item);
  return words;
}

void Question::recall(const std::string& words) {
  if (state_ != State::kOpen) return;
  std::istringstream text(words);
  std::string what;
  text >> what;
  if (what == "skipped") return skip();
  if (double value = 0; what == "said" && number() != nullptr && text >> value) {
    set_guess(value);
  } else if (std::size_t index = 0; what == "chose" && choices() != nullptr && text >> index) {
    choose(index);
  } else if (what == "order" && items() != nullptr) {
    std::vector<std::size_t> order;
    for (std::size_t item = 0; text >> item;) order.push_back(item);
    if (!std::is_permutation(order.begin(), order.end(), order_.begin(), order_.end())) return;
    order_ = std::move(order);
  } else {
    return;
  }
  lock();
}

Question::Distance distance_of(const Question::Reveal& reveal) {
  if (reveal.factor >= 100) return {"off by", "> 99×", ""};
  if (reveal.factor >= kFactorInWords) return {"off by", fmt::format("{:.1f}×", reveal.factor), ""};
  const double percent = reveal.is == 0 ? 0 : 100 * (reveal.said - reveal.is) / reveal.is;
  if (std::abs(percent) < 1) return {"exact to", "1", "%"};
  return {"that is", fmt::format("{:.0f}", std::abs(percent)), percent > 0 ? "% too high" : "% too low"};
}

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
