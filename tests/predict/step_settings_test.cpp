// Decoding of training-step parameters.
#include "demos/predict/step_settings.h"
#include "demos/predict/forms/step_bytes.h"

#include <initializer_list>
#include <string_view>

#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::predict;

namespace {

record::Schema schema() { return experiments::find_demo("train_step")->schema; }

record::Params params_with(std::initializer_list<std::string_view> assignments) {
  record::Params params(schema());
  for (const std::string_view assignment : assignments) REQUIRE(params.set_assignment(assignment).ok());
  return params;
}

StepSettings step_of(std::initializer_list<std::string_view> assignments) {
  return step_settings(params_with(assignments));
}

}  // namespace

TEST_CASE("every value of every setting of a step has a meaning") {
  for (const record::ParamSpec& spec : schema())
    for (const record::Choice& choice : record::choices_of(spec)) {
      INFO(spec.key << "=" << choice.key);
      record::Params params(schema());
      if (!spec.needs_key.empty())
        REQUIRE(params.set(spec.needs_key, spec.needs_value.substr(0, spec.needs_value.find('|'))).ok());
      REQUIRE(params.set(spec.key, choice.key).ok());
      CHECK_NOTHROW(step_settings(params));
    }
}

TEST_CASE("the optimizer's defaults equal those of older recordings") {
  const StepSettings standard = step_of({});
  CHECK(standard.optimizer.beta1 == 0.9);
  CHECK(standard.optimizer.beta2 == 0.95);
  CHECK(standard.optimizer.epsilon == 1e-8);
  CHECK(standard.optimizer.weight_decay == 0.1);
  CHECK(standard.optimizer.clip == 0);
  const StepSettings step = step_of({"beta1=0.8", "beta2=0.999", "epsilon=1e-6", "weight_decay=0", "clip=1"});
  CHECK(step.optimizer.beta1 == 0.8);
  CHECK(step.optimizer.beta2 == 0.999);
  CHECK(step.optimizer.epsilon == 1e-6);
  CHECK(step.optimizer.weight_decay == 0);
  CHECK(step.optimizer.clip == 1);
  CHECK(step_of({"schedule=cosine", "schedule_steps=9"}).optimizer.schedule_steps == 9);
  CHECK(step_of({"schedule_steps=9"}).optimizer.schedule_steps == 0);
  CHECK(step_of({}).eval_every == 0);
  CHECK(step_of({"eval_every=20"}).eval_every == 20);
}

TEST_CASE("settings become numbers and enums") {
  const StepSettings step =
      step_of({"model=llama-3.2-1b", "batch=8", "seq=1024", "accumulate=2", "precision=fp16_mixed",
               "checkpointing=every", "checkpoint_every=3", "loss=flce", "loss_mode=lean", "weight_gradient=fp32",
               "attention=cudnn", "fused.rope=on", "adapters=qlora", "lora_rank=4", "lora_targets=mlp",
               "offload.optimizer=file", "offload.checkpoints=on", "seed=7", "steps=5"});
  CHECK(step.model.id == "llama-3.2-1b");
  CHECK(step.tokens() == 8192);
  CHECK(step.micro_batches == 2);
  CHECK(step.precision == Precision::kFp16Mixed);
  CHECK(step.masters());
  CHECK(step.element_bytes() == 2);
  CHECK(step.moment_bytes() == 4);
  CHECK(step.checkpointing == Checkpointing::kLayer);
  CHECK(step.checkpoint_every == 3);
  CHECK(step.loss.path == LossPath::kFlce);
  CHECK(step.loss.mode == kernels::FlceMode::kLean);
  CHECK(step.loss.fp32_weight_gradient);
  CHECK(step.fused.attention == Attention::kCudnn);
  CHECK(step.fused.rope);
  CHECK_FALSE(step.fused.swiglu);
  CHECK(step.adapters.kind == AdapterKind::kQlora);
  CHECK(step.adapters.rank == 4);
  CHECK(step.adapters.targets == AdapterTargets::kMlp);
  CHECK(step.offload.state == StateOffload::kFile);
  CHECK(step.offload.checkpoints);
  CHECK_FALSE(step.offload.parameters);
  CHECK(step.seed == 7);
  CHECK(step.steps == 5);
  CHECK(step.low_rank() == 512);
}

