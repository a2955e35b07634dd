// Bytes and formats by place: the table of Accelerate's guide, ZeRO's shares, and what offload moves.
#include "demos/configs/formats.h"

#include "demos/predict/forms/rank_traffic.h"
#include "tests/configs/support.h"

using namespace headroom;
using namespace headroom::tests;
using configs::Format;
using configs::Loading;

namespace {

constexpr std::int64_t kBillion = 1'000'000'000;

const std::string kDeepSpeed = R"({"bf16": {"enabled": true}, "zero_optimization": {"stage": 3}})";
std::string fsdp(const char* precision) {
  return std::string("distributed_type: FSDP\nmixed_precision: ") + precision + "\n";
}

// "bf16 fp32 bf16 fp32: 2 + 2 + 4 + 8"
std::string row_of(const configs::Config& config, const Loading& loading = {}) {
  const configs::Places places = configs::places_of(config, loading);
  const predict::StaticMemory each = configs::bytes_per_parameter(config, loading);
  std::string row;
  for (const Format format : {places.loaded, places.prepared, places.trained, places.optimizer})
    row += std::string(configs::label_of(format)) + " ";
  return row + std::to_string(each.weights) + " + " + std::to_string(each.gradients) + " + " +
         std::to_string(each.master) + " + " + std::to_string(each.moments);
}

configs::Held held(const configs::Config& config, std::int64_t ranks) {
  auto result = configs::held_by_rank(config, {}, kBillion, ranks);
  if (!result) FAIL(result.error().message);
  return std::move(result).value();
}

}  // namespace

TEST_CASE("the formats by place are those of Accelerate's guide") {
  CHECK(row_of(config_of(fsdp("'no'"), "a.yaml")) == "bf16 bf16 bf16 bf16 2 + 2 + 0 + 4");
  CHECK(row_of(config_of(fsdp("bf16"), "a.yaml")) == "bf16 fp32 bf16 fp32 4 + 4 + 0 + 8");
  CHECK(row_of(config_of(kDeepSpeed)) == "bf16 fp32 bf16 fp32 2 + 2 + 4 + 8");
}

TEST_CASE("before Accelerate 0.30 FSDP's weights stay as loaded, and DeepSpeed's do not") {
  const Loading older{.format = Format::kBf16, .upcasts = false};
  CHECK(row_of(config_of(fsdp("bf16"), "a.yaml"), older) == "bf16 bf16 bf16 bf16 2 + 2 + 0 + 4");
  CHECK(row_of(config_of(kDeepSpeed), older) == "bf16 fp32 bf16 fp32 2 + 2 + 4 + 8");
  const Loading fp32{.format = Format::kFp32, .upcasts = false};
  CHECK(row_of(config_of(fsdp("bf16"), "a.yaml"), fp32) == "fp32 fp32 bf16 fp32 4 + 4 + 0 + 8");
  CHECK(row_of(config_of(fsdp("'no'"), "a.yaml"), fp32) == "fp32 fp32 fp32 fp32 4 + 4 + 0 + 8");
}

TEST_CASE("ZeRO keeps an fp32 clone also of fp32 weights, and other formats of gradients and masters add or save") {
  CHECK(row_of(config_of(R"({"zero_optimization": {"stage": 1}})")) == "bf16 fp32 fp32 fp32 4 + 4 + 4 + 8");
  CHECK(row_of(config_of(R"({"gradient_clipping": 1})")) == "bf16 fp32 fp32 fp32 4 + 4 + 0 + 8");
  CHECK(row_of(config_of(R"({"bf16": {"enabled": true}, "data_types": {"grad_accum_dtype": "fp32"}})")) ==
        "bf16 fp32 bf16 fp32 2 + 4 + 4 + 8");
  CHECK(row_of(config_of(R"({"fp16": {"enabled": true, "fp16_master_weights_and_grads": true}})")) ==
        "bf16 fp16 fp16 fp16 2 + 2 + 2 + 4");
}

TEST_CASE("a rank holds ZeRO's share, and sends what the closed form says") {
  const configs::Config three = config_of(kDeepSpeed);
  CHECK(held(three, 4).device.sum() == 4 * kBillion);
  CHECK(held(three, 4).sent == 3 * 2 * kBillion * 3 / 4);
  CHECK(held(three, 1).sent == 0);
  // FSDP gathers and sums in 16 bits, though its shards are fp32.
  CHECK(held(config_of(fsdp("bf16"), "a.yaml"), 4).sent == held(three, 4).sent);
  CHECK(held(config_of(fsdp("bf16"), "a.yaml"), 4).device.sum() == 4 * kBillion);
}

TEST_CASE("offload moves gradients and optimizer state to the host, and parameters only on request") {
  const auto offloaded = [](const char* more) {
    return config_of(std::string(R"({"fp16": {"enabled": true}, "zero_optimization": {"stage": 3, )"
                                 R"("offload_optimizer": {"device": "cpu"})") +
                     more + "}}");
  };
  const configs::Held printed = held(offloaded(""), 1);
  CHECK(printed.device.sum() == 2 * kBillion);
  CHECK(printed.device.weights == 2 * kBillion);
  CHECK(printed.elsewhere.sum() == 14 * kBillion);
  CHECK(printed.to_host == 2 * kBillion);
  CHECK(printed.from_host == 2 * kBillion);
  const configs::Held whole = held(offloaded(R"(, "offload_param": {"device": "cpu"})"), 1);
  CHECK(whole.device.sum() == 0);
  CHECK(whole.elsewhere.sum() == 16 * kBillion);
  CHECK(whole.from_host == 4 * kBillion);
}

TEST_CASE("a group that does not divide the GPUs is refused") {
  const configs::Config groups = config_of(R"({"zero_optimization": {"stage": 3, "mics_shard_size": 3}})");
  const auto refused = configs::held_by_rank(groups, {}, kBillion, 4);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.starts_with("zero_group=3 does not divide ranks=4"));
}
