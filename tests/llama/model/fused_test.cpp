// The step with fused kernels: equal numbers in less memory, planned to the byte.
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/llama/config.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

const std::vector<Settings> kFusedSwitches{
    {"fused.rms_norm=on"},
    {"fused.rope=on"},
    {"fused.swiglu=on"},
    {"fused.swiglu=on", "fused.keep=on"},
    {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.keep=on"},
    {"fused.cross_entropy=on"},
    {"fused.embedding=on"},
    {"fused.adamw=off"},
    {"loss=flce", "loss_chunk=16"},
    {"loss=flce", "loss_chunk=128", "loss_mode=lean"},
    {"loss=flce", "loss_mode=report"},
    {"loss=flce", "loss_chunk=16", "fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.embedding=on"},
};

record::Bytes peak(const Settings& settings) { return sum(peak_by_category(third_step(settings, kPlanForCpu))); }

}  // namespace

TEST_CASE("a step with fused kernels has the composed step's losses") {
  const Settings switches = GENERATE(from_range(kFusedSwitches));
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  CAPTURE(text_of(switches), checkpointing);
  const Settings base = joined(kSmallSettings, {checkpointing});
  const std::vector<double> composed = losses(base, 6), fused = losses(joined(base, switches), 6);
  for (std::size_t i = 0; i < composed.size(); ++i) {
    CAPTURE(i, composed[i], fused[i]);
    CHECK(std::abs(fused[i] - composed[i]) < 2e-4 * composed[i]);
  }
}

TEST_CASE("every gradient of the fused step equals the composed step's") {
  const std::int64_t seq = 32;
  const auto gradients = [&](const llama::FusedKernels& fused, const llama::LossOptions& loss) {
    const llama::Model model = llama::make_model(*llama::find_config("tiny"), fused, {}, seq, /*seed=*/3);
    const at::Tensor tokens = llama::make_batch("To be, or not to be, that is the question.", 2, seq, 0, 0);
    llama::forward_backward(model, tokens.select(0, 0), tokens.select(0, 1), {.loss = loss});
    std::vector<at::Tensor> result;
    for (const llama::Parameter& parameter : llama::parameters(model)) result.push_back(parameter.tensor.grad());
    return result;
  };
  const std::vector<at::Tensor> composed = gradients({}, {});
  const llama::FusedKernels all{
      .rms_norm = true, .rope = true, .swiglu = true, .cross_entropy = true, .embedding = true};
  for (const llama::LossPath path : {llama::LossPath::kPlain, llama::LossPath::kFlce}) {
    const std::vector<at::Tensor> fused = gradients(all, {.path = path, .chunk = 24});
    REQUIRE(fused.size() == composed.size());
    for (std::size_t i = 0; i < fused.size(); ++i) {
      CAPTURE(i);
      REQUIRE(fused[i].defined());
      const double largest = composed[i].abs().max().item<double>();
      CHECK((fused[i] - composed[i]).abs().max().item<double>() < 2e-5 * largest);
    }
  }
}

TEST_CASE("a planned step with fused kernels has the CPU step's allocations, one by one and by name") {
  install_allocation_log();
  at::set_num_threads(1);
  const Settings switches = GENERATE(from_range(kFusedSwitches));
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  CAPTURE(text_of(switches), checkpointing);
  check_planned(joined(joined(kSmallSettings, {checkpointing}), switches));
}

