// A layer's kept tensors, against hand-computed numbers.
#include "demos/predict/forms/kept_tensors.h"

#include <map>
#include <string>

#include "tests/predict/settings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::predict;

TEST_CASE("a layer keeps four tensors of 64 MiB in the MLP, 128 MiB in norms and 40.5 MiB in attention") {
  const StepSettings step = tests::with({"precision=bf16"});
  std::map<KeptPart, record::Bytes> parts;
  for (const KeptTensor& tensor : kept_tensors(step)) parts[tensor.part] += tensor.bytes;
  constexpr record::Bytes kMiB = 1024 * 1024;
  CHECK(16 * parts[KeptPart::kMlp] == 4096 * kMiB);
  CHECK(16 * parts[KeptPart::kNorms] == 2048 * kMiB);
  CHECK(16 * parts[KeptPart::kAttention] == 648 * kMiB);
  CHECK(parts[KeptPart::kRows] == 2 * 4 * 4096);
  CHECK(kept_tensors(step).size() == 17);
  CHECK(layer_bytes(step).sum() == 445'153'280);
  CHECK(kept_tensors(step).front().symbols() == "4 · H");
}

TEST_CASE("each tensor is in one term of the closed form, or between layers") {
  const StepSettings step = tests::with({"precision=bf16", "fused.rms_norm=on", "fused.swiglu=on"});
  const LayerBytes layer = layer_bytes(step);
  CHECK(layer.attention_norm == 4096 * 4);           // a number per row; the norm's input is the layer's
  CHECK(layer.mlp_norm == 4096LL * (2 * 2048 + 4));  // a number per row, and the norm's input
  CHECK(layer.mlp == 4096LL * 2 * 2 * 8192);         // gate and up
  const KeptTensor sum = kept_tensors(step).back();  // the next layer's input
  CHECK(sum.name() == "Sum after the MLP");
  CHECK(sum.bytes == between_layers_bytes(step));
  CHECK(sum.term == nullptr);
}

TEST_CASE("a mixture lists its router and the MLPs of its experts, and layers that differ count as their average") {
  StepSettings step = tests::with({"precision=bf16"});
  // 4 of 16 layers have 8 experts, 2 per token, and a shared one.
  step.extension = {
      .experts = llama::Experts{.layers = 4, .count = 8, .per_token = 2, .size = 4096, .shared_size = 512},
      .mlp_bias = false,
      .post_norms = true};
  std::map<std::string, KeptTensor> named;
  for (const KeptTensor& tensor : kept_tensors(step)) named[tensor.name()] = tensor;
  CHECK(named["Router: probabilities and choices"].all_layers == 4 * 4096LL * (8 * (2 + 4) + 2 * (8 + 4 + 2)));
  CHECK(named["Router: gathered rows"].all_layers == 4 * 4096LL * 2 * 2 * 2048);
  CHECK(named["Router: shared expert's result and gate"].symbols() == "2 · (H + 1)");
  CHECK(named["Gate"].all_layers == 12 * 4096LL * 2 * 8192);
  CHECK(named["Gate"].bytes == 4096LL * 2 * 8192 * 3 / 4);
  CHECK(named["Experts: Up"].all_layers == 4 * 4096LL * 2 * 2 * 4096);
  CHECK(named["Experts: Up"].symbols() == "2 · k · F");
  CHECK(named["Shared expert: Product"].all_layers == 4 * 4096LL * 2 * 512);
  CHECK(named["Norm after the MLP: input in fp32"].bytes == 4096LL * 4 * 2048);
  // Four tensors of each MLP, and the norm: fp32 input, normed rows, a number per row.
  CHECK(layer_bytes(step).mlp ==
        4096LL * 4 * 2 * (12 * 8192 + 4 * 2 * 4096 + 4 * 512) / 16 + 4096LL * (2048 * (4 + 2) + 4));
}
