// Forward, loss and every gradient against tests/llama/reference/reference.json, which plain PyTorch computes in float64.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/engine/llama/model/labels.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/engine/llama/step/train_step.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using nlohmann::json;

const json& reference() {
  static const json all = json::parse(std::ifstream(HEADROOM_SOURCE_DIR "/tests/llama/reference/reference.json"));
  return all;
}

// Element i of weight `number`, as in make_reference.py.
at::Tensor wave(std::size_t number, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto x = static_cast<double>(i);
    values[i] = std::sin(0.7 * x * x + 0.3 * x + 1.3 * static_cast<double>(number));
  }
  return at::tensor(values, at::kDouble);
}

struct Case {
  llama::Model model;
  at::Tensor ids, targets;
  const json* expected;
};

Case make_case(const std::string& name, at::ScalarType type) {
  const json& expected = reference().at("cases").at(name);
  const json& c = expected.at("config");
  llama::Config config{
      .id = "reference",
      .hidden_size = c.at("hidden_size"),
      .intermediate_size = c.at("intermediate_size"),
      .num_layers = c.at("num_layers"),
      .num_heads = c.at("num_heads"),
      .num_kv_heads = c.at("num_kv_heads"),
      .head_dim = c.at("head_dim"),
      .vocab_size = c.at("vocab_size"),
      .tie_word_embeddings = c.at("tied"),
      .rope_theta = c.at("rope_theta"),
  };
  if (!c.at("rope_factor").is_null()) {
    config.rope_scaling = llama::RopeScaling{.factor = c.at("rope_factor"), .original_length = c.at("original_length")};
  }
  const std::int64_t batch = expected.at("batch"), seq = expected.at("seq");
  Case result{
      .model = llama::make_model(config, {}, {.type = type}, seq, 0), .ids = {}, .targets = {}, .expected = &expected};

  const at::AutoGradMode grad_mode(false);
  const std::vector<llama::Parameter> parameters = llama::parameters(result.model);
  for (std::size_t number = 0; number < parameters.size(); ++number) {
    const at::Tensor& weight = parameters[number].tensor;
    at::Tensor x = wave(number, weight.numel()).view(weight.sizes());
    if (weight.dim() == 1) {
      x = 1 + 0.1 * x;
    } else if (number == 0) {
      x = 0.25 * x;
    } else {
      x = x * std::sqrt(2.0 / static_cast<double>(weight.size(1)));
    }
    weight.copy_(x);
  }
  std::vector<std::int64_t> ids;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t t = 0; t < seq; ++t) ids.push_back((17 * b * b + 31 * t * t + 7 * t + 3) % config.vocab_size);
  }
  result.ids = at::tensor(ids, at::kLong).view({batch, seq});
  result.targets = (5 * result.ids + 1).remainder(config.vocab_size);
  return result;
}

at::Tensor logits_of(const Case& c) {
  const at::AutoGradMode grad_mode(false);
  at::Tensor x =
      llama::embedding(c.model.embed_tokens_VH, c.ids, /*fused=*/false, llama::number_of(llama::Op::kEmbedding));
  for (std::int64_t i = 0; i < c.model.config.num_layers; ++i) x = llama::layer_forward(c.model, i, x);
  x = llama::rms_norm(x, c.model.final_norm_H, c.model.config.rms_norm_eps, llama::number_of(llama::Op::kFinalNorm));
  return llama::linear(x, {.weight_OI = c.model.lm_head_VH, .op = llama::number_of(llama::Op::kLmHead)},
                       record::Category::kLogits);
}

std::map<std::string, at::Tensor> gradients_of(const Case& c) {
  std::map<std::string, at::Tensor> gradients;
  for (const llama::Parameter& parameter : llama::parameters(c.model)) {
    gradients[parameter.name] = parameter.tensor.grad();
  }
  return gradients;
}

void check_samples(const at::Tensor& tensor, const json& expected, double tolerance, double scale) {
  const at::Tensor flat = tensor.reshape({-1}).to(at::kDouble);
  for (std::size_t k = 0; k < expected.at("places").size(); ++k) {
    const std::int64_t place = expected.at("places")[k];
    CAPTURE(place);
    CHECK(flat[place].item<double>() == Approx(expected.at("values")[k].get<double>()).margin(tolerance * scale));
  }
}

