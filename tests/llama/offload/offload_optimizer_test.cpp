// The host's AdamW alone: overflowing gradients, and a failing file.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <unistd.h>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/offload.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/llama/config.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("a loss scale is removed from the gradients, and an overflowing layer does not change") {
  const llama::Config config{.id = "custom",
                             .hidden_size = 32,
                             .intermediate_size = 48,
                             .num_layers = 2,
                             .num_heads = 2,
                             .num_kv_heads = 2,
                             .head_dim = 16,
                             .vocab_size = 300};
  llama::TrainOptions step;
  llama::Offload offload({.optimizer = true}, at::kCPU, 0);
  llama::Model model = llama::make_model(config, {}, {.type = at::kHalf}, 16, 3);
  const at::Tensor scale = at::full({}, 8.0F);
  auto made = offload.make_optimizer(llama::parameters(model),
                                     {.loss_scale = scale, .first_loss_scale = 8, .scale_window = 2}, step);
  auto& optimizer = dynamic_cast<llama::HostAdamW&>(*made);
  const auto with_gradient = [&](double of_layer_0, double of_others) {
    const std::vector<llama::Parameter>& all = optimizer.parameters();
    std::vector<at::Tensor> before;
    for (const llama::Parameter& parameter : all) {
      before.push_back(parameter.tensor.detach().clone());
      at::Tensor weight = parameter.tensor;
      weight.mutable_grad() = at::full_like(weight.detach(), parameter.layer == 0 ? of_layer_0 : of_others);
    }
    for (const std::int64_t layer : {1, 0, -1}) optimizer.gradients_ready(layer);
    optimizer.step();
    std::vector<bool> moved;
    for (std::size_t i = 0; i < all.size(); ++i) moved.push_back(!at::equal(before[i], all[i].tensor.detach()));
    return moved;
  };
  const std::vector<bool> fine = with_gradient(8, 8);
  CHECK(std::find(fine.begin(), fine.end(), false) == fine.end());
  CHECK(optimizer.overflowed_groups() == 0);
  const std::vector<bool> overflow = with_gradient(INFINITY, 8);
  for (std::size_t i = 0; i < overflow.size(); ++i) {
    CAPTURE(optimizer.parameters()[i].name);
    CHECK(overflow[i] == (optimizer.parameters()[i].layer != 0));
  }
  CHECK(optimizer.overflowed_groups() == 1);
  CHECK(optimizer.loss_scale() == 4);
  CHECK(scale.item<double>() == 4);
  with_gradient(4, 4);
  with_gradient(NAN, 4);
  CHECK(optimizer.loss_scale() == 2);
  with_gradient(4, 4);
  with_gradient(4, 4);
  CHECK(optimizer.loss_scale() == 4);  // doubled by two steps without overflow
}

TEST_CASE("overflowed steps do not count in the next step's bias corrections") {
  const auto after = [](int overflows) {
    llama::TrainOptions step;
    llama::Offload offload({.optimizer = true}, at::kCPU, 0);
    const at::Tensor weight = at::ones({1000}, at::kHalf).requires_grad_(true), scale = at::full({}, 64.0F);
    const auto optimizer =
        offload.make_optimizer({{.name = "w", .tensor = weight}}, {.loss_scale = scale, .first_loss_scale = 64}, step);
    at::Tensor alias = weight;
    for (int i = 0; i <= overflows; ++i) {
      alias.mutable_grad() = at::full({1000}, i < overflows ? INFINITY : scale.item<double>(), at::kHalf);
      optimizer->step();
    }
    return weight.detach().to(at::kFloat);
  };
  const at::Tensor first = after(0);
  CHECK((1 - first).max().item<double>() == Approx(1e-3).epsilon(0.03));  // the first update equals the learning rate
  CHECK(at::equal(after(3), first));
}

TEST_CASE("weights do not change any more once the state's file has failed") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("headroom-failing-" + std::to_string(getpid()));
  llama::TrainOptions step;
  llama::Offload offload({.optimizer = true}, at::kCPU, 0);
  constexpr std::int64_t kSize = 4096;
  const auto weight = [] { return at::ones({kSize}).requires_grad_(true); };
  const std::vector<at::Tensor> weights{weight(), weight()};
  const auto optimizer = offload.make_optimizer(
      {{.name = "first", .tensor = weights[0], .layer = 0}, {.name = "second", .tensor = weights[1], .layer = 1}},
      {.in_file = true, .file = file}, step);
  auto& hooks = dynamic_cast<llama::HostAdamW&>(*optimizer);
  const auto backward = [&](std::uint16_t layer) {
    at::Tensor alias = weights[layer];
    alias.mutable_grad() = at::ones({kSize});
    hooks.gradients_ready(layer);
  };
  for (const std::uint16_t layer : {1, 0}) backward(layer);
  optimizer->step();
  const at::Tensor before = weights[0].detach().clone();
  // Truncates the second weight's moments by descriptor, since the file has no name.
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (target.starts_with(file.string())) std::filesystem::resize_file(entry.path(), 2 * 4 * kSize);
  }
  backward(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until the worker has failed
  backward(0);
  CHECK_THROWS_WITH(optimizer->step(), ContainsSubstring("could not be read") && ContainsSubstring("it ends early"));
  CHECK(at::equal(weights[0].detach(), before));
}

TEST_CASE("one infinity anywhere among millions of gradients is found") {
  constexpr std::int64_t kSize = (3 << 20) + 5;  // searched by several threads
  const std::int64_t where = GENERATE(std::int64_t{0}, std::int64_t{1} << 20, kSize / 2, kSize - 1, std::int64_t{-1});
  CAPTURE(where);
  llama::TrainOptions step;
  llama::Offload offload({.optimizer = true}, at::kCPU, 0);
  const at::Tensor weight = at::ones({kSize}, at::kHalf).requires_grad_(true);
  const auto optimizer = offload.make_optimizer({{.name = "w", .tensor = weight}},
                                                {.loss_scale = at::full({}, 8.0F), .first_loss_scale = 8}, step);
  at::Tensor gradient = at::full({kSize}, 60000, at::kHalf);
  if (where >= 0) gradient[where] = -INFINITY;
  at::Tensor alias = weight;
  alias.mutable_grad() = gradient;
  optimizer->step();
  CHECK(dynamic_cast<llama::HostAdamW&>(*optimizer).overflowed_groups() == (where >= 0 ? 1 : 0));
}
