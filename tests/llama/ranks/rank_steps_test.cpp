// Steps of several ranks, for every scheme: losses equal those of one rank and are as near to float64, and allocations
// equal the plan.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/engine/llama/step/data.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/tokens/token_data.h"
#include "tests/llama/model/float64_model.h"
#include "tests/llama/ranks/rank_children.h"
#include "tests/llama/ranks/rank_schemes.h"

using namespace headroom;
using tests::Settings;

namespace {

constexpr int kSteps = 5, kMoreSteps = 20;

std::string results_of(const tests::RankChildren& children, const std::string& what, std::size_t run, int rank) {
  return tests::text_of(children.file(what + std::to_string(run) + "." + std::to_string(rank)));
}

const std::filesystem::path kText = HEADROOM_SOURCE_DIR "/tests/llama/reference/make_reference.py";

std::unique_ptr<experiments::TrainStepRun> make_rank(const Settings& settings, const protocol::RankPlace& place) {
  auto run = experiments::TrainStepRun::create(tests::params(settings),
                                               {.place = tests::kCpu, .course_text = kText, .rank = place});
  if (!run) FAIL(run.error().message);
  return std::move(run).value();
}

std::string lines_of(const std::vector<tests::Allocation>& log) {
  std::string all;
  for (const tests::Allocation& each : log) all += to_string(each) + "\n";
  return all;
}

// The first line that differs; empty: none.
std::string difference(const std::string& real, const std::string& planned) {
  std::istringstream a(real), b(planned);
  std::string in_a, in_b;
  for (int line = 1;; ++line) {
    const bool more_a = static_cast<bool>(std::getline(a, in_a)), more_b = static_cast<bool>(std::getline(b, in_b));
    if (!more_a && !more_b) return {};
    if (in_a != in_b || more_a != more_b)
      return "line " + std::to_string(line) + ": '" + (more_a ? in_a : "") + "' instead of '" + (more_b ? in_b : "") +
             "'";
  }
}

// The settings of one rank that takes all samples.
Settings alone(Settings settings, int ranks) {
  return tests::joined(std::move(settings),
                       {"ranks=1", "zero=off", "zero_group=0", "prefetch=1", "batch=" + std::to_string(2 * ranks)});
}

// AdamW by its formula, with moments of its own. Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2.
class Float64AdamW {
 public:
  explicit Float64AdamW(const predict::OptimizerSettings& settings) : s_(settings) {}

  void step(const std::map<std::string, at::Tensor>& weights) {
    const at::AutoGradMode grad_mode(false);
    ++t_;
    for (const auto& [name, weight] : weights) {
      const auto [moments, is_new] = moments_.try_emplace(name, at::zeros_like(weight), at::zeros_like(weight));
      auto& [m, v] = moments->second;
      m.mul_(s_.beta1).add_(weight.grad(), 1 - s_.beta1);
      v.mul_(s_.beta2).addcmul_(weight.grad(), weight.grad(), 1 - s_.beta2);
      if (weight.dim() > 1) weight.mul_(1 - s_.learning_rate * s_.weight_decay);
      const at::Tensor root = (v / (1 - std::pow(s_.beta2, t_))).sqrt_().add_(s_.epsilon);
      weight.addcdiv_(m / (1 - std::pow(s_.beta1, t_)), root, -s_.learning_rate);
    }
  }

 private:
  predict::OptimizerSettings s_;
  int t_ = 0;
  std::map<std::string, std::pair<at::Tensor, at::Tensor>> moments_;
};

// The losses of the same steps in float64, from the same fp32 weights.
std::vector<double> losses_in_float64(const Settings& settings, int steps) {
  const auto request = experiments::TrainStepRequest::read(tests::params(settings));
  REQUIRE(request.ok());
  const predict::StepSettings& step = request.value()->settings();
  const auto text = tokens::TokenData::read(experiments::data_source(step, kText), nullptr);
  REQUIRE(text.ok());
  tests::Float64Model model(llama::make_model(step.model, {}, {}, step.sequence, step.seed));
  Float64AdamW optimizer(step.optimizer);
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    losses.push_back(model.backward(llama::make_batch(text.value().view(), step.batch, step.sequence, step.seed, i)));
    optimizer.step(model.weights());
  }
  return losses;
}

// The greatest distance of a loss from float64, relative.
double distance(const std::vector<double>& losses, const std::vector<double>& in_float64) {
  double greatest = 0;
  for (std::size_t i = 0; i < in_float64.size(); ++i)
    greatest = std::max(greatest, std::abs(losses.at(i) / in_float64[i] - 1));
  return greatest;
}

}  // namespace

