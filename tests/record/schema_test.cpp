// Parameters: defaults, accepted values and refusals.
#include "demos/record/schema.h"

#include <cmath>
#include <limits>

#include "tests/support/catch.h"

using namespace headroom::record;

namespace {

constexpr Choice kModels[] = {{"tiny", "Tiny"}, {"llama-3.2-1b", "Llama 3.2 1B"}, {"custom", "Custom"}};
constexpr ParamSpec kSpecs[] = {
    {.key = "model",
     .label = "Model",
     .unit = "",
     .help = "",
     .kind = ParamKind::kChoice,
     .default_text = "tiny",
     .choices = kModels},
    {.key = "batch",
     .label = "Batch",
     .unit = "sequences",
     .help = "",
     .kind = ParamKind::kInteger,
     .minimum = 1,
     .maximum = 1024,
     .default_number = 4},
    {.key = "learning_rate",
     .label = "Learning rate",
     .unit = "",
     .help = "",
     .kind = ParamKind::kReal,
     .minimum = 0,
     .maximum = 0.5,
     .default_number = 0.001},
    {.key = "checkpointing",
     .label = "Checkpointing",
     .unit = "",
     .help = "",
     .kind = ParamKind::kSwitch,
     .default_number = 0},
    {.key = "cap",
     .label = "Memory cap",
     .unit = "",
     .help = "",
     .kind = ParamKind::kBytes,
     .minimum = 64.0 * kMiB,
     .maximum = 1024.0 * kGiB,
     .default_number = 0},
    {.key = "data", .label = "Data", .unit = "", .help = "", .kind = ParamKind::kFile},
    {.key = "layers",
     .label = "Layers",
     .unit = "",
     .help = "",
     .kind = ParamKind::kInteger,
     .minimum = 1,
     .maximum = 128,
     .default_number = 2,
     .needs_key = "model",
     .needs_value = "custom"},
};

std::string refusal(Params& params, std::string_view assignment) {
  const Params before = params;
  const Status status = params.set_assignment(assignment);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == ErrorKind::kBadInput);
  CHECK(params == before);
  return status.error().message;
}

}  // namespace

TEST_CASE("parameters start with their defaults") {
  const Params params(kSpecs);
  CHECK(params.text("model") == "tiny");
  CHECK(params.integer("batch") == 4);
  CHECK(params.real("learning_rate") == 0.001);
  CHECK_FALSE(params.on("checkpointing"));
  CHECK(params.integer("cap") == 0);
  CHECK(params.text("data").empty());
  CHECK(params.has("layers"));
  CHECK_FALSE(params.has("layer"));
  CHECK(params.to_map().size() == std::size(kSpecs));
}

TEST_CASE("reading a parameter that a schema lacks is a bug") {
  const Params params(kSpecs);
  CHECK_THROWS(params.integer("bathc"));
  CHECK_THROWS(params.integer("model"));
  CHECK_THROWS(params.as_text("bathc"));
}

TEST_CASE("values are set as typed") {
  Params params(kSpecs);
  for (const char* assignment : {"model=llama-3.2-1b", "batch=1024", "learning_rate=3e-4", "checkpointing=on",
                                 "cap=24GiB", "data=/tmp/a=b.txt"}) {
    CAPTURE(assignment);
    REQUIRE(params.set_assignment(assignment).ok());
  }
  CHECK(params.text("model") == "llama-3.2-1b");
  CHECK(params.integer("batch") == 1024);
  CHECK(params.real("learning_rate") == 3e-4);
  CHECK(params.on("checkpointing"));
  CHECK(params.integer("cap") == 24 * kGiB);
  CHECK(params.text("data") == "/tmp/a=b.txt");
  CHECK(params.as_text("cap") == "24GiB");
  CHECK(params.as_text("checkpointing") == "on");
  CHECK(params.as_text("learning_rate") == "0.0003");
  REQUIRE(params.set_assignment("cap=0").ok());  // no cap, although the range starts at 64 MiB
  CHECK(params.as_text("cap") == "0");
  REQUIRE(params.set("cap", "100000000").ok());
  CHECK(params.as_text("cap") == "100000000");
}

TEST_CASE("both ends of every range can be set, values beyond are refused, and text round-trips") {
  Params params(kSpecs);
  for (const ParamSpec& spec : kSpecs) {
    CAPTURE(std::string(spec.key));
    if (spec.kind == ParamKind::kReal) {
      for (const double end : {spec.minimum, spec.maximum}) REQUIRE(params.set(spec.key, ParamValue(end)).ok());
      CHECK_FALSE(params.set(spec.key, ParamValue(std::nextafter(spec.maximum, 1e9))).ok());
      CHECK_FALSE(params.set(spec.key, ParamValue(std::nextafter(spec.minimum, -1e9))).ok());
    }
    if (spec.kind == ParamKind::kInteger || spec.kind == ParamKind::kBytes) {
      for (const double end : {spec.minimum, spec.maximum})
        REQUIRE(params.set(spec.key, ParamValue(static_cast<std::int64_t>(end))).ok());
      CHECK_FALSE(params.set(spec.key, ParamValue(static_cast<std::int64_t>(spec.maximum) + 1)).ok());
      CHECK_FALSE(params.set(spec.key, ParamValue(static_cast<std::int64_t>(spec.minimum) - 1)).ok());
    }
    const Params before = params;
    REQUIRE(params.set(spec.key, std::string_view(before.as_text(spec.key))).ok());
    CHECK(params == before);
  }
}

