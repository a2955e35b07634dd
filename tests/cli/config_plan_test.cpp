// headroom plan --config: what a configuration of DeepSpeed or Accelerate means, with what is left out and why.
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;
using nlohmann::json;

namespace {

// The closed form needs no engine.
Ran plan_config(const std::string& file, std::vector<std::string> words = {}) {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = "/no/such/engine";
  words.insert(words.begin(), {"plan", "--model", "llama-3.2-1b", "--config", file});
  return run_headroom(words, options);
}

json planned_config(const std::string& file, std::vector<std::string> words = {}) {
  words.emplace_back("--json");
  const Ran ran = plan_config(file, std::move(words));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out);
}

const std::string kExamples = std::string(HEADROOM_SOURCE_DIR) + "/assets/configs/";

}  // namespace

TEST_CASE("a plan is of the step that a configuration means, and says what it read") {
  const json plan = planned_config(kExamples + "deepspeed_bf16.json", {"--gpus", "4"});
  const json& params = plan["steps"][0]["params"];
  CHECK(params["zero"] == "3");
  CHECK(params["ranks"] == 4);
  CHECK(params["precision"] == "bf16_mixed");
  const json& config = plan["config"];
  CHECK(config["framework"] == "DeepSpeed");
  CHECK(config["read"].size() == 2);
  CHECK(config["read"][1] ==
        json{{"key", "zero_optimization.stage"}, {"value", "3"}, {"setting", "zero=3"}, {"note", ""}});
  CHECK(config["decided_elsewhere"].size() == 6);
  CHECK(config["not_understood"].empty());
  CHECK(config["left_out"].empty());
  CHECK(config["command"] == "headroom run train_step --set model=llama-3.2-1b precision=bf16_mixed ranks=4 zero=3");
  // A quarter of 16 bytes per parameter, and what is gathered.
  const auto states = plan["steps"][0]["peak_by_category"]["optimizer_state"].get<double>();
  CHECK(states / 1'235'814'400 > 2.99);
  CHECK(states / 1'235'814'400 < 3.1);
}

TEST_CASE("one GPU shares nothing, and what our step refuses is left out with the reason") {
  const json plan = planned_config(kExamples + "gpt2_xl_zero3_param.json");
  const json& config = plan["config"];
  CHECK(config["settings"].contains("offload.optimizer"));
  CHECK_FALSE(config["settings"].contains("zero"));
  CHECK(plan["steps"][0]["params"]["offload.optimizer"] == "host");
  CHECK(plan["steps"][0]["params"]["offload.parameters"] == "off");
  std::string left;
  for (const json& each : config["left_out"])
    left += each["setting"].get<std::string>() + ": " + each["because"].get<std::string>() + "\n";
  CHECK(holds(left, "zero=3: one GPU has nothing to share or to sum: use --gpus"));
  CHECK(holds(left,
              "offload.parameters=on: offload.parameters=on cannot be combined with checkpointing=off: unless "
              "whole layers are recomputed"));
  const json with = planned_config(kExamples + "gpt2_xl_zero3_param.json", {"--set", "checkpointing=layer"});
  CHECK(with["steps"][0]["params"]["offload.parameters"] == "on");
}

TEST_CASE("the command line overrules the file, and unknown keys are named") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.yaml";
  write_file(file,
             "distributed_type: FSDP\nfsdp_config:\n  fsdp_offload_params: true\n  fsdp_speed: 9\n"
             "mixed_precision: bf16\nnum_processes: 2\n");
  const json plan = planned_config(file, {"--set", "precision=fp32", "offload.optimizer=off"});
  CHECK(plan["steps"][0]["params"]["precision"] == "fp32");
  CHECK(plan["steps"][0]["params"]["zero"] == "3");
  CHECK(plan["steps"][0]["params"]["offload.parameters"] == "off");
  CHECK(plan["config"]["not_understood"][0]["key"] == "fsdp_config.fsdp_speed");
  CHECK_FALSE(plan["config"]["settings"].contains("precision"));
  const Ran text = plan_config(file);
  CHECK(text.exit_code == 0);
  CHECK(holds(text.out, "not understood"));
  CHECK(holds(text.out, "fsdp_config.fsdp_speed"));
  CHECK(holds(text.out, "formats: loaded bf16 (assumed), local fp32, training bf16, optimizer fp32: 4 + 4 + 8 = 16 B"));
  CHECK(holds(text.out,
              "to run it: headroom run train_step --set model=llama-3.2-1b precision=bf16_mixed ranks=2 zero=3"));
}

TEST_CASE("a file for several ranks is planned on the host, and a table of numbers leaves the words to stderr") {
  const TemporaryFolder folder;
  const std::string file = folder / "ds.json";
  write_file(file, R"({"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "nvme"}}, "new_key": 1})");
  const json plan = planned_config(file, {"--gpus", "2"});
  CHECK(plan["steps"][0]["params"]["offload.optimizer"] == "host");
  CHECK(planned_config(file)["steps"][0]["params"]["offload.optimizer"] == "file");
  const Ran csv = plan_config(file, {"--csv"});
  CHECK(csv.out.starts_with("batch,sequence,"));
  CHECK(holds(csv.err, "does not understand new_key"));
}

TEST_CASE("a file that is no configuration ends the plan with one sentence") {
  const TemporaryFolder folder;
  const std::string file = folder / "ds.json";
  write_file(file, R"({"zero_optimization": {"stage": "many"}})");
  const Ran ran = plan_config(file);
  CHECK(ran.exit_code == 2);
  CHECK(ran.err ==
        "headroom: " + file + ": zero_optimization.stage is \"many\", but it must be a whole number from 0 to 3.\n");
  CHECK(plan_config(folder / "no.json").exit_code == 2);
}
