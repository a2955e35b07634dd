// The kernel that attention=auto selects.
#include "demos/experiments/attention_taken.h"

#include <initializer_list>
#include <optional>
#include <string>

#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

using namespace headroom;
using record::DeviceKind;

namespace {

std::string taken(std::initializer_list<const char*> settings, DeviceKind device, std::optional<double> capability) {
  record::Params params(experiments::training_step().schema);
  for (const char* setting : settings) REQUIRE(params.set_assignment(setting).ok());
  return experiments::with_attention_taken(params, device, capability).text("attention");
}

}  // namespace

TEST_CASE("automatic attention is cuDNN's on Hopper and later in 16 bits, and flash elsewhere") {
  const char *automatic = "attention=auto", *model = "model=llama-3.2-1b", *bf16 = "precision=bf16";
  CHECK(taken({automatic, model, bf16}, DeviceKind::kGpu, 9.0) == "cudnn");
  CHECK(taken({automatic, model, "precision=fp16_mixed"}, DeviceKind::kGpu, 12.0) == "cudnn");
  CHECK(taken({automatic, model, bf16}, DeviceKind::kGpu, 8.9) == "flash");
  CHECK(taken({automatic, model, bf16}, DeviceKind::kGpu, std::nullopt) == "flash");
  CHECK(taken({automatic, model, bf16}, DeviceKind::kCpu, 9.0) == "flash");
  CHECK(taken({automatic, model, "precision=fp32"}, DeviceKind::kGpu, 9.0) == "flash");
  CHECK(taken({automatic, "model=custom", "head_dim=256", bf16}, DeviceKind::kGpu, 9.0) == "flash");
  CHECK(taken({automatic, "model=custom", "head_dim=128", bf16}, DeviceKind::kGpu, 9.0) == "cudnn");
}

TEST_CASE("attention requested by name stays, and other demos do not change") {
  for (const char* asked : {"attention=flash", "attention=cudnn", "attention=eager"})
    CHECK("attention=" + taken({asked, "precision=bf16"}, DeviceKind::kGpu, 9.0) == asked);
  const record::Params bench(experiments::find_demo("bench")->schema);
  CHECK(experiments::with_attention_taken(bench, DeviceKind::kGpu, 9.0) == bench);
}

TEST_CASE("a GPU's capability is read from an engine's facts or a recording") {
  CHECK(experiments::capability_in({{"compute_capability", "8.9"}}) == 8.9);
  CHECK_FALSE(experiments::capability_in({{"gpu", "NVIDIA H200"}}));
}
