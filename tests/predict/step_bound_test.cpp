// The lower bound of a step: its weights' GEMMs, once forward and twice backward, and all other bytes.
#include <cstdint>
#include <utility>

#include "demos/predict/time/step_bound.h"
#include "tests/support/catch.h"

using namespace headroom;

namespace {

double flops(const predict::StepBound& bound) {
  double sum = 0;
  for (const predict::StepProduct& product : bound.products)
    sum += static_cast<double>(product.times) * product.flops();
  return sum;
}

}  // namespace

TEST_CASE("a step's GEMMs are six operations per token and weight, or eight with recomputed layers") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  const std::int64_t tokens = 1024;
  const std::int64_t norms = (2 * c.num_layers + 1) * c.hidden_size;
  const std::int64_t matrices = llama::num_parameters(c) - norms;  // the head is the embedding's table
  const std::int64_t layers = matrices - c.vocab_size * c.hidden_size;
  CHECK(flops(predict::step_bound(c, {.tokens = tokens})) == Approx(6.0 * tokens * matrices).epsilon(1e-12));
  // A segment's last layer is recomputed without its last GEMM.
  const std::int64_t down = c.hidden_size * c.intermediate_size;
  CHECK(static_cast<double>(c.num_layers * down) / static_cast<double>(layers) == Approx(0.276).margin(0.001));
  for (const auto& [every, without] : {std::pair(1, 16), std::pair(3, 6), std::pair(16, 1), std::pair(20, 1)}) {
    CAPTURE(every);
    CHECK(flops(predict::step_bound(c, {.tokens = tokens, .checkpoint_every = every})) ==
          Approx(6.0 * tokens * matrices + 2.0 * tokens * (layers - without * down)).epsilon(1e-12));
  }
}

TEST_CASE("a recomputed layer's bytes omit its last GEMM's input and its last sum") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  const auto recomputed = [&](std::int64_t every) {
    return predict::step_bound(c, {.tokens = 1024, .element = 2, .checkpoint_every = every})
        .bytes[static_cast<std::size_t>(record::Phase::kRecompute)];
  };
  CHECK(recomputed(0) == 0);
  const record::Bytes left_out = 2 * 1024 * 3 * (c.intermediate_size + c.hidden_size);
  CHECK(recomputed(16) - recomputed(1) == 15 * left_out);
  const record::Bytes forward =
      predict::step_bound(c, {.tokens = 1024, .element = 2}).bytes[static_cast<std::size_t>(record::Phase::kForward)];
  CHECK(recomputed(16) + left_out == forward - 2 * 1024 * 4 * c.hidden_size);  // without embedding and final norm
}

TEST_CASE("all other bytes are the optimizer's plus bytes per token") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  const std::int64_t weights = llama::num_parameters(c);
  const auto bytes = [&](std::int64_t tokens, record::Bytes element, record::Bytes moment) {
    return predict::step_bound(c, {.tokens = tokens, .element = element, .moment = moment}).other_bytes();
  };
  CHECK(bytes(1024, 2, 4) - bytes(1024, 2, 2) == 8 * weights);
  // AdamW in bf16: reads weight and gradient, writes weight, reads and writes two moments.
  const record::Bytes optimizer = 14 * weights;
  CHECK(bytes(2048, 2, 2) - optimizer == 2 * (bytes(1024, 2, 2) - optimizer));
  // With fp32 masters: reads master and gradient, writes master and weight, reads and writes two fp32 moments.
  const auto mixed = predict::step_bound(c, {.tokens = 1024, .element = 2, .moment = 4, .masters = true}).other_bytes();
  CHECK(mixed - (bytes(1024, 2, 2) - optimizer) == 28 * weights);
  // Logits and their gradient alone take 4 V bytes per token.
  CHECK(bytes(1024, 2, 2) > optimizer + 4 * c.vocab_size * 1024);
  CHECK(bytes(1024, 4, 4) == 2 * bytes(1024, 2, 2));
}

TEST_CASE("fp8 casts take one pass per operand and layout, and measuring one more") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  const auto bytes = [&](const predict::StepBoundOptions& options, record::Phase phase) {
    return predict::step_bound(c, options).bytes[static_cast<std::size_t>(phase)];
  };
  const predict::StepBoundOptions bf16{.tokens = 1024, .element = 2};
  predict::StepBoundOptions delayed = bf16, current = bf16;
  delayed.fp8 = current.fp8 = current.fp8_measured = true;
  const std::int64_t h = 2048, f = 8192, q = 2048, kv = 512, n = 1024;
  const std::int64_t weights = 2 * h * (q + kv) + 3 * h * f, inputs = n * (2 * h + q + f);
  using record::Phase;
  CHECK(bytes(delayed, Phase::kForward) - bytes(bf16, Phase::kForward) == 16 * (4 * inputs + 3 * weights));
  CHECK(bytes(current, Phase::kForward) - bytes(delayed, Phase::kForward) == 16 * 2 * (inputs + weights));
  const std::int64_t results = n * (q + 2 * kv + 2 * h + 2 * f);
  CHECK(bytes(delayed, Phase::kBackward) - bytes(bf16, Phase::kBackward) == 16 * (6 * results + 3 * weights));
  CHECK(bytes(delayed, Phase::kOptimizer) == bytes(bf16, Phase::kOptimizer));
}
