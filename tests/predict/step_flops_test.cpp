// FLOPs of a step.
#include "demos/predict/time/step_flops.h"
#include "demos/experiments/schemas.h"
#include "tests/support/catch.h"

using namespace headroom;
using predict::AttentionFlops;

namespace {

predict::StepSettings step(std::initializer_list<const char*> settings) {
  record::Params params(experiments::shape_schema().schema);
  for (const char* each : settings) REQUIRE(params.set_assignment(each).ok());
  return predict::step_settings(experiments::step_params(params));
}

}  // namespace

TEST_CASE("a token takes six operations per weight plus attention's") {
  const predict::StepSettings plain = step({});
  CHECK(predict::model_flops_per_token(plain, AttentionFlops::kNone) == 7'414'886'400);
  CHECK(predict::model_flops_per_token(plain, AttentionFlops::kCausal) == 7'414'886'400 + 201'326'592);
  CHECK(predict::model_flops_per_token(plain, AttentionFlops::kAll) == 7'414'886'400 + 2 * 201'326'592);
  // Attention's FLOPs equal the weights' at P / (L · H) tokens.
  CHECK(1'235'814'400 / (16 * 2048) == 37'714);
}

TEST_CASE("recomputed operations are the layers without their last GEMMs") {
  CHECK(predict::repeated_flops_per_token(step({}), AttentionFlops::kNone) == 0);
  const predict::StepSettings again = step({"checkpointing=layer"});
  CHECK(predict::repeated_flops_per_token(again, AttentionFlops::kNone) == Approx(1'409'286'144));
  CHECK(predict::repeated_flops_per_token(again, AttentionFlops::kCausal) == Approx(1'409'286'144 + 201'326'592 / 3));
}

TEST_CASE("a reentrant checkpoint recomputes whole layers, 26 percent of the model's operations") {
  const predict::StepSettings again = step({"checkpointing=layer"});
  const double whole = predict::whole_layers_flops_per_token(again, AttentionFlops::kNone);
  CHECK(whole == 2.0 * 16 * 60'821'504);
  CHECK(whole / predict::model_flops_per_token(again, AttentionFlops::kNone) == Approx(0.2625).margin(0.00005));
  CHECK(predict::whole_layers_flops_per_token(again, AttentionFlops::kCausal) == whole + 201'326'592.0 / 3);
}

TEST_CASE("adapters omit the gradients of frozen weights") {
  const double frozen = predict::model_flops_per_token(step({"adapters=lora"}), AttentionFlops::kNone);
  CHECK(frozen > 4.0 * 1'235'814'400);
  CHECK(frozen < 4.1 * 1'235'814'400);
}

TEST_CASE("the peak is that of the step's GEMM format") {
  const predict::Card* card = predict::card_of_gpu("NVIDIA H200");
  REQUIRE(card != nullptr);
  CHECK(predict::products_peak(step({"precision=fp32"}), *card) == 67e12);
  CHECK(predict::products_peak(step({"precision=fp32", "gemm=tf32"}), *card) == 494e12);
  CHECK(predict::products_peak(step({"precision=bf16"}), *card) == 989e12);
  CHECK(predict::products_peak(step({"precision=bf16", "gemm=fp8"}), *card) == 1979e12);
  CHECK(predict::card_of_gpu("a CPU") == nullptr);
}
