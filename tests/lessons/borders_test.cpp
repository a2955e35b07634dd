// The three borders of a batch: the figure's rows are made again from the recordings, and the page that asks for the largest
// batch has the allocator's border as its right answer. tests/live/borders_test.cpp holds the borders against the planner.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/placed.h"
#include "demos/predict/rewrite.h"
#include "demos/record/ledger.h"
#include "lessons/address_space.h"
#include "lessons/figure.h"
#include "lessons/predicted_steps.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;
using predict::Verdict;
using tests::check_said;

namespace {

FigureData built(View view = {}) { return find_figure("borders")->build({.view = view}); }

std::int64_t whole(std::string text) {
  std::erase(text, ',');
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// By each row of the figure; all that fit are left of all that do not.
std::map<std::string, std::int64_t> largest() {
  const FigureData data = built();
  const auto& map = tests::panel_in<HeatMap>(data);
  std::map<std::string, std::int64_t> found;
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const auto& states = map.states[row];
    REQUIRE(states.size() == map.columns.size());
    const auto border = std::ranges::find(states, Verdict::kDoesNotFit);
    REQUIRE(border != states.begin());
    REQUIRE(border != states.end());
    CHECK(std::all_of(border, states.end(), [](Verdict each) { return each == Verdict::kDoesNotFit; }));
    found[map.rows[row]] = whole(map.columns[static_cast<std::size_t>(border - states.begin()) - 1]);
  }
  return found;
}

// The answers of a page whose words are a number: the right one, and that of a misconception.
std::int64_t right_of(const char* page) {
  for (const AnswerChoice& each : std::get<ChoiceQuestion>(tests::question_of(tests::page(page))->kind).choices)
    if (each.right) return whole(each.words);
  return -1;
}
std::int64_t wrong_of(const char* page, const char* misconception) {
  for (const AnswerChoice& each : std::get<ChoiceQuestion>(tests::question_of(tests::page(page))->kind).choices)
    if (each.misconception == misconception) return whole(each.words);
  return -1;
}

// The requests of the report's step at any batch: each grows evenly with the batch, from 4 to 8 sequences and on.
record::Recording requests_of(const record::Recording& four, const record::Recording& eight,
                              const PredictedStep& step) {
  std::size_t next = 0;
  record::Recording requests = predict::rewritten(
      eight,
      [&](record::MemEvent event, std::vector<record::MemEvent>& events) {
        const record::MemEvent& smaller = four.events()[next++];
        REQUIRE(event.kind == smaller.kind);
        event.requested += (event.requested - smaller.requested) * (step.batch - 8) / 4;
        events.push_back(event);
        return true;
      },
      [](record::Mark&) {});
  record::RunInfo info = requests.info();
  info.params["expandable_segments"] = step.expandable ? "on" : "off";
  requests.set_info(info);
  return requests;
}

// Without segments: those of another batch are others.
record::Recording requests_alone(const record::Recording& run) {
  return predict::rewritten(
      run,
      [](const record::MemEvent& event, std::vector<record::MemEvent>& events) {
        const bool segment =
            event.kind == record::EventKind::kSegmentAlloc || event.kind == record::EventKind::kSegmentFree;
        if (!segment) events.push_back(event);
        return true;
      },
      [](record::Mark&) {});
}

PredictedStep made_again(const record::Recording& four, const record::Recording& eight, const PredictedStep& step) {
  const record::Recording requests = requests_of(four, eight, step);
  const record::Bytes limit = eight.info().cap;
  const record::Recording run = predict::placed(requests, limit);
  const record::Ledger ledger(run);
  PredictedStep made{.expandable = step.expandable,
                     .batch = step.batch,
                     .blocks = record::Ledger(predict::placed(requests)).peak().totals.allocated,
                     .reserved = ledger.peak_reserved()};
  if (const auto& failed = run.outcome()->out_of_memory) {
    const AddressSpace space = address_space_at(ledger, run.events().size() - 1);
    made.asked = failed->requested;
    made.free = limit - failed->allocated;
    // Pages that were given back in the middle of a segment leave no piece that is larger than what is not reserved.
    made.piece = std::max(space.known ? space.largest_free : 0, limit - space.reserved);
  }
  return made;
}

std::string line_of(const PredictedStep& step) {
  return fmt::format("{},{},{},{},{},{},{}", step.expandable ? "on" : "off", step.batch, step.blocks, step.reserved,
                     step.asked, step.free, step.piece);
}

}  // namespace

