// The closed form of experts and post-norms, which the step does not support.
#include <initializer_list>
#include <string_view>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/forms/step_bytes.h"
#include "tests/predict/settings.h"
#include "tests/support/catch.h"

using namespace headroom;
using predict::ClosedForm;
using record::Bytes;
using record::Category;

namespace {

// Experts in place of all MLPs.
llama::Extension experts(std::int64_t count, std::int64_t per_token, std::int64_t size, std::int64_t shared_size = 0) {
  return {.experts = llama::Experts{
              .layers = 16, .count = count, .per_token = per_token, .size = size, .shared_size = shared_size}};
}

}  // namespace

TEST_CASE("a mixture of one expert equals a plain MLP plus its router") {
  for (const char* const more : {"seed=0", "checkpointing=layer", "checkpointing=selective", "fused.swiglu=on",
                                 "optimizer=adamw_8bit", "optimizer=galore", "adapters=qlora", "attention=eager"}) {
    INFO(more);
    predict::StepSettings step = tests::with({"precision=bf16", more});
    const ClosedForm plain = predict::closed_form(step);
    step.extension = experts(1, 1, 8192);
    const ClosedForm one = predict::closed_form(step);
    REQUIRE(one.moments.size() == plain.moments.size());
    // The router's weights.
    CHECK(tests::of(one.moments.front(), Category::kWeights) - tests::of(plain.moments.front(), Category::kWeights) ==
          2 * 16 * 2048);
    for (std::size_t i = 0; i < one.moments.size(); ++i) {
      CHECK(tests::of(one.moments[i], Category::kLogits) == tests::of(plain.moments[i], Category::kLogits));
      CHECK(tests::of(one.moments[i], Category::kWorkspace) == tests::of(plain.moments[i], Category::kWorkspace));
      CHECK(tests::of(one.moments[i], Category::kActivations) >= tests::of(plain.moments[i], Category::kActivations));
    }
  }
}

TEST_CASE("a token keeps only its selected experts' activations") {
  predict::StepSettings step = tests::with({"precision=bf16"});
  const predict::LayerBytes plain = predict::layer_bytes(step);
  step.extension = experts(8, 2, 8192);
  const predict::LayerBytes two = predict::layer_bytes(step);
  CHECK(two.mlp == 2 * plain.mlp);
  CHECK(two.attention == plain.attention);
  CHECK(predict::router_bytes(step) == 8 * (2 + 4) + 2 * (8 + 4 + 2));
  // The router's numbers, two gathered rows, two results.
  CHECK(two.routing == 4096 * (76 + 2 * 2 * 2048 * 2));
  step.extension = experts(16, 2, 8192);
  CHECK(predict::layer_bytes(step).mlp == two.mlp);
  // A shared expert adds its result and its gate.
  step.extension = experts(8, 2, 4096, 8192);
  CHECK(predict::layer_bytes(step).mlp == 2 * plain.mlp);
  CHECK(predict::layer_bytes(step).routing == two.routing + 4096 * (2 * 2048 + 2));
}

TEST_CASE("weights, gradients and optimizer state count all experts") {
  predict::StepSettings step = tests::with({"precision=bf16_mixed"});
  step.extension = experts(8, 2, 8192);
  const std::int64_t parameters = 1'235'814'400 + 16LL * (7 * 3 * 2048 * 8192 + 8 * 2048);
  CHECK(predict::trained_parameters(step) == parameters);
  const ClosedForm form = predict::closed_form(step);
  CHECK(tests::of(form.moments.back(), Category::kWeights) == 2 * parameters);
  CHECK(tests::of(form.moments.back(), Category::kOptimizerState) == 12 * parameters);
  CHECK(tests::of(form.moments.back(), Category::kGradients) == 2 * parameters);
  CHECK(form.assumed.size() == 4);
  // Three adapters of rank 16 per expert, 16 · (H + F) parameters each.
  predict::StepSettings adapted = tests::with({"precision=bf16", "adapters=lora", "lora_targets=mlp"});
  const std::int64_t plain = predict::adapter_parameters(adapted);
  adapted.extension = experts(8, 2, 8192);
  CHECK(predict::adapter_parameters(adapted) == 8 * plain);
}

TEST_CASE("every setting has a closed form with experts without negative terms") {
  record::Params params(experiments::training_step().schema);
  for (const record::ParamSpec& spec : params.schema())
    for (const record::Choice& choice : record::choices_of(spec)) {
      INFO(spec.key << "=" << choice.key);
      record::Params each = params;
      REQUIRE(each.set(spec.key, choice.key).ok());
      predict::StepSettings step = predict::step_settings(each);
      step.extension = {
          .experts = llama::Experts{.layers = 2, .count = 8, .per_token = 2, .size = 64, .shared_size = 96},
          .mlp_bias = true,
          .post_norms = true};
      for (const ClosedForm::Moment& moment : predict::closed_form(step).moments)
        for (const Bytes bytes : moment.bytes) CHECK(bytes >= 0);
    }
}

TEST_CASE("post-norms keep their inputs") {
  predict::StepSettings step = tests::with({"precision=bf16"});
  const predict::LayerBytes plain = predict::layer_bytes(step);
  step.extension.post_norms = true;
  const predict::LayerBytes normed = predict::layer_bytes(step);
  // The result in fp32, normed rows for the norm's gradient, and a number per row.
  CHECK(normed.attention - plain.attention == 4096 * (2048 * (4 + 2) + 4));
  CHECK(normed.mlp - plain.mlp == 4096 * (2048 * (4 + 2) + 4));
  CHECK(predict::trained_parameters(step) == 1'235'814'400 + 16 * 2 * 2048);
}