TEST_CASE("a setting that another one disables changes nothing") {
  CHECK(step_of({"checkpointing=layer", "checkpoint_every=4"}).checkpoint_every == 1);
  CHECK_FALSE(step_of({"loss=flce", "fused.cross_entropy=on"}).fused.cross_entropy);
  CHECK(step_of({"fused.cross_entropy=on"}).fused.cross_entropy);
  CHECK_FALSE(step_of({"keep_output=on"}).loss.keep_output);
  CHECK(step_of({"loss=hf_2024"}).loss.keep_output);
  CHECK(step_of({"optimizer=galore", "moments=bf16"}).moment_bytes() == 4);
  CHECK_FALSE(step_of({"precision=fp32", "rounding=stochastic"}).optimizer.stochastic_rounding);
  CHECK(step_of({"loss=plain", "loss_mode=lean"}).loss.mode == kernels::FlceMode::kChunked);
}

TEST_CASE("the shape of a run's checkpoint is read back from its recording") {
  const llama::Config taken{.id = "custom",
                            .hidden_size = 256,
                            .intermediate_size = 704,
                            .num_layers = 5,
                            .num_heads = 8,
                            .num_kv_heads = 2,
                            .head_dim = 32,
                            .vocab_size = 512,
                            .tie_word_embeddings = false};
  record::RunInfo run{.demo = "train_step",
                      .params = params_with({"model=custom", "weights=/tmp/checkpoint"}).to_map(),
                      .provenance = shape_facts(taken)};
  const StepSettings step = settings_of(run, schema());
  CHECK(step.model.num_layers == 5);
  CHECK(step.model.num_kv_heads == 2);
  CHECK(step.model.vocab_size == 512);
  CHECK_FALSE(step.model.tie_word_embeddings);
  CHECK(llama::num_parameters(step.model) == llama::num_parameters(taken));
  // Incomplete or invalid shapes are ignored.
  run.provenance["model.num_kv_heads"] = "3";
  CHECK(settings_of(run, schema()).model.num_layers == 4);
  run.provenance.erase("model.num_kv_heads");
  CHECK(settings_of(run, schema()).model.num_layers == 4);
}

TEST_CASE("an old run that added a tied table's gradients in place is decoded as such") {
  record::RunInfo run{.demo = "train_step", .params = params_with({"loss=hf_2025"}).to_map()};
  CHECK(sums_tied_apart(settings_of(run, schema())));
  run.params.erase("fused.keep");
  CHECK_FALSE(sums_tied_apart(settings_of(run, schema())));
}

TEST_CASE("biases and norms over heads are read back, and older recordings have none") {
  llama::Config taken = *llama::find_config("tiny");
  taken.qkv_bias = taken.qk_norm = true;
  auto facts = shape_facts(taken);
  const auto back = taken_shape(facts);
  REQUIRE(back);
  CHECK((back->qkv_bias && !back->o_bias && back->qk_norm));
  CHECK(llama::num_parameters(*back) == llama::num_parameters(taken));
  for (const char* key : {"model.qkv_bias", "model.o_bias", "model.qk_norm"}) CHECK(facts.erase(key) == 1);
  const auto old = taken_shape(facts);
  REQUIRE(old);
  CHECK((!old->qkv_bias && !old->o_bias && !old->qk_norm));
}

TEST_CASE("a checkpoint overrides the settings of the shape") {
  CHECK(params_with({"model=custom"}).in_use("hidden_size"));
  const record::Params beside = params_with({"model=custom", "weights=/tmp/checkpoint"});
  CHECK(beside.overruled("hidden_size"));
  CHECK_FALSE(beside.in_use("hidden_size"));
  CHECK_FALSE(beside.overruled("batch"));
}