TEST_CASE("child: every scheme", "[.]") {
  at::set_num_threads(1);             // OpenMP's threads allocate in any order
  tests::log_of(tests::kCpu, [] {});  // from here on frees are logged
  const protocol::RankPlace place = tests::place_of_child();
  const std::string end = "." + std::to_string(place.rank);
  const std::vector<Settings> all = tests::rank_settings(place.ranks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    const auto run = make_rank(all[i], place);
    std::ofstream losses(place.store + "/losses" + std::to_string(i) + end);
    losses.precision(17);
    std::vector<tests::Allocation> third;
    for (int step = 0; step < kSteps; ++step) {
      if (step == 2)
        third = tests::log_of(tests::kCpu, [&] { run->step(step); });
      else
        run->step(step);
      losses << run->loss() << " ";
    }
    std::ofstream(place.store + "/log" + std::to_string(i) + end) << lines_of(third);
  }
}

namespace {

void check_ranks(int ranks, std::size_t least) {
  at::set_num_threads(1);
  tests::log_of(tests::kPlanForCpu, [] {});
  tests::RankChildren children("child: every scheme", ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    REQUIRE(well);
  }
  const std::vector<Settings> all = tests::rank_settings(ranks);
  REQUIRE(all.size() > least);
  std::map<std::map<std::string, std::string>, std::vector<double>> expected_of;  // schemes share it
  for (std::size_t i = 0; i < all.size(); ++i) {
    INFO(tests::text_of(all[i]));
    const Settings one_rank = alone(all[i], ranks);
    const auto [found, is_new] = expected_of.try_emplace(tests::params(one_rank).to_map());
    if (is_new) found->second = tests::losses(one_rank, kSteps);
    const std::vector<double>& expected = found->second;
    const std::string planned = lines_of(tests::third_step(all[i], tests::kPlanForCpu));
    for (int rank = 0; rank < ranks; ++rank) {
      CAPTURE(rank);
      std::istringstream losses(results_of(children, "losses", i, rank));
      for (const double each : expected) {
        double loss = 0;
        losses >> loss;
        CHECK(std::abs(loss / each - 1) <= tests::tolerance(all[i]));
      }
      CHECK(difference(results_of(children, "log", i, rank), planned) == "");
    }
  }
}

}  // namespace

TEST_CASE("two ranks of every scheme train like one and allocate as planned") { check_ranks(2, 100); }

TEST_CASE("groups of ranks that share one copy of the states train like one") { check_ranks(4, 10); }

TEST_CASE("child: twenty steps", "[.]") {
  at::set_num_threads(1);
  const protocol::RankPlace place = tests::place_of_child();
  const std::vector<Settings> all = tests::pairs_of(place.ranks, tests::kSchemes, {{}});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto run = make_rank(all[i], place);
    std::ofstream losses(place.store + "/losses" + std::to_string(i) + "." + std::to_string(place.rank));
    losses.precision(17);
    for (const double each : tests::losses(*run, kMoreSteps)) losses << each << " ";
  }
}

TEST_CASE("in twenty steps two ranks in fp32 are within 1e-5 of one, and as near to float64") {
  at::set_num_threads(1);
  constexpr int kRanks = 2;
  tests::RankChildren children("child: twenty steps", kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    REQUIRE(well);
  }
  const std::vector<Settings> all = tests::pairs_of(kRanks, tests::kSchemes, {{}});
  REQUIRE(all.size() == tests::kSchemes.size());
  const Settings one_rank = alone(all.front(), kRanks);
  const std::vector<double> expected = tests::losses(one_rank, kMoreSteps);
  CHECK(expected.back() < 0.9 * expected.front());
  // The same sum of two gradients in the same order: equal to the bit.
  const std::vector<double> two_parts = tests::losses(tests::joined(one_rank, {"batch=2", "accumulate=2"}), kMoreSteps);
  const std::vector<double> in_float64 = losses_in_float64(one_rank, kMoreSteps);
  const double of_one = distance(expected, in_float64);
  CHECK(of_one > 0);
  CHECK(of_one < 1e-5);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    std::istringstream file(results_of(children, "losses", i, 0));
    const std::vector<double> losses{std::istream_iterator<double>(file), {}};
    REQUIRE(losses.size() == expected.size());
    CHECK(distance(losses, expected) <= 1e-5);
    CHECK(distance(losses, in_float64) <= 2 * of_one);
    CHECK(losses == two_parts);
  }
}
