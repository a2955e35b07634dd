// Adapters against full training, after pretraining on other text.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "demos/engine/llama/model/adapters.h"
#include "demos/engine/llama/model/linear.h"
#include "demos/engine/llama/model/loss.h"
#include "demos/engine/llama/optimizers/optimizer.h"
#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using llama::AdapterKind;

const llama::Config kSmall{.id = "custom",
                           .hidden_size = 128,
                           .intermediate_size = 352,
                           .num_layers = 3,
                           .num_heads = 4,
                           .num_kv_heads = 2,
                           .head_dim = 32,
                           .vocab_size = 256,
                           .rope_theta = 10000};
constexpr std::int64_t kBatch = 8, kSeq = 64;

std::string text_of(const std::string& file) {
  std::ifstream stream(std::filesystem::path(HEADROOM_SOURCE_DIR) / file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  REQUIRE_FALSE(text.empty());
  return text;
}

llama::Model make() {
  return llama::make_model(kSmall, {.rms_norm = true, .rope = true, .swiglu = true, .cross_entropy = true}, {}, kSeq,
                           /*seed=*/1);
}

void copy_weights(const llama::Model& from, llama::Model& to) {
  const at::AutoGradMode grad_mode(false);
  const std::vector<llama::Parameter> source = llama::parameters(from), target = llama::parameters(to);
  for (std::size_t i = 0; i < source.size(); ++i) at::Tensor(target[i].tensor).copy_(source[i].tensor);
}

// Mean loss over batches drawn independently of the training's.
double loss_on(const llama::Model& model, const std::string& text) {
  const at::AutoGradMode grad_mode(false);
  constexpr int kBatches = 8;
  double sum = 0;
  for (int i = 0; i < kBatches; ++i) {
    const at::Tensor tokens = llama::make_batch(text, kBatch, kSeq, /*seed=*/99, i);
    at::Tensor x = llama::embedding(model.embed_tokens_VH, tokens.select(0, 0), /*fused=*/false, 0);
    for (std::int64_t layer = 0; layer < kSmall.num_layers; ++layer) x = llama::layer_forward(model, layer, x);
    x = llama::rms_norm(x, model.final_norm_H, kSmall.rms_norm_eps, 0);
    sum += llama::lm_loss(model, x, tokens.select(0, 1), {}).item<double>();
  }
  return sum / kBatches;
}

void train(llama::Model& model, const std::string& text, int steps) {
  llama::AdamW optimizer(llama::trainable_parameters(model), {.learning_rate = 1e-3, .weight_decay = 0});
  for (int i = 0; i < steps; ++i)
    llama::train_step(model, optimizer, llama::make_batch(text, kBatch, kSeq, /*seed=*/7, i), {}, i);
}

double drop(const llama::Model& base, const llama::AdapterOptions& adapters, const std::string& text) {
  llama::Model model = make();
  copy_weights(base, model);
  const double before = loss_on(model, text);
  if (adapters.kind != AdapterKind::kOff) llama::add_adapters(model, adapters, /*seed=*/3);
  train(model, text, 200);
  return before - loss_on(model, text);
}

}  // namespace

TEST_CASE("adapters of rank 16 reach most of full training's drop in loss, and QLoRA nearly the same") {
  at::set_num_threads(1);
  const std::string prose = text_of("assets/data/course.txt");
  const std::string code =
      text_of("demos/engine/llama/model/fused.cpp") + text_of("demos/engine/llama/model/weights/weights.cpp");
  llama::Model base = make();
  train(base, prose, 600);
  CHECK(loss_on(base, prose) < 2);
  const double full = drop(base, {}, code);
  const double lora = drop(
      base, {.kind = AdapterKind::kLora, .rank = 16, .alpha = 32, .start = predict::AdapterStart::kGaussian}, code);
  const double qlora = drop(
      base, {.kind = AdapterKind::kQlora, .rank = 16, .alpha = 32, .start = predict::AdapterStart::kGaussian}, code);
  CAPTURE(full, lora, qlora);
  CHECK(full > 1);
  CHECK(lora >= 0.6 * full);
  CHECK(qlora >= 0.9 * lora);
}
