// The loss by chunk size: Liger's rule, bytes and time, against worked numbers.
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/time/chunk_time.h"
#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/made_sweep.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

// The settings are 8 × 1,024 tokens of the 1B, changed by `assignments`.
FigureData built_chunk(std::initializer_list<const char*> assignments, const record::Ledger* run = nullptr,
                       View view = {}) {
  const Figure* figure = find_figure("chunk_curve");
  REQUIRE(figure != nullptr);
  record::Params settings(experiments::training_step().schema);
  for (const char* each : {"model=llama-3.2-1b", "batch=8", "seq=1024", "loss=flce"})
    REQUIRE(settings.set_assignment(each).ok());
  for (const char* each : assignments) REQUIRE(settings.set_assignment(each).ok());
  return figure->build({.run = run, .settings = &settings, .view = view});
}

predict::ChunkedLoss llama_1b(std::int64_t tokens) { return {.tokens = tokens, .vocab = 128'256, .hidden = 2048}; }

}  // namespace

TEST_CASE("the rule's chunk grows with the tokens, in 32 to 63 chunks for the 1B") {
  struct Row {
    std::int64_t tokens, chunk, chunks;
  };
  for (const Row& row : {Row{1024, 32, 32},
                         {4096, 128, 32},
                         {8192, 256, 32},
                         {16'384, 512, 32},
                         {98'304, 2048, 48},
                         {114'688, 2048, 56}}) {
    INFO(row.tokens);
    CHECK(llama_1b(row.tokens).rule() == row.chunk);
    CHECK(llama_1b(row.tokens).chunks(row.chunk) == row.chunks);
  }
  CHECK(predict::ChunkedLoss{.tokens = 8192, .vocab = 32'000, .hidden = 4096}.rule() == 1024);  // Llama 2 7B
  CHECK(llama_1b(8192).chunk_over_input(256) == Approx(1.957).epsilon(0.001));
  CHECK(llama_1b(114'688).chunk_over_input(2048) == Approx(1.118).epsilon(0.001));
  CHECK(llama_1b(8192).bytes(256) == 624'558'080);  // as in the chunks' figure
}

TEST_CASE("by the model the loss is bound by the head's traffic in small chunks, and by arithmetic in large ones") {
  const predict::ChunkSpeeds h200{.flops = 0.7 * 989e12, .bandwidth = 4.8e12};
  const predict::ChunkedLoss loss = llama_1b(8192);
  CHECK(loss.head_traffic() == 4LL * 525'336'576);
  CHECK(1e3 * predict::loss_seconds(loss, 1024, h200) == Approx(19.68).epsilon(0.001));
  const double small = predict::loss_seconds(loss, 32, h200), half = predict::loss_seconds(loss, 64, h200);
  CHECK(small / half == Approx(2).epsilon(0.05));
  CHECK(predict::loss_seconds(loss, 256, h200) / predict::loss_seconds(loss, 8192, h200) < 1.04);
  const predict::ChunkedLoss few = llama_1b(1024);
  CHECK(predict::loss_seconds(few, 32, h200) / predict::loss_seconds(few, 1024, h200) == Approx(6.1).epsilon(0.02));
}

TEST_CASE("the figure marks the rule's chunk and lists it by tokens") {
  const FigureData figure = built_chunk({});
  const auto charts = tests::charts_of(figure);
  REQUIRE(charts.size() == 2);
  CHECK(charts[0]->references[0].label == "rule: C = 256, n = 32");
  CHECK(charts[0]->references[0].x == std::vector<double>{256, 256});
  CHECK_FALSE(charts[0]->x.logarithmic);  // bytes are linear in C
  const ChartSeries& logits = charts[0]->series.back();
  CHECK(logits.points[4].x == 256);
  CHECK(logits.points[4].y == 65'667'072);
  const Table& table = tests::table_of(figure);
  REQUIRE(table.rows.size() == 5);
  CHECK(table.rows[2].cells == std::vector<std::string>{"256", "32", "1.96"});
  CHECK(table.rows[4].cells == std::vector<std::string>{"2,048", "48", "1.30"});
}

TEST_CASE("the chunks are of the settings' model and tokens, and the time is of the chosen card") {
  const FigureData other = built_chunk({"model=llama-3-8b", "batch=4", "seq=5000", "weight_gradient=fp32"});
  CHECK(tests::table_of(other).rows[4].name == "20,000");
  CHECK(tests::charts_of(other)[0]->series[0].points[0].y == 20'000.0 * 4096 * 2 + 128'256.0 * 4096 * 4);
  CHECK(tests::charts_of(other)[1]->series[0].label == "model, H200 SXM");
  const View on_4090{.card = CardLimit{.name = "GeForce RTX 4090", .memory = 24 * record::kGiB}};
  CHECK(tests::charts_of(built_chunk({}, nullptr, on_4090))[1]->series[0].label == "model, GeForce RTX 4090");
  const View limit{.card = CardLimit{.name = "24 GiB", .memory = 24 * record::kGiB}};  // has no peak
  CHECK(tests::charts_of(built_chunk({}, nullptr, limit))[1]->series[0].label == "model, H200 SXM");
}

TEST_CASE("while the question is open neither rule nor table is there") {
  const FigureData figure = built_chunk({}, nullptr, {.hidden = true});
  for (const Chart* chart : tests::charts_of(figure))
    for (const ChartReference& line : chart->references) CHECK(line.label.find("rule") == std::string::npos);
  CHECK(tests::table_of(figure).rows.empty());
}

TEST_CASE("a sweep over the chunk has its speeds beside the curves") {
  record::Recording sweep = tests::made_sweep("train_step", {});
  for (const std::string chunk : {"64", "256"}) {
    record::SweepPoint point = tests::made_point("", "loss_chunk=" + chunk, {record::kGiB}, 1000);
    point.params = {{"loss_chunk", chunk}};
    sweep.append(point);
  }
  const record::Ledger ledger(sweep);
  const FigureData figure = built_chunk({}, &ledger);
  const auto charts = tests::charts_of(figure);
  REQUIRE(charts.size() == 4);
  REQUIRE(charts[3]->series[0].points.size() == 2);
  CHECK(charts[3]->series[0].points[1].x == 256);
  CHECK(charts[3]->series[0].points[1].y == 1000);
  CHECK(charts[2]->series[0].points[1].y == record::kGiB);
}
