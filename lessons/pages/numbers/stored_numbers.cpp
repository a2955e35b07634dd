// Reads stored numbers and inserts them.
#include "lessons/pages/numbers/stored_numbers.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lessons/pages/numbers/csv_lines.h"
#include "lessons/pages/numbers/live_numbers.h"
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

namespace {

std::string unbroken(std::string_view text) {
  std::string joined;
  for (const char c : text) joined += c == ' ' ? std::string("\u00a0") : std::string(1, c);
  return joined;
}

std::string unknown_number(std::string_view name, const StoredNumbers& numbers) {
  std::vector<std::string_view> known;
  for (const LiveNumber& each : live_numbers()) known.push_back(each.name);
  for (const auto& [stored, number] : numbers) known.push_back(stored);
  return unknown("number", name, known);
}

}  // namespace

StoredNumbers parse_numbers(std::string_view text, std::string_view file, Problems& problems) {
  StoredNumbers numbers;
  const auto take = [&](std::vector<std::string>& fields, int at) {
    const auto complain = [&](std::string what) { problems.push_back({std::string(file), at, std::move(what)}); };
    const std::string& name = fields[0];
    if (find_number(name) != nullptr) complain(fmt::format("The number {} is live: choose another name.", name));
    if (!numbers.emplace(name, StoredNumber{unbroken(fields[1]), fields[2], at}).second)
      complain(fmt::format("The number {} is defined twice.", name));
  };
  read_csv_lines(text, file, "A number", {"name", "text", "source"}, problems, take);
  return numbers;
}

std::string with_stored_numbers(std::string_view text, std::string_view file, StoredNumbers& numbers,
                                Problems& problems) {
  std::string inserted;
  for (Lines lines(text); !lines.done();) {
    const std::string_view line = lines.take();
    std::size_t done = 0;
    for (const NumberPlace& place : numbers_in(line)) {
      const auto stored = numbers.find(place.name);
      if (stored != numbers.end()) {
        stored->second.used = true;
        inserted += line.substr(done, place.begin - done);
        inserted += stored->second.text;
        done = place.end;
      } else if (find_number(place.name) == nullptr) {
        problems.push_back({std::string(file), lines.number(), unknown_number(place.name, numbers)});
      }
    }
    inserted += line.substr(done);
    inserted += '\n';
  }
  return inserted;
}

void check_numbers_used(const StoredNumbers& numbers, std::string_view file, Problems& problems) {
  for (const auto& [name, number] : numbers)
    if (!number.used)
      problems.push_back({std::string(file), number.line, fmt::format("No page uses the number {}.", name)});
}

}  // namespace headroom::lessons
