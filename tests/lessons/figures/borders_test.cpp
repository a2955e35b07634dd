// Largest batches under three limits: the figure's rows follow from recordings, runs at the borders end as predicted,
// and pages give the allocator's border.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "demos/predict/allocator/placed.h"
#include "demos/predict/allocator/rewrite.h"
#include "demos/record/ledger.h"
#include "lessons/figure.h"
#include "lessons/measurements/tables.h"
#include "lessons/steps/address_space.h"
#include "tests/lessons/pages/number_values.h"
#include "tests/support/catch.h"
#include "tests/support/course.h"
#include "tests/support/page_numbers.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;
using predict::Verdict;
using tests::NumberValues;

namespace {

FigureData built_borders(View view = {}) { return find_figure("borders")->build({.view = view}); }

std::int64_t whole(std::string text) {
  std::erase(text, ',');
  std::int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Largest batch per row; all smaller ones fit, all larger ones do not.
std::map<std::string, std::int64_t> largest() {
  const FigureData data = built_borders();
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

// A page's numeric answers: first the right one, then a misconception's.
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

const PredictedStep& row_at(bool expandable, std::int64_t batch) {
  return *std::ranges::find_if(predicted_steps(), [&](const PredictedStep& each) {
    return each.expandable == expandable && each.batch == batch;
  });
}

// Requests of the report's step at any batch, extrapolated linearly from recordings of 4 and 8 sequences.
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

record::Bytes most_reserved(const record::Recording& run) {
  record::Bytes most = 0;
  for (const record::MemEvent& event : run.events()) most = std::max(most, event.allocator_reserved);
  return most;
}

PredictedStep made_again(const record::Recording& four, const record::Recording& eight, const PredictedStep& step) {
  const record::Recording requests = requests_of(four, eight, step);
  const record::Bytes limit = eight.info().cap;
  const record::Recording run = predict::placed(requests, limit);
  PredictedStep made{.expandable = step.expandable,
                     .batch = step.batch,
                     .blocks = record::Ledger(predict::placed(requests)).peak().totals.allocated};
  if (const auto& failed = run.outcome()->out_of_memory) {
    made.asked = failed->requested;
    made.free = limit - failed->allocated;
  }
  return made;
}

std::string line_of(const PredictedStep& step) {
  return fmt::format("{},{},{},{},{}", step.expandable ? "on" : "off", step.batch, step.blocks, step.asked, step.free);
}

NumberValues border_numbers() {
  const auto gib = [](record::Bytes bytes) { return static_cast<double>(bytes) / record::kGiB; };
  const PredictedStep &eight = row_at(false, 8), &nine = row_at(false, 9), &eleven = row_at(false, 11),
                      &twelve = row_at(true, 12);
  const record::Recording run = tests::stored("report_hf_8_h200"), failed = tests::stored("holes_b9_h100");
  const AddressSpace space = address_space_at(record::Ledger(failed), failed.events().size() - 1);
  REQUIRE(space.known);
  const double limit = gib(run.info().cap), gap = gib(space.largest_free);
  // The allocator's peak under this limit (0: none), with or without expandable segments.
  const auto reserved = [&](record::Bytes cap, bool expandable) {
    record::Recording requests = run;
    record::RunInfo info = run.info();
    info.params["expandable_segments"] = expandable ? "on" : "off";
    requests.set_info(info);
    return gib(most_reserved(predict::placed(requests, cap)));
  };
  const double peak = tests::peak_of("report_hf_8_h200"), limited = gib(most_reserved(run)),
               unlimited = reserved(0, false), expandable = reserved(run.info().cap, true);
  const auto more = [&](double bytes) { return 100 * (bytes / peak - 1); };
  return {{"report_step.peak", peak},
          {"report_step.peak", gib(eight.blocks)},
          {"report_step.more_per_sequence", gib(nine.blocks - eight.blocks)},
          {"report_step.limit", limit},
          {"report_step.eleven.peak", gib(eleven.blocks)},
          {"report_step.eleven.left", limit - gib(eleven.blocks)},
          {"report_step.nine.asked", gib(nine.asked)},
          {"report_step.nine.free", gib(nine.free)},
          {"report_step.nine.gap", gap},
          {"report_step.nine.unreserved", gib(failed.info().cap - space.reserved)},
          {"report_step.nine.lacks", gib(nine.asked) - gap},
          {"report_step.twelve.asked", gib(twelve.asked)},
          {"report_step.twelve.free", gib(twelve.free)},
          {"report_step.limited.reserved", limited},
          {"report_step.limited.more", more(limited)},
          {"report_step.unlimited.reserved", unlimited},
          {"report_step.unlimited.more", more(unlimited)},
          {"report_step.expandable.reserved", expandable},
          {"report_step.expandable.more", more(expandable)}};
}

constexpr std::array kBorders{border_numbers};

}  // namespace

tests::NumberSources tests::sources_of_borders() { return kBorders; }

TEST_CASE("the rows of assets/predicted/borders.csv are those that two recordings give") {
  const record::Recording four = requests_alone(tests::stored("report_hf_4_h200")),
                          eight = requests_alone(tests::stored("report_hf_8_h200"));
  REQUIRE(four.events().size() == eight.events().size());
  for (const PredictedStep& step : predicted_steps()) CHECK(line_of(made_again(four, eight, step)) == line_of(step));
}

TEST_CASE("runs on a GPU end where the rows of their batch do, to the byte") {
  for (const auto& [name, expandable, batch] : {std::tuple{"holes_b9_h100", false, 9},
                                                {"holes_b11_expandable_h100", true, 11},
                                                {"holes_b12_expandable_h100", true, 12}}) {
    INFO(name);
    const record::Recording run = tests::stored(name);
    const PredictedStep& row = row_at(expandable, batch);
    const auto& failed = run.outcome()->out_of_memory;
    REQUIRE(failed.has_value() == (row.asked > 0));
    if (!failed) continue;
    CHECK(failed->requested == row.asked);
    CHECK(run.info().cap - failed->allocated == row.free);
  }
}

TEST_CASE("the pages on the largest batch have the allocator's borders as their answers, not that of the bytes") {
  auto borders = largest();
  REQUIRE(borders.size() == 3);
  CHECK(right_of("holes") == borders["default allocator"]);
  CHECK(wrong_of("holes", "bytes_alone") == borders["by bytes alone"]);
  CHECK(right_of("report") == borders["default allocator"] + 1);
  CHECK(wrong_of("report", "bytes_alone") == borders["by bytes alone"] + 1);
}

TEST_CASE("while the question is open the figure has the border by bytes alone") {
  const FigureData data = built_borders({.hidden = true, .asked = true});
  const auto& map = tests::panel_in<HeatMap>(data);
  CHECK(map.rows == std::vector<std::string>{"by bytes alone"});
  CHECK(data.panels.size() == 1);
  CHECK(map.title.find("allocator") == std::string::npos);
}
