// A layer's kept tensors, against the closed form and hand-computed numbers.
#include "demos/predict/kept_tensors.h"

#include <map>
#include <string_view>

#include "demos/experiments/demo.h"
#include "demos/predict/step_bytes.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::predict;

namespace {

record::Params params_of(std::initializer_list<std::string_view> assignments) {
  record::Params params(experiments::training_step().schema);
  for (const std::string_view assignment : {"model=llama-3.2-1b", "batch=4", "seq=1024", "precision=bf16"})
    REQUIRE(params.set_assignment(assignment).ok());
  for (const std::string_view assignment : assignments) REQUIRE(params.set_assignment(assignment).ok());
  return params;
}

record::Bytes sum_of(const StepSettings& step) {
  record::Bytes sum = 0;
  for (const KeptTensor& tensor : kept_tensors(step)) sum += tensor.bytes;
  return sum;
}

// One layer, without its input if that is a checkpoint.
record::Bytes closed(const StepSettings& step) {
  return layer_bytes(step).sum() + (step.keeps_layer_inputs() ? 0 : between_layers_bytes(step));
}

}  // namespace

TEST_CASE("a layer's tensors are 64 MiB four times in the MLP, 128 in norms, 40.5 in attention") {
  const StepSettings step = step_settings(params_of({}));
  std::map<KeptPart, record::Bytes> parts;
  for (const KeptTensor& tensor : kept_tensors(step)) parts[tensor.part] += tensor.bytes;
  constexpr record::Bytes kMiB = 1024 * 1024;
  CHECK(16 * parts[KeptPart::kMlp] == 4096 * kMiB);
  CHECK(16 * parts[KeptPart::kNorms] == 2048 * kMiB);
  CHECK(16 * parts[KeptPart::kAttention] == 648 * kMiB);
  CHECK(parts[KeptPart::kRows] == 2 * 4 * 4096);
  CHECK(kept_tensors(step).size() == 17);
  CHECK(sum_of(step) == 445'153'280);
  CHECK(kept_tensors(step).front().symbols == "4 · H");
}

TEST_CASE("the tensors add up to the closed form of a layer, whatever is set") {
  const record::Params plain = params_of({});
  std::vector<record::Params> all{plain,
                                  params_of({"fused.rms_norm=on", "fused.swiglu=on", "fused.keep=on"}),
                                  params_of({"precision=fp32", "attention=eager"}),
                                  params_of({"adapters=lora", "gemm=fp8"}),
                                  params_of({"checkpointing=selective", "attention=eager"}),
                                  params_of({"checkpointing=selective", "fused.swiglu=on", "fused.rms_norm=on"}),
                                  params_of({"adapters=lora", "lora_targets=mlp", "attention=eager"}),
                                  params_of({"adapters=lora", "lora_targets=attention", "fused.swiglu=on"})};
  for (const record::ParamSpec& spec : plain.schema())
    for (const record::Choice& choice : record::choices_of(spec)) {
      record::Params each = plain;
      REQUIRE(each.set(spec.key, choice.key).ok());
      all.push_back(each);
    }
  for (const record::Params& params : all) {
    StepSettings step = step_settings(params);
    for (const bool head_norms : {false, true}) {
      step.model.qk_norm = head_norms;
      std::string set;
      for (const auto& [key, value] : params.to_map()) set += key + "=" + value + " ";
      INFO(set << (head_norms ? "params_of norms over heads" : ""));
      CHECK(sum_of(step) == closed(step));
    }
  }
}
