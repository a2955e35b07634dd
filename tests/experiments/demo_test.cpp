// The catalogue of demos, without torch.
#include <set>
#include <string>

#include "demos/experiments/demo.h"
#include "tests/support/catch.h"

using namespace headroom;

TEST_CASE("every demo can be found, and every parameter's default, least and most are allowed values") {
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
      for (const record::Choice& choice : spec.choices) CHECK(params.set(spec.key, choice.key).ok());
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

TEST_CASE("train_step's keys are those of recordings and presets") {
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