TEST_CASE("tensors that backward can recompute are not kept") {
  install_allocation_log();
  // L = 4 layers, H = 256, F = 704, N = 128 tokens, 4 bytes.
  const Settings base{"batch=1", "seq=128"};
  const auto kept = [&](const char* switched, const char* op) {
    return kept_by(third_step(joined(base, {switched}), kPlanForCpu), op);
  };
  constexpr record::Bytes kProduct = 4 * 128 * 704 * 4, kStream = 4 * 128 * 256 * 4, kRows = 4 * 128 * 4;
  CHECK(kept("fused.swiglu=off", "mlp.product") == kProduct);
  CHECK(kept("fused.swiglu=off", "mlp.silu") == kProduct);
  CHECK(kept("fused.swiglu=on", "mlp.product") == 0);
  CHECK(kept("fused.swiglu=on", "mlp.silu") == 0);
  CHECK(kept("fused.rms_norm=off", "attention.rms_norm") > 2 * kStream);  // fp32 also keeps the sums
  CHECK(kept("fused.rms_norm=on", "attention.rms_norm") == kRows);        // 1/√ per row
  CHECK(kept("fused.rms_norm=on", "mlp.rms_norm") == kStream + kRows);    // plus the stream itself
  CHECK(kept("fused.rope=on", "attention.rope") == 0);
}

TEST_CASE("fused kernels with `keep` keep the outputs of norms and SwiGLU, and train bit for bit the same") {
  install_allocation_log();
  const std::string adapters = GENERATE("adapters=off", "adapters=lora");
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer");
  CAPTURE(adapters, checkpointing);
  const Settings base =
      joined(kSmallSettings, {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", adapters, checkpointing});
  const Settings keeping = joined(base, {"fused.keep=on"});
  CHECK(losses(keeping, 4) == losses(base, 4));

  // L = 4 layers, H = 256, F = 704, N = 128 tokens, 4 bytes.
  constexpr record::Bytes kProduct = 4 * 128 * 704 * 4, kStream = 4 * 128 * 256 * 4;
  const auto more = [&](const char* op) {
    const Settings larger{"model=tiny", "batch=1", "seq=128", "checkpointing=off"};
    return kept_by(third_step(joined(keeping, larger), kPlanForCpu), op) -
           kept_by(third_step(joined(base, larger), kPlanForCpu), op);
  };
  CHECK(more("mlp.product") == kProduct);
  CHECK(more("attention.rms_norm") == kStream);
  CHECK(more("mlp.rms_norm") == kStream);
}

TEST_CASE("fused kernels keep nothing for frozen projections") {
  install_allocation_log();
  const Settings base{"batch=1",           "seq=128",         "adapters=lora", "lora_targets=attention",
                      "fused.rms_norm=on", "fused.swiglu=on", "fused.keep=on"};
  const auto log = third_step(base, kPlanForCpu);
  constexpr record::Bytes kStream = 4 * 128 * 256 * 4, kRows = 4 * 128 * 4;
  CHECK(kept_by(log, "mlp.product") == 0);
  CHECK(kept_by(log, "mlp.rms_norm") == kStream + kRows);
  CHECK(kept_by(log, "attention.rms_norm") == kStream + kRows);
}

TEST_CASE("the fused loss never holds all logits") {
  install_allocation_log();
  // V = 4096, N = 512, 4 bytes: all logits are 8 MiB, and the composed loss keeps two such tensors.
  const Settings base{"batch=1", "seq=512"};
  constexpr record::Bytes kLogits = 512 * 4096 * 4;
  const auto logits_at_peak = [&](const Settings& settings) {
    record::Bytes live = 0, most = 0;
    std::map<std::int64_t, record::Bytes> alive;
    for (const Allocation& a : third_step(joined(base, settings), kPlanForCpu)) {
      if (a.kind == Allocation::Kind::kAlloc && a.tag.category == record::Category::kLogits) {
        live += alive[a.storage] = a.bytes;
      } else if (a.kind == Allocation::Kind::kFree) {
        live -= alive[a.storage];
        alive.erase(a.storage);
      }
      most = std::max(most, live);
    }
    return most;
  };
  CHECK(logits_at_peak({"loss=plain"}) >= 2 * kLogits);
  CHECK(logits_at_peak({"fused.cross_entropy=on"}) < kLogits + kLogits / 16);
  CHECK(logits_at_peak({"loss=flce", "loss_chunk=64"}) < kLogits / 8 + kLogits / 16);
  CHECK(peak(joined(base, {"loss=flce", "loss_chunk=64"})) < peak(base) - kLogits);
}
