// The bound of a step: the products of its weights, once forward and twice backward, and the bytes of the rest.
#include <cstdint>

#include "demos/predict/step_bound.h"
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

TEST_CASE("a step's products are six operations per token and weight, eight where layers run again") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  const std::int64_t tokens = 1024;
  const std::int64_t norms = (2 * c.num_layers + 1) * c.hidden_size;
  const std::int64_t matrices = llama::num_parameters(c) - norms;  // the head is the embedding's table
  const std::int64_t layers = matrices - c.vocab_size * c.hidden_size;
  CHECK(flops(predict::step_bound(c, {.tokens = tokens})) == Approx(6.0 * tokens * matrices).epsilon(1e-12));
  CHECK(flops(predict::step_bound(c, {.tokens = tokens, .checkpointing = true})) ==
        Approx(6.0 * tokens * matrices + 2.0 * tokens * layers).epsilon(1e-12));
}

TEST_CASE("the other bytes are the optimizer's and grow with the tokens") {
  const llama::Config& c = *llama::find_config("llama-3.2-1b");
  const std::int64_t weights = llama::num_parameters(c);
  const auto bytes = [&](std::int64_t tokens, record::Bytes element, record::Bytes moment) {
    return predict::step_bound(c, {.tokens = tokens, .element = element, .moment = moment}).other_bytes();
  };
  CHECK(bytes(1024, 2, 4) - bytes(1024, 2, 2) == 8 * weights);
  // AdamW in bf16: weight and gradient read, weight written, two moments both ways.
  const record::Bytes optimizer = 14 * weights;
  CHECK(bytes(2048, 2, 2) - optimizer == 2 * (bytes(1024, 2, 2) - optimizer));
  // With fp32 masters: master and gradient read, master and weight written, two moments in fp32 both ways.
  const auto mixed = predict::step_bound(c, {.tokens = 1024, .element = 2, .moment = 4, .masters = true}).other_bytes();
  CHECK(mixed - (bytes(1024, 2, 2) - optimizer) == 28 * weights);
  // Beside it, logits and their gradient alone are 4 V per token.
  CHECK(bytes(1024, 2, 2) > optimizer + 4 * c.vocab_size * 1024);
  CHECK(bytes(1024, 4, 4) == 2 * bytes(1024, 2, 2));
}
