// A target outside the vocabulary, seen only by the device, fails when the loss is read.
#include <string>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "demos/engine/llama/model/model.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/llama/config.h"
#include "tests/support/catch.h"

TEST_CASE("a label on the device that is outside the vocabulary fails with its row when the loss is read") {
  using namespace headroom;
  const bool flce = GENERATE(false, true);
  CAPTURE(flce);
  const llama::Config* const tiny = llama::find_config("tiny");
  REQUIRE(tiny != nullptr);
  const at::Device gpu(at::kCUDA, 0);
  const llama::ModelPlace placement{.device = gpu, .target = record::DeviceKind::kGpu, .type = at::kBFloat16};
  const llama::Model model = llama::make_model(*tiny, {.cross_entropy = true}, placement, 16, 0, nullptr);
  const auto ids = at::TensorOptions().device(gpu).dtype(at::kLong);
  llama::TrainOptions options;
  options.loss.path = flce ? llama::LossPath::kFlce : llama::LossPath::kPlain;
  options.loss.error_flag = at::zeros({1}, ids);
  const at::Tensor ids_BT = at::ones({2, 16}, ids), targets_BT = at::ones({2, 16}, ids);
  const auto read = [&] {
    const at::Tensor loss = llama::forward_backward(model, ids_BT, targets_BT, options);
    return llama::read_loss(loss, options.loss.error_flag, targets_BT, tiny->vocab_size);
  };
  CHECK(read() > 0);
  targets_BT[1][3] = tiny->vocab_size;
  std::string said;
  try {
    read();
  } catch (const c10::Error& error) {
    said = error.what_without_backtrace();
  }
  CHECK(said == "The loss of this step is wrong: target " + std::to_string(tiny->vocab_size) +
                    " in row 19 is outside the vocabulary of " + std::to_string(tiny->vocab_size) + ".");
}
