// eval_every: the loss on held-out text, without effect on training or peak.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/experiments/combinations.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/model/small_config.h"
#include "tests/llama/step/step_positions.h"
#include "tests/llama/step_fixture.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

// Matrix sides that fp8 supports.
const Settings kStep = joined(kSmallSettings, {"seq=16", "learning_rate=0.01"});

struct Losses {
  std::vector<double> trained, evaluated;
};

Losses losses_of(const Settings& settings, int steps) {
  const auto run = make_run(settings, kCpu);
  Losses all;
  for (int i = 0; i < steps; ++i) {
    run->step(i);
    const experiments::StepReport report = run->report();
    all.trained.push_back(*report.loss);
    if (report.evaluation_loss) all.evaluated.push_back(*report.evaluation_loss);
  }
  return all;
}

// Adding `settings` to `base` must keep its loss.
struct Kind {
  Settings base, settings;
  double tolerance;  // relative
};
const std::vector<Kind> kKinds{
    {{}, {"loss=flce", "loss_chunk=8"}, 1e-5},
    {{}, {"loss=flce", "loss_mode=lean", "loss_chunk=16"}, 1e-5},
    {{},
     {"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.cross_entropy=on", "fused.embedding=on"},
     1e-5},
    {{}, {"checkpointing=layer", "attention=eager"}, 1e-5},
    {{}, {"checkpointing=selective", "histogram=on"}, 1e-5},
    {{}, {"checkpointing=every", "offload.optimizer=host", "offload.parameters=on", "offload.checkpoints=on"}, 1e-4},
    {{}, {"optimizer_in_backward=on"}, 1e-5},
    {{"accumulate=2"}, {"loss=flce"}, 1e-5},
    {{"precision=fp16_mixed"}, {"checkpointing=layer"}, 1e-3},
    {{"precision=bf16"}, {"gemm=fp8", "fp8_scaling=delayed"}, 2e-2},
    {{"adapters=qlora"}, {"fused.rms_norm=on", "fused.swiglu=on"}, 1e-4},
};

std::string constant_text(const TemporaryFolder& folder) {
  const std::string text = std::string(900, 'a') + std::string(100, 'b');
  write_bytes(folder.path() / "text.txt", text);
  return "data=" + (folder.path() / "text.txt").string();
}

}  // namespace

TEST_CASE("a loss without gradients equals the one with gradients") {
  const auto path =
      GENERATE(llama::LossPath::kPlain, llama::LossPath::kFlce, llama::LossPath::kHf2024, llama::LossPath::kHf2025);
  const std::int64_t micro_batches = GENERATE(1, 2);
  const llama::Model model = llama::make_model(kSmallConfig, {}, {}, /*seq=*/12, /*seed=*/3);
  const at::Tensor tokens = at::randint(300, {2, 4, 12}, at::kLong);
  llama::TrainOptions options;
  options.loss.path = path;
  options.micro_batches = micro_batches;
  const at::Tensor alone = llama::evaluation_loss(model, tokens, options);
  for (const llama::Parameter& weight : llama::parameters(model)) CHECK_FALSE(weight.tensor.grad().defined());
  CHECK_FALSE(alone.requires_grad());
  CHECK(alone.item<float>() == llama::forward_backward(model, tokens[0], tokens[1], options).item<float>());
}

