// A decoder block on a GPU, compared with the same block on the CPU.
#include "demos/engine/experiments/decoder_block.h"
#include "demos/engine/llama/model/backward.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/block_model.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;

double distance(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor wide = expected.to(at::kDouble);
  return ((got.cpu().to(at::kDouble) - wide).abs().max() / wide.abs().max()).item<double>();
}

llama::Architecture shape_of(const std::vector<std::string>& changes) {
  record::Params params(experiments::find_demo("block")->schema);
  for (const char* each : {"hidden_size=256", "seq=64", "dropout=off"}) REQUIRE(params.set_assignment(each).ok());
  for (const std::string& each : changes) REQUIRE(params.set_assignment(each).ok());
  return experiments::block_model(params).value();
}

}  // namespace

TEST_CASE("a block on a GPU has the CPU's result and gradients") {
  const auto changes = GENERATE(
      std::vector<std::string>{},
      std::vector<std::string>{"positions=rope", "norm=rms_norm", "mlp=swiglu", "num_kv_heads=2", "biases=off"});
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16);
  const double error = type == at::kFloat ? 1e-4 : 3e-2;
  CAPTURE(changes, type);
  const llama::Architecture shape = shape_of(changes);
  const experiments::DecoderBlock on_cpu = experiments::make_block(shape, {}, /*seed=*/5);
  const experiments::DecoderBlock on_gpu = experiments::make_block(
      shape, {.device = at::kCUDA, .target = record::DeviceKind::kGpu, .type = type}, /*seed=*/5);
  const std::vector<at::Tensor> expected = experiments::parameters(on_cpu), got = experiments::parameters(on_gpu);
  {
    const at::AutoGradMode grad_mode(false);
    for (std::size_t i = 0; i < got.size(); ++i) at::Tensor(got[i]).copy_(expected[i]);
  }
  const at::Tensor x = at::randn({2, 64, 256}), dy = at::randn({2, 64, 256});
  const auto there = [&](const at::Tensor& tensor) { return tensor.to(at::kCUDA, type); };
  const at::Tensor y = experiments::block_forward(on_cpu, x), y_there = experiments::block_forward(on_gpu, there(x));
  CHECK(distance(y_there, y.detach()) < error);
  llama::run_backward(y, dy);
  llama::run_backward(y_there, there(dy));
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (expected[i].grad().abs().max().item<double>() < 1e-4) continue;  // a key bias's gradient is rounding error
    CHECK(distance(got[i].grad(), expected[i].grad()) < error);
  }
}
