#include "lessons/panels/bars.h"

#include <nlohmann/json.hpp>

#include "demos/record/file/json_fields.h"

namespace headroom::lessons {

using nlohmann::json;

FileTable Bars::table() const {
  FileTable table{.columns = headings({"category", "label", "bytes", "note"})};
  for (const Bar& bar : bars)
    table.rows.push_back({Word{std::string(record::key_of(bar.category))}, bar.label, bar.value, bar.note});
  return table;
}

void Bars::add_to(json& figure) const {
  for (const Bar& bar : bars)
    figure["bars"].push_back({{"category", record::key_of(bar.category)},
                              {"label", bar.label},
                              {"bytes", whole_bytes(bar.value)},
                              {"note", bar.note}});
  figure["peak"] = {{"x", 0.0}, {"bytes", total}, {"label", total_label}};
}

std::vector<std::string> Bars::sentences() const {
  return texts_of(bars, [](const Bar& bar) { return bar.label + " " + bar.value_text; }, {"The " + total_label});
}

FileTable Rungs::table() const {
  FileTable table{.columns = headings({"rung"})};
  add_category_columns(table);
  for (const Cell& column : headings({"peak_bytes", "compared_with_bytes", "out_of_memory", "tokens_per_second", "loss",
                                      "predicted", "source", "note"}))
    table.columns.push_back(column);
  for (const Rung& rung : rungs) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(rung.label);
    add_bytes(row, rung.bytes);
    row.insert(row.end(), {record::total(rung.bytes), rung.before, yes_or_no(rung.out_of_memory),
                           rung.speed.value > 0 ? Cell(rung.speed.value) : Cell(), Word{rung.loss},
                           yes_or_no(rung.predicted), rung.source, rung.note});
  }
  return table;
}

void Rungs::add_to(json& figure) const {
  for (const Rung& rung : rungs)
    figure["rungs"].push_back({{"label", rung.label},
                               {"peak_by_category", record::to_object(rung.bytes)},
                               {"compared_with_bytes", rung.before},
                               {"out_of_memory", rung.out_of_memory},
                               {"tokens_per_second", rung.speed.value > 0 ? json(rung.speed.value) : json(nullptr)},
                               {"loss", rung.loss},
                               {"predicted", rung.predicted},
                               {"source", rung.source},
                               {"note", rung.note}});
}

std::vector<std::string> Rungs::sentences() const { return texts_of(rungs, &Rung::tip); }

}  // namespace headroom::lessons
