// The catalogue of demos, without torch.
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "demos/experiments/combinations.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/schemas.h"
#include "demos/experiments/technique_table.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("every demo is found, and every parameter accepts its default, minimum and maximum") {
  REQUIRE(experiments::demos().size() >= 1);
  for (const experiments::DemoInfo* demo : experiments::demos()) {
    CAPTURE(demo->id);
    CHECK(experiments::find_demo(demo->id) == demo);
    CHECK_FALSE(demo->summary.empty());
    std::set<std::string_view> keys;
    record::Params params(demo->schema);
    for (const record::ParamSpec& spec : demo->schema) {
      CAPTURE(spec.key);
      CHECK(keys.insert(spec.key).second);
      CHECK_FALSE(spec.label.empty());
      CHECK_FALSE(spec.help.empty());
      CHECK(params.set_assignment(std::string(spec.key) + "=" + params.as_text(spec.key)).ok());
      for (const record::Choice& choice : record::choices_of(spec)) CHECK(params.set(spec.key, choice.key).ok());
      if (spec.kind == record::ParamKind::kInteger) {
        CHECK(params.set(spec.key, record::ParamValue(static_cast<std::int64_t>(spec.minimum))).ok());
        CHECK(params.set(spec.key, record::ParamValue(static_cast<std::int64_t>(spec.maximum))).ok());
        CHECK_FALSE(params.set(spec.key, record::ParamValue(static_cast<std::int64_t>(spec.maximum) + 1)).ok());
      }
      if (!spec.needs_key.empty()) CHECK(keys.count(spec.needs_key) == 1);
    }
  }
  CHECK(experiments::find_demo("no_such_demo") == nullptr);
}

TEST_CASE("a parameter's declared properties match its values") {
  for (const experiments::DemoInfo* demo : experiments::demos()) {
    const record::Params defaults(demo->schema);
    for (const record::ParamSpec& spec : demo->schema) {
      CAPTURE(demo->id, spec.key);
      CHECK(spec.group.empty() == demo->schema.front().group.empty());  // all or none
      CHECK((spec.kind == record::ParamKind::kFile) == (spec.file != record::FileUse::kNone));
      if (!spec.needs_key.empty()) CHECK(defaults.has(spec.needs_key));
      if (spec.file == record::FileUse::kWritten) CHECK(demo->written_bytes != nullptr);
      if (!spec.unless_key.empty()) CHECK(defaults.text(spec.unless_key).empty());
      if (spec.kind == record::ParamKind::kFile) CHECK(spec.role == record::ParamRole::kRun);
      // `instead` is used without our kernels, so it must not need them.
      const record::OwnKernels& own = spec.own_kernels;
      CHECK(own.values.empty() == own.instead.empty());
      for (std::string_view rest = own.values; !rest.empty();) {
        const std::string_view value = rest.substr(0, rest.find('|'));
        CHECK(record::Params(defaults).set(spec.key, value).ok());
        rest.remove_prefix(std::min(rest.size(), value.size() + 1));
      }
      if (own.instead.empty()) continue;
      CHECK(record::Params(defaults).set(spec.key, own.instead).ok());
      CHECK_FALSE(record::is_one_of(own.instead, own.values));
    }
  }
}

TEST_CASE("our kernels are selected wherever PyTorch's operators compute the same") {
  record::Params params(experiments::find_demo("train_step")->schema);
  experiments::use_own_kernels(params);
  CHECK(params.text("loss") == "flce");
  for (const char* key : {"fused.rms_norm", "fused.rope", "fused.swiglu", "fused.embedding", "fused.adamw"})
    CHECK(params.on(key));
  CHECK_FALSE(params.on("fused.cross_entropy"));
  for (const char* key : {"cuda_graph", "histogram"}) CHECK_FALSE(params.on(key));
  CHECK(params.text("optimizer") == "adamw");
}

TEST_CASE("each setting of a step has the role that it decides") {
  const auto role = [](std::string_view key) {
    for (const record::ParamSpec& spec : experiments::find_demo("train_step")->schema)
      if (spec.key == key) return spec.role;
    throw std::out_of_range("no such key");
  };
  for (const char* key : {"device", "cap", "steps", "seed", "weights", "data", "trace", "offload_file", "save",
                          "save_state", "save_merged", "resume"})
    CHECK(role(key) == record::ParamRole::kRun);
  for (const char* key : {"model", "batch", "seq", "hidden_size", "vocab_size"})
    CHECK(role(key) == record::ParamRole::kShape);
  for (const char* key : {"precision", "checkpointing", "offload.parameters", "fused.rope", "galore_rank"})
    CHECK(role(key) == record::ParamRole::kTechnique);
}

TEST_CASE("the schema `shape` is train_step without the parameters of a run") {
  const record::Schema step = experiments::find_demo("train_step")->schema;
  const record::Params shape(experiments::find_schema("shape")->schema);
  for (const record::ParamSpec& spec : step) {
    INFO(spec.key);
    CHECK(shape.has(spec.key) == (spec.role != record::ParamRole::kRun));
  }
  for (const record::ParamSpec& spec : shape.schema()) {
    INFO(spec.key);
    CHECK(record::Params(step).has(spec.key));
    if (!spec.needs_key.empty()) CHECK(shape.has(spec.needs_key));
    CHECK(spec.unless_key.empty());
    CHECK(shape.in_use("model"));
  }
  CHECK(shape.text("model") == "llama-3.2-1b");
  CHECK(experiments::refused_combination(shape) == std::nullopt);
  CHECK(experiments::find_schema("train_step") == nullptr);
  CHECK(experiments::find_demo("shape") == nullptr);
  const record::Params both = experiments::step_params(shape);
  CHECK(both.integer("seq") == 1024);
  CHECK(both.text("device") == "auto");
  CHECK(experiments::step_params(both) == both);
}

TEST_CASE("the keys of train_step do not change") {
  const record::Params params(experiments::find_demo("train_step")->schema);
  CHECK(params.text("model") == "tiny");
  CHECK(params.integer("batch") == 4);
  CHECK(params.integer("seq") == 256);
  CHECK(params.integer("steps") == 3);
  CHECK(params.text("precision") == "fp32");
  CHECK(params.text("checkpointing") == "off");
  CHECK(params.text("loss") == "plain");
  CHECK(params.text("device") == "auto");
  CHECK(params.integer("cap") == 0);
  CHECK(params.text("data").empty());
}

TEST_CASE("of the techniques that split a batch, only the one with this number of micro-batches is on") {
  record::Params params(experiments::training_step().schema);
  REQUIRE(params.set("batch", "16"));
  const auto on = [&] {
    std::vector<std::string> ids;
    for (const experiments::Technique& each : experiments::techniques())
      if (each.micro_batches > 1 && experiments::is_on(each, params)) ids.push_back(each.id);
    return ids;
  };
  CHECK(on().empty());
  for (const char* id : {"accumulate_4", "accumulate_2", "accumulate_4"}) {
    CAPTURE(id);
    const experiments::Technique& what = *experiments::find_technique(id);
    params = experiments::turned_on(what, params).value();
    CHECK(on() == std::vector<std::string>{id});
    CHECK(params.integer("batch") * params.integer("accumulate") == 16);
    CHECK_FALSE(experiments::turned_on(what, params));
  }
  REQUIRE(params.set("accumulate", "6"));
  CHECK(on().empty());
}
