// Published configurations: bytes by place, formats, traffic, and what each line is worth.
#include <string>
#include <vector>

#include "lessons/figure.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

FigureData build_config_bytes(std::initializer_list<const char*> settings, bool hidden = false) {
  const Figure* const figure = find_figure("config_bytes");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return figure->build({.params = &params, .view = {.hidden = hidden}});
}

// The bars of GPU and host, in bytes per parameter.
std::vector<double> places(std::initializer_list<const char*> settings, double parameters = 1.5e9) {
  std::vector<double> sums(2);
  const FigureData figure = build_config_bytes(settings);
  for (const ChartSeries& series : tests::charts_of(figure).at(0)->series)
    for (const ChartPoint& point : series.points) sums.at(static_cast<std::size_t>(point.x)) += point.y / parameters;
  return sums;
}

using Rows = std::vector<std::string>;

// "Weights: bf16, 2 B" of formats by place, "zero_optimization.stage: 3: zero=3, …" of lines.
Rows rows_of(const FigureData& figure, std::size_t cells) {
  Rows rows;
  for (const TableRow& row : tests::table_of(figure).rows) {
    std::string text = row.name + ":";
    for (std::size_t i = 0; i < cells; ++i) text += " " + row.cells.at(i) + ",";
    text.pop_back();
    rows.push_back(text);
  }
  return rows;
}

using Places = std::vector<double>;

}  // namespace

TEST_CASE("as printed GPT-2 XL keeps its weights on the GPU, and one more line moves them to the host") {
  CHECK(places({}) == Places{2, 14});
  CHECK(places({"config=gpt2_xl_zero3_param"}) == Places{0, 16});
  CHECK(places({"gpus=4"}) == Places{0.5, 3.5});
  CHECK(places({"config=blenderbot_zero2", "gpus=2"}) == Places{9, 0});
}

TEST_CASE("FSDP holds eight or sixteen bytes per parameter, by precision, version and loading") {
  CHECK(places({"config=fsdp_bf16", "gpus=1"}) == Places{8, 0});
  CHECK(places({"config=fsdp_mixed", "gpus=1"}) == Places{16, 0});
  CHECK(places({"config=fsdp_mixed"}) == Places{4, 0});  // four GPUs, by the file
  CHECK(places({"config=fsdp_mixed", "gpus=1", "accelerate=older"}) == Places{8, 0});
  CHECK(places({"config=fsdp_mixed", "gpus=1", "accelerate=older", "loaded=fp32"}) == Places{16, 0});
  CHECK(places({"config=deepspeed_bf16"}) == Places{16, 0});
}

TEST_CASE("formats are listed by place") {
  CHECK(rows_of(build_config_bytes({}), 2) == Rows{"As loaded: bf16, 2 B", "Weights: fp16, 2 B", "Gradients: fp16, 2 B",
                                                   "Master copy: fp32, 4 B", "Moments: fp32, 8 B", "Together: , 16 B"});
  CHECK(rows_of(build_config_bytes({"config=fsdp_mixed"}), 2) ==
        Rows{"As loaded: bf16, 2 B", "Weights: fp32, 4 B", "Gathered weights: bf16, 2 B", "Gradients: fp32, 4 B",
             "Moments: fp32, 8 B", "Together: , 16 B"});
}

TEST_CASE("each line is worth what the file would mean without it") {
  const FigureData one = build_config_bytes({"table=lines", "parameters=1073741824"});
  CHECK(rows_of(one, 3) ==
        Rows{"fp16.enabled: true: precision=fp16_mixed, +2.00 GiB, 0 B",
             "zero_optimization.stage: 3: zero=3, +14.00 GiB, 0 B",
             "zero_optimization.offload_optimizer.device: \"cpu\": offload.optimizer=host, +14.00 GiB, 0 B"});
  // Without sharding FSDP's file holds everything once per GPU.
  const FigureData fsdp = build_config_bytes({"table=lines", "config=fsdp_mixed", "parameters=1073741824"});
  const Rows lines = rows_of(fsdp, 3);
  CHECK(lines.back() == "num_processes: 4: ranks=4, +12.00 GiB, −4.50 GiB");
  CHECK(tests::table_of(one).foot.starts_with("13 more lines change neither"));
}

TEST_CASE("the foot has the traffic, the card is a line, and the answer is hidden") {
  const FigureData figure = build_config_bytes({"parameters=1073741824"});
  CHECK(tests::table_of(figure).foot ==
        "By formula, per step: a GPU sends nothing to other GPUs, 2 GiB to the host, and reads 2 GiB from it.");
  CHECK(tests::charts_of(figure).at(0)->references.at(0).label == "24 GiB card");
  CHECK(figure.head.source == record::Source::kFormula);
  CHECK(build_config_bytes({}, true).head.empty_reason == kIsAnswer);
}
