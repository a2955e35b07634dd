// Stored numbers of pages: each equals what its source gives, and errors are reported with file and line.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/pages/numbers/stored_numbers.h"
#include "tests/lessons/pages/number_values.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

std::vector<std::string> texts_of(const Problems& problems) {
  std::vector<std::string> texts;
  for (const Problem& problem : problems) texts.push_back(problem.text());
  return texts;
}

StoredNumbers two_numbers(Problems& problems) {
  return parse_numbers("name,text,source\nnorm.time,127 µs,a recording\nnorm.bytes,\"32,788\",a formula\n", "n.csv",
                       problems);
}

}  // namespace

TEST_CASE("every stored number is what its source gives, rounded as printed", "[pages]") {
  std::set<std::string_view> computed{"five_sequences.reserved",
                                      "five_sequences.unlimited"};  // in tests/cli/plan_test.cpp
  for (const auto sources : {tests::sources_of_bytes(), tests::sources_of_times(), tests::sources_of_borders()})
    for (const auto source : sources)
      for (const auto& [name, value] : source()) {
        tests::check_number(name, value);
        computed.insert(name);
      }
  for (const auto& [name, number] : tests::course().numbers()) {
    INFO(name);
    CHECK(computed.contains(name));
    CHECK_FALSE(number.source.empty());
  }
}

TEST_CASE("a stored number is inserted with spaces that do not break, live ones and formulas stay", "[pages]") {
  Problems problems;
  StoredNumbers numbers = two_numbers(problems);
  CHECK(with_stored_numbers("It takes {norm.time}.\n$x_{norm.time}$ {norm.bytes}, {logits.bytes}", "p.md", numbers,
                            problems) == "It takes 127\u00a0µs.\n$x_{norm.time}$ 32,788, {logits.bytes}\n");
  check_numbers_used(numbers, "n.csv", problems);
  CHECK(texts_of(problems).empty());
}

TEST_CASE("what is wrong with a stored number is named with file and line", "[pages]") {
  Problems problems;
  StoredNumbers numbers = two_numbers(problems);
  (void)with_stored_numbers("Words.\n\nIt takes {norm.tim}, {logit.bytes}.", "p.md", numbers, problems);
  check_numbers_used(numbers, "n.csv", problems);
  (void)parse_numbers("name,text,source\na.b,1,x\na.b,2,x\nlogits.bytes,3,x\na.c,4\n", "n.csv", problems);
  CHECK(texts_of(problems) == std::vector<std::string>{
                                  "p.md:3: There is no number \"norm.tim\": the nearest is norm.time.",
                                  "p.md:3: There is no number \"logit.bytes\": the nearest is logits.bytes.",
                                  "n.csv:3: No page uses the number norm.bytes.",
                                  "n.csv:2: No page uses the number norm.time.",
                                  "n.csv:3: The number a.b is defined twice.",
                                  "n.csv:4: The number logits.bytes is live: choose another name.",
                                  "n.csv:5: A number has 3 fields (name, text, source), not 2.",
                              });
}
