// The figure of a run next to its prediction or run A.
#include <algorithm>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/made_prediction.h"
#include "tests/support/made_recording.h"
#include "tests/support/panels.h"

using namespace headroom;
using Words = std::vector<std::string>;

namespace {

lessons::FigureData difference(const lessons::FigureInput& input) {
  return lessons::find_figure("difference")->build(input);
}

}  // namespace

TEST_CASE("the difference of a run and its prediction is a table by kind, phase or layer") {
  const record::Recording run = tests::made_recording({.steps = 4}), prediction = tests::made_prediction({.steps = 2});
  const record::Ledger ledger(run), predicted(prediction);
  record::Params params(lessons::find_figure("difference")->schema);
  const auto rows_by = [&](std::string_view rows) {
    REQUIRE(params.set("rows", rows).ok());
    return difference({.run = &ledger, .params = &params, .predicted = &predicted});
  };
  const lessons::FigureData by_kind = rows_by("kind");
  const lessons::Table& table = tests::table_of(by_kind);
  CHECK(by_kind.panels.size() == 1);
  CHECK(by_kind.head.source == record::Source::kRecorded);
  CHECK(table.columns == Words{"predicted", "measured", "difference"});
  CHECK(table.foot.starts_with("Equal to the byte: "));
  for (const lessons::TableRow& row : table.rows) CHECK(row.cells.back() == "0 B");
  const auto has_row = [](const lessons::FigureData& figure, std::string_view name) {
    return std::ranges::count(tests::table_of(figure).rows, name, &lessons::TableRow::name) == 1;
  };
  CHECK(has_row(by_kind, "Logits and loss"));
  CHECK(has_row(rows_by("phase"), "Backward"));
  CHECK(has_row(rows_by("layer"), "Layers 0 to 1, each"));
  CHECK(has_row(rows_by("layer"), "Peak"));
}

TEST_CASE("the first event that differs is named on both sides") {
  const record::Recording run = tests::made_recording({.steps = 2});
  const record::Recording prediction = tests::made_prediction({.steps = 2}, [](record::MemEvent& event, std::size_t) {
    if (event.kind == record::EventKind::kAlloc && event.category == record::Category::kLogits)
      event.requested = event.block = record::kMiB;
  });
  const record::Ledger ledger(run), predicted(prediction);
  const lessons::FigureData figure = difference({.run = &ledger, .predicted = &predicted});
  REQUIRE(figure.panels.size() == 2);
  const auto& parting = std::get<lessons::Table>(figure.panels[1]);
  REQUIRE(parting.rows.size() == 2);
  CHECK(parting.rows[0].name == "Predicted");
  CHECK(parting.rows[0].note == "allocate 1,048,576 B, logits and loss, loss, output head");
  CHECK(parting.rows[1].name == "Measured");
  CHECK(parting.rows[1].note == "allocate 524,288 B, logits and loss, loss, output head");
}

TEST_CASE("a pinned run A takes the prediction's place") {
  const record::Recording a = tests::made_recording({}), b = tests::made_recording({.checkpointing = true});
  const record::Ledger run_a(a), run_b(b);
  const lessons::FigureData figure = difference({.run = &run_b, .baseline = &run_a});
  CHECK(tests::table_of(figure).columns == Words{"A", "measured", "difference"});
  CHECK(figure.head.provenance.contains("run_a.run"));
}

TEST_CASE("without two comparable runs the figure says why and what to do") {
  const record::Recording run = tests::made_recording({}), prediction = tests::made_prediction({}),
                          other = tests::made_prediction({.checkpointing = true});
  record::Recording formula = prediction;
  formula.set_source(record::Source::kFormula);
  const record::Recording unfinished = tests::made_recording({.steps = 1, .finished = false});
  const record::Ledger ledger(run), predicted(prediction), of_others(other), closed(formula), no_step(unfinished);
  const auto why = [](const lessons::FigureInput& input) { return difference(input).head.empty_reason; };
  CHECK(why({}).starts_with("Nothing has run yet"));
  CHECK(why({.predicted = &predicted}).starts_with("These settings have not run here"));
  CHECK(why({.run = &ledger}).starts_with("There is no prediction of this run yet"));
  CHECK(why({.run = &ledger, .predicted = &closed}).starts_with("The closed form has no events to compare"));
  CHECK(why({.run = &ledger, .predicted = &of_others}).starts_with("The shown run has other settings"));
  CHECK(why({.run = &no_step, .predicted = &predicted}) == "The run has no whole training step to compare.");
  CHECK(why({.run = &ledger, .baseline = &no_step}) == "The run A has no whole training step to compare.");
  CHECK(why({.run = &ledger, .predicted = &predicted, .view = {.hidden = true}}) == lessons::kPartOfAnswer);
  CHECK(why({.run = &ledger, .predicted = &predicted}).empty());
}