TEST_CASE("refusals name the range, the choices or the nearest key") {
  Params params(kSpecs);
  CHECK(refusal(params, "batch=0") == "batch=0: Batch must be a whole number from 1 to 1024.");
  CHECK(refusal(params, "batch=1025") == "batch=1025: Batch must be a whole number from 1 to 1024.");
  CHECK(refusal(params, "batch=4.5") == "batch=4.5: Batch must be a whole number from 1 to 1024.");
  CHECK(refusal(params, "batch=") == "batch=: Batch must be a whole number from 1 to 1024.");
  CHECK(refusal(params, "batch=99999999999999999999") ==
        "batch=99999999999999999999: Batch must be a whole number from 1 to 1024.");
  CHECK(refusal(params, "learning_rate=nan") == "learning_rate=nan: Learning rate must be a number from 0 to 0.5.");
  CHECK(refusal(params, "model=llama") == "model=llama: Model must be one of tiny, llama-3.2-1b, custom.");
  CHECK(refusal(params, "checkpointing=yes") == "checkpointing=yes: Checkpointing must be on or off.");
  CHECK(refusal(params, "cap=1MiB") ==
        "cap=1MiB: Memory cap must be a size from 64MiB to 1024GiB, such as 24GiB or 512MiB; 0 is none.");
  CHECK(refusal(params, "cap=24") ==
        "cap=24: Memory cap must be a size from 64MiB to 1024GiB, such as 24GiB or 512MiB; 0 is none.");
  CHECK(refusal(params, "bathc=4") == "There is no parameter \"bathc\"; the nearest is \"batch\".");
  CHECK(refusal(params, "checkpoint=on") == "There is no parameter \"checkpoint\"; the nearest is \"checkpointing\".");
  CHECK(refusal(params, "batch") == "\"batch\" sets nothing; write key=value, such as model=tiny.");
  CHECK(refusal(params, std::string_view("data=a\0b", 8)).find("path of a file") != std::string::npos);
  Params none;
  CHECK(none.set("batch", "4").error().message == "There is no parameter \"batch\": this has no parameters.");
}

TEST_CASE("values of the wrong kind are refused, but whole numbers are accepted as real ones") {
  Params params(kSpecs);
  CHECK_FALSE(params.set("batch", ParamValue(4.0)).ok());
  CHECK_FALSE(params.set("batch", ParamValue(true)).ok());
  CHECK_FALSE(params.set("checkpointing", ParamValue(std::int64_t{1})).ok());
  CHECK_FALSE(params.set("model", ParamValue(std::int64_t{1})).ok());
  CHECK_FALSE(params.set("learning_rate", ParamValue(std::numeric_limits<double>::quiet_NaN())).ok());
  REQUIRE(params.set("learning_rate", ParamValue(std::int64_t{0})).ok());
  CHECK(params.real("learning_rate") == 0.0);
}

TEST_CASE("a map of texts gives the same parameters") {
  Params params(kSpecs);
  REQUIRE(params.set_assignment("batch=8").ok());
  REQUIRE(params.set_assignment("cap=1.5GiB").ok());
  const Result<Params> again = Params::from_map(kSpecs, params.to_map());
  REQUIRE(again.ok());
  CHECK(again.value() == params);
  CHECK(Params::from_map(kSpecs, {{"batch", "8"}}).value().integer("batch") == 8);
  CHECK_FALSE(Params::from_map(kSpecs, {{"batch", "many"}}).ok());
  CHECK_FALSE(Params::from_map(kSpecs, {{"unknown", "1"}}).ok());
}

TEST_CASE("a parameter that needs another is in use only with it") {
  Params params(kSpecs);
  CHECK_FALSE(params.in_use("layers"));
  CHECK(params.in_use("batch"));
  REQUIRE(params.set_assignment("model=custom").ok());
  CHECK(params.in_use("layers"));
}

TEST_CASE("unknown entries of a map are named, except those of run parameters") {
  constexpr ParamSpec kWork[] = {{.key = "model",
                                  .label = "Model",
                                  .unit = "",
                                  .help = "",
                                  .kind = ParamKind::kChoice,
                                  .default_text = "tiny",
                                  .choices = kModels,
                                  .role = ParamRole::kShape},
                                 {.key = "steps",
                                  .label = "Steps",
                                  .unit = "",
                                  .help = "",
                                  .kind = ParamKind::kInteger,
                                  .minimum = 1,
                                  .maximum = 10,
                                  .default_number = 2}};
  using Words = std::vector<std::string>;
  CHECK(Params::unknown_in(kWork, {{"model", "llama-3.2-1b"}, {"steps", "9"}}).empty());
  CHECK(Params::unknown_in(kWork, {{"steps", "99"}}).empty());
  CHECK(Params::unknown_in(kWork, {{"foo", "1"}, {"model", "llama-9"}}) == Words{"foo=1", "model=llama-9"});
}
