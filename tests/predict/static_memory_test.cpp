// Model state, against hand-computed numbers.
#include "demos/llama/architecture.h"
#include "demos/predict/forms/needle.h"
#include "demos/predict/forms/step_bytes.h"
#include "tests/support/catch.h"

using namespace headroom;
using predict::KeptState;
using predict::Precision;

TEST_CASE("mixed precision and fp32 both take sixteen bytes per parameter with AdamW") {
  const predict::StaticMemory mixed = predict::static_memory(1'500'000'000, Precision::kBf16Mixed, KeptState::kAdamW);
  CHECK(mixed.weights == 3'000'000'000);
  CHECK(mixed.gradients == 3'000'000'000);
  CHECK(mixed.master == 6'000'000'000);
  CHECK(mixed.moments == 12'000'000'000);
  CHECK(mixed.sum() == 24'000'000'000);
  CHECK(predict::static_memory(1'500'000'000, Precision::kFp32, KeptState::kAdamW).sum() == 24'000'000'000);
  // Llama 3.2 1B.
  CHECK(predict::static_memory(1'235'814'400, Precision::kFp16Mixed, KeptState::kAdamW).sum() == 19'773'030'400);
}

TEST_CASE("other optimizers and pure bf16 take fewer bytes") {
  const std::int64_t n = 1'000'000;
  CHECK(predict::static_memory(n, Precision::kBf16, KeptState::kAdamW).sum() == 8 * n);
  CHECK(predict::static_memory(n, Precision::kBf16Mixed, KeptState::kSgd).sum() == 8 * n);
  CHECK(predict::static_memory(n, Precision::kFp32, KeptState::kMomentum).sum() == 12 * n);
  // One byte per moment, two fp32 scales for each of 3,907 blocks.
  CHECK(predict::static_memory(n, Precision::kBf16Mixed, KeptState::kAdamW8bit).moments == 2 * n + 2 * 4 * 3907);
}

TEST_CASE("a sequence of GPT-2 XL keeps 114 bytes per token, hidden unit and layer, scores included") {
  const llama::Config& xl = llama::find_architecture("gpt2-xl")->shape;
  CHECK(llama::bytes_with_scores(xl, 1, 1'024, 2) == 114LL * 1'024 * 1'600 * 48);
  CHECK(llama::bytes_with_scores(xl, 1, 1'024, 4) == 210LL * 1'024 * 1'600 * 48);
  CHECK(llama::bytes_with_scores(xl, 3, 0, 2) == 0);
}

TEST_CASE("five models are ordered by the ratio of logits to checkpoints") {
  const double expected[] = {23.48, 5.87, 3.93, 1.46, 1.17};
  const auto models = llama::architectures();
  REQUIRE(models.size() == std::size(expected));
  for (std::size_t i = 0; i < models.size(); ++i)
    CHECK(predict::needle_ratio(models[i].shape, 3) == Approx(expected[i]).margin(0.005));
  CHECK(predict::needle_bytes(models[0].shape, 3, 4096) == 6'304'038'912);
  CHECK(predict::kept_inputs_bytes(models[0].shape, 4096) == 268'435'456);
}