llama::TrainOptions with_checkpointing(bool on) { return {.recompute_every = on ? 1 : 0}; }

}  // namespace

TEST_CASE("logits, loss and every gradient equal the reference in fp32") {
  const std::string name = GENERATE("tied", "untied");
  const bool checkpointing = GENERATE(false, true);
  CAPTURE(name, checkpointing);
  const Case c = make_case(name, at::kFloat);
  constexpr double kTolerance = 2e-5;  // fp32 rounds at 6e-8; sums of some hundred terms, in eight layers

  check_samples(logits_of(c), c.expected->at("logits"), kTolerance, 1);
  const at::Tensor loss = llama::forward_backward(c.model, c.ids, c.targets, with_checkpointing(checkpointing));
  CHECK(loss.item<double>() == Approx(c.expected->at("loss").get<double>()).epsilon(kTolerance));

  const auto gradients = gradients_of(c);
  const json& expected = c.expected->at("gradients");
  REQUIRE(gradients.size() == expected.size());
  for (const auto& [weight, gradient] : gradients) {
    CAPTURE(weight);
    REQUIRE(gradient.defined());
    const double norm = expected.at(weight).at("norm");
    CHECK(gradient.to(at::kDouble).norm().item<double>() == Approx(norm).epsilon(kTolerance));
    // The margin is relative to ten times the gradient's root mean square.
    const double scale = 10 * norm / std::sqrt(static_cast<double>(gradient.numel()));
    check_samples(gradient, expected.at(weight), kTolerance, scale);
  }
}

TEST_CASE("bf16 agrees with the reference to eight bits") {
  const Case c = make_case(GENERATE("tied", "untied"), at::kBFloat16);
  const at::Tensor loss = llama::forward_backward(c.model, c.ids, c.targets, with_checkpointing(false));
  CHECK(loss.item<double>() == Approx(c.expected->at("loss").get<double>()).epsilon(0.02));
  for (const auto& [weight, gradient] : gradients_of(c)) {
    CAPTURE(weight);
    CHECK(gradient.scalar_type() == at::kBFloat16);
    const double norm = c.expected->at("gradients").at(weight).at("norm");
    CHECK(gradient.to(at::kDouble).norm().item<double>() == Approx(norm).epsilon(0.05));
  }
}

TEST_CASE("checkpointing changes no bit of loss or gradients") {
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16);
  const Case plain = make_case("tied", type), checkpointed = make_case("tied", type);
  const at::Tensor a = llama::forward_backward(plain.model, plain.ids, plain.targets, with_checkpointing(false));
  const at::Tensor b =
      llama::forward_backward(checkpointed.model, checkpointed.ids, checkpointed.targets, with_checkpointing(true));
  CHECK(at::equal(a, b));
  const auto left = gradients_of(plain), right = gradients_of(checkpointed);
  for (const auto& [weight, gradient] : left) {
    CAPTURE(weight);
    CHECK(at::equal(gradient, right.at(weight)));
  }
}

TEST_CASE("RoPE frequencies of Llama 3.2 1B: 15 kept, 3 blended, 14 divided by 32") {
  const llama::Config& config = *llama::find_config("llama-3.2-1b");
  const std::vector<float> frequencies = llama::rope_frequencies(config);
  REQUIRE(frequencies.size() == 32);
  const auto unscaled = [&](std::size_t j) { return std::pow(500000.0, -static_cast<double>(j) / 32); };
  CHECK(frequencies[0] == 1);
  CHECK(frequencies[14] == Approx(unscaled(14)));
  CHECK(frequencies[15] == Approx(0.00129055).epsilon(1e-5));
  CHECK(frequencies[16] == Approx(0.000429557).epsilon(1e-5));
  CHECK(frequencies[17] == Approx(0.0000970829).epsilon(1e-5));
  CHECK(frequencies[18] == Approx(unscaled(18) / 32));
  CHECK(frequencies[31] == Approx(unscaled(31) / 32));
}
