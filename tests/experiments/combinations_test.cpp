// Every pair of a training step's switches trains like the plain step or is refused with a reason.
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "tests/llama/step/step_positions.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using record::Params;
using tests::micro_step;
using tests::Position;
using tests::positions;
using tests::set;
using tests::set_both;

std::vector<double> two_losses(const Params& params) {
  auto run = tests::run_or_refusal(params, tests::kCpu);
  if (!run) throw std::runtime_error(run.error().message);
  return tests::losses(*run.value(), 2);
}

// Losses of the plain step in the same type, over the same number of samples and loss positions.
std::vector<double> plain_losses(const Params& params) {
  static std::map<std::string, std::vector<double>> known;
  Params plain = micro_step();
  const bool hugging_face = params.text("loss").starts_with("hf_");
  if (hugging_face) set(plain, "loss=hf_2025");
  set(plain, "batch=" + std::to_string(2 * params.integer("accumulate")));
  // Initial weights depend on the type.
  set(plain, "precision=" + params.as_text("precision"));
  set(plain, "eval_every=" + params.as_text("eval_every"));  // held-out text is not trained on
  const std::string key =
      plain.as_text("loss") + plain.as_text("batch") + plain.as_text("precision") + " " + plain.as_text("eval_every");
  if (!known.contains(key)) known[key] = two_losses(plain);
  return known[key];
}

// Largest accepted relative differences of the first two losses from the plain step's. In fp32 only the order of sums
// differs, with ten times the effect after an AdamW step.
std::array<double, 2> tolerance(const Params& params) {
  const bool rounds = params.text("precision") != "fp32";
  const bool quantises = params.text("adapters") == "qlora";
  const bool steps_otherwise = params.text("optimizer") != "adamw" || params.text("adapters") != "off" ||
                               params.text("moments") == "bf16" || !params.on("fused.adamw");
  const bool tf32 = params.text("gemm") == "tf32";
  return {quantises ? 2e-2 : rounds ? 5e-3 : tf32 ? 1e-5 : 1e-6, quantises || rounds || steps_otherwise ? 3e-2 : 1e-5};
}

void run_for_two_steps(const Params& params) {
  try {
    const std::vector<double> plain = plain_losses(params), ours = two_losses(params);
    const std::array<double, 2> most = tolerance(params);
    for (std::size_t i = 0; i < 2; ++i) {
      CAPTURE(i, ours[i], plain[i]);
      CHECK(std::abs(ours[i] - plain[i]) < most[i] * plain[i]);
    }
  } catch (const std::exception& error) {
    FAIL_CHECK(error.what());
  }
}

bool takes_a_gpu(Params params) {
  set(params, "device=cpu");
  return experiments::refused_combination(params).has_value();
}

void plan_for_five_steps(const Params& params) {
  try {
    const auto run = tests::make_run(params, tests::kPlanForGpu);
    for (int i = 0; i < 5; ++i) run->step(i);
  } catch (const std::exception& error) {
    FAIL_CHECK(error.what());
  }
}

}  // namespace

TEST_CASE("every pair of switches has the plain step's losses, or is refused with a reason") {
  at::set_num_threads(1);
  const std::vector<Position> all = positions();
  REQUIRE(all.size() > 40);
  int ran = 0, refused = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = i; j < all.size(); ++j) {  // j = i: one switch alone
      Params params = micro_step();
      if (!set_both(params, all[i], all[j])) continue;
      const std::string pair = all[i].text() + " " + all[j].text();
      CAPTURE(pair);
      if (const auto reason = experiments::refused_combination(params)) {
        CHECK(reason->size() > 40);
        CHECK(i != j);
        ++refused;
      } else if (takes_a_gpu(params)) {
        plan_for_five_steps(params);
        ++ran;
      } else {
        run_for_two_steps(params);
        ++ran;
      }
    }
  }
  std::cout << ran << " pairs ran, " << refused << " were refused\n";
  CHECK(ran > 500);
  CHECK(refused > 20);
}

TEST_CASE("a refusal names both settings and says why") {
  Params params = micro_step();
  CHECK_FALSE(experiments::refused_combination(params));
  set(params, "offload.checkpoints=on");
  CHECK(experiments::refused_combination(params).value_or("") ==
        "offload.checkpoints=on cannot be combined with checkpointing=off: there are no checkpoints to move.");
  set(params, "checkpointing=layer");
  CHECK_FALSE(experiments::refused_combination(params));
}

TEST_CASE("the table names existing settings and values") {
  const Params params = micro_step();
  for (const experiments::Conflict& conflict : experiments::train_step_conflicts()) {
    for (const auto& [key, values] :
         {std::pair(conflict.key, conflict.value), {conflict.other, conflict.other_value}}) {
      CAPTURE(key, values);
      REQUIRE(params.has(key));
      for (std::string_view rest = values.substr(values.starts_with('!') ? 1 : 0); !rest.empty();) {
        const std::string_view value = rest.substr(0, rest.find('|'));
        Params tried = params;
        CHECK(tried.set(key, value).ok());
        rest.remove_prefix(std::min(rest.size(), value.size() + 1));
      }
    }
    CHECK_FALSE(conflict.reason.empty());
    CHECK_FALSE(conflict.reason.ends_with('.'));
  }
}

TEST_CASE("a setting that needs a GPU is refused on the CPU with its reason") {
  const auto [setting, reason] =
      GENERATE(std::pair("cuda_graph=on",
                         "cuda_graph=on cannot be combined with device=cpu: only a GPU has CUDA "
                         "graphs."),
               std::pair("attention=cudnn",
                         "attention=cudnn cannot be combined with device=cpu: cuDNN runs on GPUs "
                         "only."));
  Params params = micro_step();
  set(params, setting);
  const auto run = tests::run_or_refusal(params, tests::kCpu);
  REQUIRE_FALSE(run.ok());
  CHECK(run.error().kind == record::ErrorKind::kRefused);
  CHECK(run.error().message == reason);
}