TEST_CASE("the held-out loss is that of the default step for every technique") {
  const Kind kind = GENERATE(from_range(kKinds));
  CAPTURE(text_of(kind.base), text_of(kind.settings));
  const Settings evaluated = joined(joined(kStep, kind.base), {"eval_every=2"});
  const Losses plain = losses_of(evaluated, 4), other = losses_of(joined(evaluated, kind.settings), 4);
  REQUIRE(plain.evaluated.size() == 2);
  REQUIRE(other.evaluated.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(other.evaluated[i] == Approx(plain.evaluated[i]).epsilon(kind.tolerance));
  CHECK(plain.evaluated[0] != plain.evaluated[1]);
}

TEST_CASE("an evaluation does not affect training") {
  for (const Position& position : positions()) {
    record::Params often = params(joined(kStep, {"device=cpu"})), seldom = often;
    if (position.spec->key == "eval_every" || !set_both(often, position, position) ||
        experiments::refused_combination(often))
      continue;
    CAPTURE(position.text());
    (void)set_both(seldom, position, position);
    set(often, "eval_every=1");
    set(seldom, "eval_every=4");
    const auto a = make_run(often, kCpu), b = make_run(seldom, kCpu);
    CHECK(losses(*a, 4) == losses(*b, 4));
  }
}

TEST_CASE("an evaluation needs no more memory than the step before it") {
  install_allocation_log();
  for (const Position& position : positions()) {
    record::Params step = params(joined(kStep, {"eval_every=1", "device=cpu"}));
    if (position.spec->key == "eval_every" || !set_both(step, position, position) ||
        experiments::refused_combination(step))
      continue;
    CAPTURE(position.text());
    record::Bytes live = 0, trained = 0, evaluated = 0;
    for (const Allocation& a : log_of(kPlanForCpu, [&] {
           const auto run = make_run(step, kPlanForCpu);
           for (int i = 0; i < 3; ++i) run->step(i);
         })) {
      if (a.kind == Allocation::Kind::kAlloc) live += a.bytes;
      if (a.kind == Allocation::Kind::kFree) live -= a.bytes;
      record::Bytes& peak = a.tag.phase == record::Phase::kEvaluation ? evaluated : trained;
      peak = std::max(peak, live);
    }
    CHECK(evaluated > 0);
    CHECK(evaluated <= trained);
  }
}

TEST_CASE("the last tenth of the data is used for evaluation only") {
  const TemporaryFolder folder;
  const Settings text = joined(kStep, {constant_text(folder), "eval_every=1"});
  const auto run = make_run(text, kCpu);
  const Losses all = losses_of(text, 12);
  CHECK(all.trained.back() < 0.1);                            // one letter, repeated
  CHECK(all.evaluated.back() > all.evaluated.front() + 0.5);  // the other letter, never seen
  CHECK(run->found().at("held_out") == "the last 100 of 1000 tokens");
  CHECK_FALSE(make_run(joined(kStep, {constant_text(folder)}), kCpu)->found().contains("held_out"));
}

TEST_CASE("a tenth shorter than a sequence is refused") {
  const TemporaryFolder folder;
  const Settings text{constant_text(folder), "eval_every=1"};
  CHECK(run_or_refusal(params(joined(kSmallSettings, joined(text, {"seq=99"}))), kCpu).ok());
  const auto refused = run_or_refusal(params(joined(kSmallSettings, joined(text, {"seq=100"}))), kCpu);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "eval_every holds out the last tenth of the data, which has 100 tokens, but a sequence with its last target "
        "needs 101; use more data, a smaller seq, or eval_every=0.");
  CHECK(run_or_refusal(params(joined(kSmallSettings, joined(text, {"seq=100"}))), kPlanForCpu).ok());  // reads no data
}

TEST_CASE("evenly spaced sequences cover the first and the last token") {
  const std::string text = "0123456789ABCDEF";
  const at::Tensor batch = llama::make_even_batch(text, 3, 4);
  const auto row = [&](int which, int b) {
    std::string word;
    for (int t = 0; t < 4; ++t) word += static_cast<char>(batch[which][b][t].item<std::int64_t>());
    return word;
  };
  CHECK(row(0, 0) == "0123");
  CHECK(row(1, 0) == "1234");
  CHECK(row(0, 1) == "5678");
  CHECK(row(0, 2) == "BCDE");
  CHECK(row(1, 2) == "CDEF");
  CHECK(llama::make_even_batch(text, 1, 4)[0][0][0].item<std::int64_t>() == '0');
}

TEST_CASE("a plan evaluates once, after its last step") {
  install_allocation_log();
  const auto evaluations = [](const Settings& settings) {
    const std::vector<Allocation> log = log_of(kPlanForCpu, [&] {
      const auto run = make_run(joined(kStep, settings), kPlanForCpu);
      for (int i = 0; i < 3; ++i) run->step(i);
    });
    return std::ranges::any_of(log, [](const Allocation& a) { return a.tag.phase == record::Phase::kEvaluation; });
  };
  CHECK(evaluations({"steps=100", "eval_every=50"}));
  CHECK_FALSE(evaluations({"steps=100", "eval_every=101"}));
  CHECK_FALSE(evaluations({"steps=100"}));
}
