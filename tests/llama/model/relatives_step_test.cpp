// Runs from a relative's config.json alone, planned to the byte.
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/experiments/info/train_step_model.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/optimizers.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/model/relatives.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using record::Bytes;
using record::Category;

class ConfigFile {
 public:
  explicit ConfigFile(const llama::Config& config) { write_config(folder_.path(), config); }
  std::string path() const { return (folder_.path() / "config.json").string(); }
  Settings run(const Settings& settings) const {
    return joined({"model=custom", "batch=2", "seq=24", "weights=" + path()}, settings);
  }

 private:
  TemporaryFolder folder_;
};

std::map<std::string, Bytes> before_optimizer(const std::vector<Allocation>& log, Category category) {
  std::map<std::int64_t, Allocation> alive;
  for (const Allocation& a : log) {
    if (a.tag.phase == record::Phase::kOptimizer) break;
    if (a.kind == Allocation::Kind::kAlloc) alive[a.storage] = a;
    if (a.kind == Allocation::Kind::kFree) alive.erase(a.storage);
    if (a.kind == Allocation::Kind::kRelabel && alive.contains(a.storage))
      alive[a.storage].tag.category = a.tag.category;
  }
  std::map<std::string, Bytes> sums;
  for (const auto& [storage, a] : alive)
    if (a.tag.category == category) sums[std::string(record::operator_name(a.tag.op))] += a.bytes;
  return sums;
}

}  // namespace

TEST_CASE("a config.json alone gives the shape, and the weights are random") {
  const ConfigFile file(kRelatives[2]);
  const auto chosen = experiments::train_step_model(predict::step_settings(params(file.run({}))));
  REQUIRE(chosen.ok());
  CHECK_FALSE(chosen.value().weights);
  CHECK(chosen.value().config.qk_norm);
  const auto run = make_run(file.run({}), kCpu);
  CHECK(run->num_parameters() == llama::num_parameters(kRelatives[2]));
  const std::vector<double> all = losses(*run, 8);
  CHECK(std::abs(all.front() - std::log(300.0)) < 0.3);  // untrained
  CHECK(all.back() < all.front());
  const auto refused =
      experiments::train_step_model(predict::step_settings(params({"model=llama-3.2-1b", "weights=" + file.path()})));
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, ContainsSubstring("has hidden_size 64, but model=llama-3.2-1b has 2048"));
}

TEST_CASE("a planned step of a relative has the CPU step's allocations, one by one and by name") {
  install_allocation_log();
  at::set_num_threads(1);
  const auto which = GENERATE(range(std::size_t{0}, kRelatives.size()));
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=layer", "checkpointing=selective");
  const Settings switches =
      GENERATE(Settings{}, Settings{"fused.rms_norm=on"}, Settings{"fused.rope=on"},
               Settings{"fused.rms_norm=on", "fused.rope=on", "fused.swiglu=on", "fused.embedding=on", "loss=flce"},
               Settings{"attention=eager"}, Settings{"attention=eager", "fused.rms_norm=on", "fused.rope=on"},
               Settings{"adapters=lora", "lora_rank=8"});
  CAPTURE(which, checkpointing, text_of(switches));
  const ConfigFile file(kRelatives[which]);
  const Settings settings = file.run(joined(switches, {checkpointing}));
  check_planned(settings);
  check_equal(log_of_setup(settings, kCpu), log_of_setup(settings, kPlanForCpu));
}

TEST_CASE("gradients of biases and norms have the category of gradients and their own operator") {
  install_allocation_log();
  const std::string norms = GENERATE("fused.rms_norm=off", "fused.rms_norm=on");
  CAPTURE(norms);
  const ConfigFile file(kRelatives.back());
  const auto run = make_run(file.run({norms}), kPlanForCpu);
  const auto log = log_of(kPlanForCpu, [&] { run->step(0); });
  std::map<std::string, Bytes> gradients = before_optimizer(log, Category::kGradients);
  // 3 layers in fp32: each projection's matrix and bias, and a norm of 16 numbers.
  CHECK(gradients["attention.q_proj"] == 3 * 4 * (64 * 64 + 64));
  CHECK(gradients["attention.k_proj"] == 3 * 4 * (32 * 64 + 32));
  CHECK(gradients["attention.v_proj"] == 3 * 4 * (32 * 64 + 32));
  CHECK(gradients["attention.o_proj"] == 3 * 4 * (64 * 64 + 64));
  CHECK(gradients["attention.q_norm"] == 3 * 4 * 16);
  CHECK(gradients["attention.k_norm"] == 3 * 4 * 16);
  Bytes all = 0;
  for (const auto& [op, bytes] : gradients) all += bytes;
  CHECK(all == 4 * llama::num_parameters(kRelatives.back()));
  CHECK(before_optimizer(log, Category::kActivations).empty());
  CHECK(before_optimizer(log, Category::kWorkspace).empty());
}

TEST_CASE("norms over heads keep the closed form's bytes for backward, and biases keep nothing") {
  install_allocation_log();
  const std::string norms = GENERATE("fused.rms_norm=off", "fused.rms_norm=on");
  const std::string precision = GENERATE("precision=fp32", "precision=bf16");
  CAPTURE(norms, precision);
  const auto kept_bytes = [&](const llama::Config& config) {
    const ConfigFile file(config);
    Bytes sum = 0;
    for (const Allocation& a : kept(third_step(file.run({norms, precision}), kPlanForGpu)))
      if (a.tag.category == Category::kActivations) sum += a.bytes;
    return sum;
  };
  const auto by_form = [&](const llama::Config& config) {
    predict::StepSettings step = predict::step_settings(params({"batch=2", "seq=24", norms, precision}));
    step.model = config;
    return predict::activation_bytes(step);
  };
  const llama::Config plain = relative(false, false, false);
  CHECK(kept_bytes(kRelatives[1]) == kept_bytes(plain));
  CHECK(by_form(kRelatives[1]) == by_form(plain));
  CHECK(kept_bytes(kRelatives[2]) - kept_bytes(plain) == by_form(kRelatives[2]) - by_form(plain));
  CHECK(by_form(kRelatives[2]) > by_form(plain));
}

TEST_CASE("the closed form of 8-bit moments counts biases and norms like the optimizer") {
  install_allocation_log();
  const ConfigFile file(kRelatives.back());
  const Settings settings = file.run({"optimizer=adamw_8bit"});
  predict::StepSettings step = predict::step_settings(params(settings));
  step.model = kRelatives.back();
  Bytes state = 0;
  for (const Allocation& a : log_of_setup(settings, kPlanForGpu))
    if (a.kind == Allocation::Kind::kAlloc && a.tag.category == Category::kOptimizerState) state += a.bytes;
  CHECK(state == predict::optimizer_state_bytes(step));
}

TEST_CASE("streaming the weights of a relative changes no bit") {
  const ConfigFile file(kRelatives.back());
  const Settings host = file.run({"offload.optimizer=host", "checkpointing=layer"});
  CHECK(losses(joined(host, {"offload.parameters=on"}), 5) == losses(host, 5));
}
