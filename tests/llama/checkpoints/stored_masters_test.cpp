// Masters of 16-bit weights start with the checkpoint's full digits.
#include <cmath>
#include <string>
#include <vector>

#include "demos/engine/experiments/train_step_optimizer.h"
#include "demos/llama/files/hugging_face.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/step_fixture.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

const std::vector<llama::WeightShape> kWeights = llama::weight_shapes(kSmall);

at::Tensor value(std::size_t number) {
  at::manual_seed(number + 1);
  return at::randn(kWeights[number].shape) * 0.2;
}

void write(const TemporaryFolder& folder, at::ScalarType stored, at::ScalarType rounded) {
  const char* const dtype = stored == at::kFloat ? "F32" : "BF16";
  std::vector<TensorBytes> tensors;
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    const at::Tensor tensor = value(i).to(rounded).to(stored);
    tensors.push_back({kWeights[i].name,
                       dtype,
                       kWeights[i].shape,
                       {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}});
  }
  write_config(folder.path(), kSmall);
  write_bytes(folder.path() / "model.safetensors", safetensors(tensors));
}

Settings of(const TemporaryFolder& folder, const Settings& more = {}) {
  return joined({"model=custom", "batch=2", "seq=16", "weights=" + folder.path().string()}, more);
}

}  // namespace

TEST_CASE("masters equal the fp32 file bit for bit, and the weights are their rounding") {
  const TemporaryFolder folder;
  write(folder, at::kFloat, at::kFloat);
  const auto files = llama::find_weights(folder.path(), kSmall);
  REQUIRE(files.ok());
  predict::StepSettings step = predict::step_settings(params(of(folder, {"precision=bf16_mixed"})));
  step.model = kSmall;
  const llama::Model model = llama::make_model(kSmall, {}, {.type = at::kBFloat16}, /*seq=*/16, /*seed=*/0,
                                               /*cancel=*/nullptr, {.files = &files.value()});
  llama::Offload offload({}, at::kCPU, /*host_memory=*/0);
  llama::TrainOptions options;
  experiments::StepOptimizer optimizer(step, model, offload, options, &files.value());
  std::size_t masters = 0;
  for (const llama::StateTensor& state : optimizer.state())
    for (std::size_t i = 0; i < kWeights.size(); ++i)
      if (state.name == kWeights[i].name + ".master") {
        CAPTURE(state.name);
        CHECK(at::equal(state.tensor, value(i)));
        ++masters;
      }
  CHECK(masters == kWeights.size());
  for (const llama::Parameter& weight : llama::parameters(model))
    for (std::size_t i = 0; i < kWeights.size(); ++i)
      if (weight.name == kWeights[i].name) CHECK(at::equal(weight.tensor.detach(), value(i).to(at::kBFloat16)));
}

TEST_CASE("masters on the host also start with the file's values") {
  const TemporaryFolder exact, rounded;
  write(exact, at::kFloat, at::kFloat);
  write(rounded, at::kFloat, at::kBFloat16);
  constexpr int kSteps = 12;
  const Settings mixed{"precision=bf16_mixed", "learning_rate=0.003"};
  const auto distance = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (int i = 1; i < kSteps; ++i) sum += std::abs(a[static_cast<std::size_t>(i)] - b[static_cast<std::size_t>(i)]);
    return sum;
  };
  const std::vector<double> device = losses(of(exact, mixed), kSteps), coarse = losses(of(rounded, mixed), kSteps);
  REQUIRE(distance(device, coarse) > 0);
  for (const char* const place : {"offload.optimizer=host", "offload.optimizer=file"}) {
    CAPTURE(place);
    CHECK(distance(losses(of(exact, joined(mixed, {place})), kSteps), device) < 0.3 * distance(coarse, device));
  }
}

TEST_CASE("masters from a file in the weights' type are the widened weights") {
  const TemporaryFolder as_weights, wider;
  write(as_weights, at::kBFloat16, at::kBFloat16);
  write(wider, at::kFloat, at::kBFloat16);
  CHECK(losses(of(as_weights, {"precision=bf16_mixed"}), 4) == losses(of(wider, {"precision=bf16_mixed"}), 4));
}
