// The table of cards, embedded by CMake.
#include "demos/predict/cards.h"

#include <charconv>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "cards_csv.h"  // assets/cards.csv, by CMake

namespace headroom::predict {

namespace {

class Cells {
 public:
  explicit Cells(std::string_view line) : line_(line), rest_(line) {}

  std::string_view text() {
    if (ended_) wrong();
    const std::size_t comma = rest_.find(',');
    const std::string_view cell = rest_.substr(0, comma);
    ended_ = comma == std::string_view::npos;
    if (!ended_) rest_.remove_prefix(comma + 1);
    return cell;
  }

  std::optional<double> number(double unit) {
    const std::string_view cell = text();
    if (cell.empty()) return std::nullopt;
    double value = 0;
    const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != cell.data() + cell.size() || value <= 0) wrong();
    return value * unit;
  }

  void end() const {
    if (!ended_) wrong();
  }

 private:
  [[noreturn]] void wrong() const { throw std::logic_error("assets/cards.csv: " + std::string(line_)); }

  std::string_view line_, rest_;
  bool ended_ = false;
};

Card card_of(std::string_view line) {
  constexpr double kTera = 1e12;
  Cells cells(line);
  Card card;
  card.name = cells.text();
  card.driver_name = cells.text();
  if (const auto memory = cells.number(static_cast<double>(record::kMiB)))
    card.memory = static_cast<record::Bytes>(*memory);
  card.compute_capability = cells.number(1);
  card.bandwidth = cells.number(1e9);
  for (std::optional<double>* peak : {&card.fp32, &card.tf32, &card.bf16, &card.fp16, &card.fp8})
    *peak = cells.number(kTera);
  card.source = cells.text();
  cells.end();
  return card;
}

std::vector<Card> all_cards() {
  std::vector<Card> cards;
  bool head = true;  // skips the column names
  for (std::string_view rest = kCardsCsv; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (!head) cards.push_back(card_of(line));
    head = false;
  }
  return cards;
}

}  // namespace

std::span<const Card> cards() {
  static const std::vector<Card> all = all_cards();
  return all;
}

}  // namespace headroom::predict
