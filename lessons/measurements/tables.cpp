#include "lessons/measurements/tables.h"

#include <vector>

#include "demos/record/file/csv.h"
#include "tables_csv.h"  // by CMake

namespace headroom::lessons {
namespace {

using record::CsvRow;

PublishedKernel kernel_of(const CsvRow& row) {
  return {row.text("panel"), row.text("implementation"), row.whole("x"), row.number("time_ms"),
          row.whole("peak_bytes")};
}

PublishedRun run_of(const CsvRow& row) {
  return {row.text("experiment"),
          row.text("figures"),
          row.text("strategy"),
          row.whole("batch"),
          row.whole("seq"),
          row.whole("peak_bytes"),
          row.number("tokens_per_second"),
          row.whole("oom") != 0};
}

PublishedTraining training_of(const CsvRow& row) {
  return {row.text("implementation"), row.whole("batch"), row.whole("peak_mib") * record::kMiB,
          row.number("tokens_per_second")};
}

PublishedStep step_of(const CsvRow& row) {
  return {row.text("model"),
          row.whole("minibatch"),
          row.whole("weights_bytes"),
          row.whole("gradients_bytes"),
          row.whole("optimizer_bytes"),
          row.whole("activations_bytes"),
          row.whole("card_bytes")};
}

PredictedStep predicted_step_of(const CsvRow& row) {
  return {row.text("expandable_segments") == "on", row.whole("batch"), row.whole("blocks"), row.whole("asked"),
          row.whole("free")};
}

void add_completed(std::vector<ValidatedRun>& runs, std::string_view gpu, std::string_view table) {
  for (const CsvRow& row : record::csv_rows(table, "docs/results/prediction"))
    if (row.text("trouble").empty() && row.text("predicted_outcome") == "completed" &&
        row.text("outcome") == "completed")
      runs.push_back({gpu, row.text("settings"), row.whole("predicted_reserved_bytes"), row.whole("reserved_bytes")});
}

template <class Row>
std::vector<Row> table(std::string_view text, std::string_view file, Row (*read)(const CsvRow&)) {
  std::vector<Row> rows;
  for (const CsvRow& row : record::csv_rows(text, file)) rows.push_back(read(row));
  return rows;
}

}  // namespace

std::span<const PublishedKernel> published_kernels() {
  static const auto all = table(kLigerA100Csv, "assets/published/liger_a100.csv", kernel_of);
  return all;
}

std::span<const PublishedRun> published_runs() {
  static const auto all = table(kReport2024Csv, "assets/published/report_2024.csv", run_of);
  return all;
}

std::span<const PublishedTraining> published_trainings() {
  static const auto all = table(kLiger8bCsv, "assets/published/liger_8b.csv", training_of);
  return all;
}

std::span<const PublishedStep> published_steps() {
  static const auto all = table(kHarmony2022Csv, "assets/published/harmony_2022.csv", step_of);
  return all;
}

std::span<const PredictedStep> predicted_steps() {
  static const auto all = table(kBordersCsv, "assets/predicted/borders.csv", predicted_step_of);
  return all;
}

std::span<const ValidatedRun> validated_runs() {
  static const std::vector<ValidatedRun> all = [] {
    std::vector<ValidatedRun> runs;
    add_completed(runs, "H200", kH200RunsCsv);
    add_completed(runs, "H100", kH100PeaksCsv);
    add_completed(runs, "H200", kH200Draw2Csv);
    add_completed(runs, "H100", kH100Draw3Csv);
    return runs;
  }();
  return all;
}

}  // namespace headroom::lessons
