// The CPU's AdamW on flat states: results, range, and equal bits for any number of threads.
#include <vector>

#include "demos/engine/llama/optimizers/cpu_adamw.h"
#include "kernels/adamw/adamw_ops.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

// 27 chunks of converted gradients and a rest: 16 threads have work, and the last chunk ends within a vector.
constexpr std::int64_t kNumbers = (std::int64_t{1} << 20) + 77'777;

struct States {
  at::ScalarType state, gradient;
};

llama::CpuAdamWState states(States of) {
  at::manual_seed(3);
  const auto random = [&](double scale) { return (at::randn({kNumbers}) * scale).to(of.state); };
  llama::CpuAdamWState made{.master = random(0.02),
                            .first_moment = random(1e-3),
                            .second_moment = random(1e-3).square(),
                            .gradient = random(1e-3 * 64).to(of.gradient),
                            .working = {}};
  made.working = of.state == of.gradient ? made.master : made.master.to(of.gradient);
  return made;
}

std::int64_t to_widen(States of) { return of.state == of.gradient ? 0 : kNumbers; }

std::vector<at::Tensor> parts_of(const llama::CpuAdamWState& state) {
  return {state.master, state.first_moment, state.second_moment, state.working};
}

}  // namespace

TEST_CASE("the CPU's AdamW steps exactly its range, by the formula") {
  const States of =
      GENERATE(States{at::kFloat, at::kBFloat16}, States{at::kFloat, at::kHalf}, States{at::kFloat, at::kFloat});
  const llama::AdamWOptions options{.learning_rate = 1e-3, .weight_decay = 0.1};
  llama::HostArena arena(at::kCPU);
  llama::CpuAdamW adamw(options, of.state, to_widen(of), arena);
  const llama::CpuAdamWState before = states(of), after = states(of);
  constexpr std::int64_t kBegin = 1001, kEnd = kNumbers - 333;
  llama::StepThreads threads(3);
  bool done = false;
  adamw.step(after, kBegin, kEnd - kBegin, {.t = 3, .loss_scale = 64}, threads, [&done] { done = true; });
  threads.wait();
  CHECK(done);
  const kernels::AdamWReference exact = kernels::adamw_reference(
      before.master, before.gradient.to(at::kDouble) / 64, before.first_moment, before.second_moment,
      options.learning_rate, options.beta1, options.beta2, options.epsilon, options.weight_decay, 3);
  const auto inside = [&](const at::Tensor& whole) { return whole.slice(0, kBegin, kEnd).to(at::kDouble); };
  CHECK(at::allclose(inside(after.master), inside(exact.param), 1e-5, 1e-7));
  CHECK(at::allclose(inside(after.first_moment), inside(exact.first_moment), 1e-5, 1e-9));
  CHECK(at::allclose(inside(after.second_moment), inside(exact.second_moment), 1e-5, 1e-12));
  CHECK(at::equal(inside(after.working), inside(after.master.to(of.gradient))));
  CHECK_FALSE(at::equal(inside(after.master), inside(before.master)));
  for (std::size_t i = 0; i < parts_of(before).size(); ++i) {
    const at::Tensor was = parts_of(before)[i], is = parts_of(after)[i];
    CHECK(at::equal(was.slice(0, 0, kBegin), is.slice(0, 0, kBegin)));
    CHECK(at::equal(was.slice(0, kEnd), is.slice(0, kEnd)));
  }
}

TEST_CASE("threads do not change the bits of the CPU's AdamW") {
  const States of =
      GENERATE(States{at::kFloat, at::kBFloat16}, States{at::kFloat, at::kFloat}, States{at::kBFloat16, at::kBFloat16});
  const auto stepped = [&](int count) {
    llama::HostArena arena(at::kCPU);
    llama::CpuAdamW adamw({}, of.state, to_widen(of), arena);
    const llama::CpuAdamWState state = states(of);
    llama::StepThreads threads(count);
    for (const std::int64_t t : {1, 2}) {
      adamw.step(state, 0, kNumbers, {.t = t}, threads);
      threads.wait();
    }
    return parts_of(state);
  };
  const std::vector<at::Tensor> alone = stepped(1);
  for (const int threads : {2, 3, 16, 40}) {
    const std::vector<at::Tensor> together = stepped(threads);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      CAPTURE(threads, i);
      CHECK(at::equal(alone[i], together[i]));
    }
  }
}
