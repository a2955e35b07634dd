// The loss step by step; its peak on each path is the closed form's.
#include <string>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/step_bytes.h"
#include "lessons/figure.h"
#include "lessons/theory/loss_chain.h"
#include "tests/support/catch.h"
#include "tests/support/panels.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

constexpr record::Bytes kV = 128'256, kB = 4, kTokens = 4 * 1024;

record::Params settings(const std::vector<std::string>& assignments) {
  record::Params params(experiments::training_step().schema);
  for (const char* each : {"model=llama-3.2-1b", "batch=4", "seq=1024", "precision=bf16"})
    REQUIRE(params.set_assignment(each).ok());
  for (const std::string& each : assignments) REQUIRE(params.set_assignment(each).ok());
  return params;
}

LossChain chain_of(const std::vector<std::string>& assignments) {
  return loss_chain(predict::step_settings(settings(assignments)));
}

std::vector<std::string> names(const LossChain& chain, std::size_t step) {
  std::vector<std::string> found;
  for (const ChainTensor& each : chain.tensors)
    if (each.first <= step && step <= each.last) found.push_back(each.name);
  return found;
}

FigureData built_loss_chain(const record::Params& of, std::initializer_list<const char*> assignments = {},
                            View view = {}) {
  const Figure* figure = find_figure("logits_chain");
  REQUIRE(figure != nullptr);
  record::Params params(figure->schema);
  for (const char* each : assignments) REQUIRE(params.set_assignment(each).ok());
  return figure->build({.params = &params, .settings = &of, .view = view});
}

}  // namespace

TEST_CASE("four paths hold 16 V less 8 V B, 14 V, 12 V and C V at most") {
  CHECK(chain_of({"loss=hf_2024"}).peak() == 16 * kV * kTokens - 8 * kV * kB);
  CHECK(chain_of({"loss=hf_2025"}).peak() == 14 * kV * kTokens);
  CHECK(chain_of({"loss=plain"}).peak() == 12 * kV * kTokens);
  CHECK(chain_of({"loss=flce"}).peak() == 2 * 1024 * kV);
  CHECK(chain_of({"loss=flce", "loss_mode=report"}).peak() == 2 * 128 * kV);
}

TEST_CASE("on each path and in each format the chain's most is the closed form's") {
  for (const std::string loss : {"hf_2024", "hf_2025", "plain", "flce"})
    for (const std::string precision : {"bf16", "fp32", "fp16_mixed"})
      for (const std::string more : {"keep_output=on", "keep_output=off", "fused.cross_entropy=on", "loss_mode=lean"}) {
        INFO(loss << " " << precision << " " << more);
        const auto step = predict::step_settings(settings({"loss=" + loss, "precision=" + precision, more}));
        CHECK(loss_chain(step).peak() == predict::loss_bytes(step));
      }
}

TEST_CASE("at the peak of the code of 2024 are the previous output, the logits, their copy and log-softmax") {
  const LossChain chain = chain_of({"loss=hf_2024"});
  CHECK(names(chain, chain.highest()) ==
        std::vector<std::string>{"previous output, fp32", "logits, fp32", "shifted copy, fp32", "log-softmax, fp32"});
  CHECK(names(chain, chain.steps.size() - 1) ==
        std::vector<std::string>{"logits, fp32", "gradient, 16 bits"});  // the output stays
  const LossChain dropped = chain_of({"loss=hf_2024", "keep_output=off"});
  CHECK(chain.peak() - dropped.peak() == 4 * kV * kTokens);  // exactly one tensor
  const LossChain newer = chain_of({"loss=hf_2025"});
  CHECK(names(newer, newer.highest()) == std::vector<std::string>{"logits, 16 bits", "log-softmax, fp32",
                                                                  "its gradient, fp32", "gradient of logits, fp32"});
}

TEST_CASE("in fp32 nothing is cast, and the code of 2025 holds more than that of 2024") {
  const LossChain older = chain_of({"loss=hf_2024", "precision=fp32"}),
                  newer = chain_of({"loss=hf_2025", "precision=fp32"});
  CHECK(newer.peak() - older.peak() == 8 * kV * kB);
  for (const LossChain& chain : {older, newer})
    for (const ChainTensor& each : chain.tensors) CHECK(each.name.find("16 bits") == std::string::npos);
}

TEST_CASE("the figure follows the settings' path or another, and hides bytes while the question is open") {
  const record::Params of = settings({"loss=hf_2024"});
  const FigureData figure = built_loss_chain(of, {"frame=6"});
  CHECK(figure.head.frames == 11);
  CHECK(tests::panel_in<Diagram>(figure).title == "6. Log-softmax allocates one more tensor; the loss is one number");
  const Table& table = tests::table_of(figure);
  REQUIRE(table.rows.size() == 4);
  CHECK(table.rows[1].cells[0] == "16 · V · B · T − 8 · V · B");
  CHECK(table.rows[2].cells[1] == "1,795,584 B");  // 14 V
  CHECK(table.rows[0].cells[1] == "1,539,072 B");  // 12 V
  CHECK(table.rows[3].tip == "a chunk of logits at a time: 262,668,288 B");
  CHECK(built_loss_chain(of, {"path=flce"}).head.frames == 6);
  const FigureData other = built_loss_chain(settings({"loss=flce"}));
  CHECK(tests::table_of(other).rows[1].cells[0] == "16 · V · B · T − 8 · V · B");  // keeps its output by default
  const FigureData open = built_loss_chain(of, {"frame=6"}, {.hidden = true});
  for (const DiagramBox& box : tests::panel_in<Diagram>(open).boxes) {
    CHECK_FALSE(box.value);
    CHECK(box.label.find("iB") == std::string::npos);
  }
  CHECK(tests::table_of(open).rows.empty());
}