TEST_CASE("the rows of assets/predicted/borders.csv are those that two recordings give") {
  const record::Recording four = requests_alone(tests::stored("report_hf_4_h200")),
                          eight = requests_alone(tests::stored("report_hf_8_h200"));
  REQUIRE(four.events().size() == eight.events().size());
  for (const PredictedStep& step : predicted_steps()) CHECK(line_of(made_again(four, eight, step)) == line_of(step));
}

TEST_CASE("the page on the largest batch has the allocator's border as its answer, not that of the bytes") {
  auto borders = largest();
  REQUIRE(borders.size() == 3);
  CHECK(right_of("holes") == borders["default allocator"]);
  CHECK(wrong_of("holes", "bytes_alone") == borders["by bytes alone"]);
}

TEST_CASE("while the question is open the figure has the border by bytes alone") {
  const FigureData data = built({.hidden = true, .asked = true});
  const auto& map = tests::panel_in<HeatMap>(data);
  CHECK(map.rows == std::vector<std::string>{"by bytes alone"});
  CHECK(data.panels.size() == 1);
  CHECK(map.title.find("allocator") == std::string::npos);
}

TEST_CASE("the page says what the borders and the gaps of the report's step are, in bytes") {
  const auto gib = [](record::Bytes bytes) { return static_cast<double>(bytes) / record::kGiB; };
  const auto step = [](bool expandable, std::int64_t batch) {
    return *std::ranges::find_if(predicted_steps(), [&](const PredictedStep& each) {
      return each.expandable == expandable && each.batch == batch;
    });
  };
  const PredictedStep eight = step(false, 8), nine = step(false, 9), eleven = step(false, 11), twelve = step(true, 12);
  check_said("holes", "at most 16.91 GiB in tensors with 8 sequences. Each further sequence adds 2.04 GiB",
             {gib(eight.blocks), 8, gib(nine.blocks - eight.blocks)});
  const record::Recording run = tests::stored("report_hf_8_h200");
  const double limit = gib(run.info().cap);
  check_said("holes", "Eleven have 23.01 GiB in tensors at the peak, and 0.19 GiB are left",
             {gib(eleven.blocks), limit - gib(eleven.blocks)});
  check_said("holes", "asks for 4.40 GiB of [logits](term:logits) while 8.65 GiB are free",
             {gib(nine.asked), gib(nine.free)});
  check_said("holes", "that segment lacks 0.14 GiB", {gib(nine.asked - nine.piece)});
  check_said("holes", "it asks for 5.87 GiB while 4.03 GiB are free", {gib(twelve.asked), gib(twelve.free)});

  // What the allocator held of the recorded step, and what it would hold without its limit, or with pages.
  const auto held = [&](record::Bytes cap, bool expandable) {
    record::Recording requests = run;
    record::RunInfo info = run.info();
    info.params["expandable_segments"] = expandable ? "on" : "off";
    requests.set_info(info);
    return gib(record::Ledger(predict::placed(requests, cap)).peak_reserved());
  };
  const double blocks = tests::peak_of("report_hf_8_h200"), recorded = gib(record::Ledger(run).peak_reserved()),
               unlimited = held(0, false), pages = held(run.info().cap, true);
  const auto more = [&](double reserved) { return 100 * (reserved / blocks - 1); };
  check_said("holes", "| without a limit | 23.48 GiB | 39 % |", {unlimited, more(unlimited)});
  check_said("holes", "| under 23.2 GiB | 21.01 GiB | 24 % |", {limit, recorded, more(recorded)});
  check_said("holes", "| with expandable segments | 19.16 GiB | 13 % |", {pages, more(pages)});
}
