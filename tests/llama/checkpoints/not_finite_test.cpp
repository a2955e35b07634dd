// Refusals of non-finite stored weights, for every file, type and run.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include "demos/engine/llama/model/model.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

std::string bytes_in(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

// Replaces one number of a weight.
struct Spoiled {
  std::string weight;
  std::int64_t index = 0;
  float value = 0;
};

std::vector<TensorBytes> spoiled_tensors(const Spoiled& spoiled, at::ScalarType type = at::kFloat) {
  const char* const dtype = type == at::kFloat ? "F32" : type == at::kHalf ? "F16" : "BF16";
  std::vector<TensorBytes> all;
  for (const llama::Parameter& p : llama::parameters(llama::make_model(kSmall, {}, {}, /*seq=*/8, /*seed=*/5))) {
    const at::Tensor values = p.tensor.detach().to(type, /*non_blocking=*/false, /*copy=*/true);
    if (p.name == spoiled.weight) values.view({-1})[spoiled.index] = spoiled.value;
    all.push_back({p.name, dtype, values.sizes().vec(), bytes_in(values)});
  }
  return all;
}

void write_folder(const std::filesystem::path& folder, const std::vector<TensorBytes>& tensors) {
  write_config(folder, kSmall);
  write_bytes(folder / "model.safetensors", safetensors(tensors));
}

std::string said_of(const std::filesystem::path& folder, const Settings& more = {}) {
  const auto run =
      run_or_refusal(params(joined({"model=custom", "batch=2", "seq=16", "weights=" + folder.string()}, more)), kCpu);
  if (run) return "";
  CHECK(run.error().kind == record::ErrorKind::kBadInput);
  return run.error().message;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("a non-finite stored weight is refused with its file, tensor and place, by every reader") {
  const std::string name = "model.layers.1.mlp.up_proj.weight";  // [24, 16]
  const at::ScalarType type = GENERATE(at::kFloat, at::kHalf, at::kBFloat16);
  const std::string more = GENERATE("precision=fp32", "precision=bf16", "precision=fp16_mixed", "adapters=qlora");
  const auto [value, words] = GENERATE(std::pair(kNan, "a NaN"), std::pair(-kInfinity, "an infinity"));
  CAPTURE(type, more, words);
  const TemporaryFolder folder;
  write_folder(folder.path(), spoiled_tensors({name, 16 * 7 + 3, value}, type));
  CHECK(said_of(folder.path(), {more}) ==
        (folder.path() / "model.safetensors").string() + " has " + words + " in tensor " + name +
            " at [7, 3], so the loss would not be finite; download the file again, or use weights from before the "
            "training diverged.");
}

TEST_CASE("the shard with a non-finite number is named") {
  const TemporaryFolder folder;
  const std::vector<TensorBytes> all = spoiled_tensors({"lm_head.weight", 256 * 16 - 1, kNan});
  write_config(folder.path(), kSmall);
  nlohmann::json map;
  for (const TensorBytes& tensor : all) map[tensor.name] = &tensor - all.data() < 5 ? "a.safetensors" : "b.safetensors";
  write_bytes(folder.path() / "a.safetensors", safetensors({all.begin(), all.begin() + 5}));
  write_bytes(folder.path() / "b.safetensors", safetensors({all.begin() + 5, all.end()}));
  write_bytes(folder.path() / "model.safetensors.index.json",
              nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
  CHECK(said_of(folder.path()).find("b.safetensors has a NaN in tensor lm_head.weight at [255, 15], ") !=
        std::string::npos);
}

TEST_CASE("a stored weight beyond a run's range is refused, and read in a wider format") {
  const TemporaryFolder folder;
  write_folder(folder.path(), spoiled_tensors({"model.norm.weight", 5, -70000}));
  const std::string said = said_of(folder.path(), {"precision=fp16_mixed"});
  CHECK(said.find("has 70000, an infinity in F16 in tensor model.norm.weight at [5], so ") != std::string::npos);
  CHECK(said.ends_with("; use a precision with a wider range, such as bf16_mixed."));
  CHECK(said_of(folder.path(), {"precision=bf16_mixed"}) == "");
  CHECK(said_of(folder.path()) == "");
}
