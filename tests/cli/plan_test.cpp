// headroom plan with the real engine: bytes checked by hand, borders, cards and refusals.
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/lessons/pages/answer_keys.h"
#include "tests/support/catch.h"
#include "tests/support/page_numbers.h"

using namespace headroom::tests;
using nlohmann::json;

namespace {

Ran plan(std::vector<std::string> words) {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  words.insert(words.begin(), "plan");
  return run_headroom(words, options);
}

json planned(std::vector<std::string> words) {
  words.emplace_back("--json");
  const Ran ran = plan(std::move(words));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return json::parse(ran.out);
}

const std::vector<std::string> kSmallModel{"--model", "tiny", "--set", "precision=bf16"};

}  // namespace

TEST_CASE("A plan reads no data") {
  CHECK(plan({"--model", "tiny", "--set", "data=/nowhere/at/all.npy", "--json"}).exit_code == 0);
}

TEST_CASE("a plan's bytes equal the closed forms, by category") {
  const json step = planned(
      {"--model", "llama-3.2-1b", "--batch", "1", "--seq", "1024", "--set", "precision=bf16_mixed"})["steps"][0];
  constexpr std::int64_t kParameters = 1'235'814'400;
  const auto bytes = [&](const char* category) { return step["peak_by_category"][category].get<std::int64_t>(); };
  // Per parameter, 2 bytes of weights and 12 of optimizer state. Blocks are multiples of 512 B; a remainder of up to 1
  // MiB is not split off.
  CHECK(bytes("weights") >= 2 * kParameters);
  CHECK(bytes("weights") < 2 * kParameters + (4 << 20));
  CHECK(bytes("optimizer_state") >= 12 * kParameters);
  CHECK(bytes("optimizer_state") < 12 * kParameters + (16 << 20));
  std::int64_t sum = 0;
  for (const auto& [category, amount] : step["peak_by_category"].items()) sum += amount.get<std::int64_t>();
  CHECK(sum == step["peak_bytes"]);
  CHECK(step["peak_requested_bytes"] <= step["peak_bytes"]);
  CHECK(step["peak_bytes"] <= step["peak_reserved_bytes"]);
  CHECK_FALSE(step["peak_operator"].get<std::string>().empty());
}

TEST_CASE("the largest batch and sequence fit, and one more of either does not fit") {
  std::vector<std::string> words{"--card", "2GiB", "--batch", "3", "--seq", "200"};
  words.insert(words.begin(), kSmallModel.begin(), kSmallModel.end());
  const json card = planned(words)["steps"][0]["cards"][0];
  REQUIRE(card["verdict"] == "fits");
  const auto batch = card["largest_batch"].get<int>(), sequence = card["largest_sequence"].get<int>();
  CHECK(batch > 3);
  CHECK(sequence > 200);
  const auto verdict = [&](int with_batch, int with_sequence) {
    std::vector<std::string> asked{
        "--card", "2GiB", "--batch", std::to_string(with_batch), "--seq", std::to_string(with_sequence)};
    asked.insert(asked.begin(), kSmallModel.begin(), kSmallModel.end());
    return planned(asked)["steps"][0]["cards"][0]["verdict"].get<std::string>();
  };
  CHECK(verdict(batch, 200) == "fits");
  CHECK(verdict(3, sequence) == "fits");
  if (batch < 256) CHECK(verdict(batch + 1, 200) != "fits");
  CHECK(verdict(3, sequence + 1) != "fits");
}

TEST_CASE("a step that fits lacks no bytes, and its largest values say where the search ended") {
  for (const int batch : {4, 5, 6}) {
    const json card = planned({"--model", "llama-3.2-1b", "--set", "precision=bf16", "--seq", "1024", "--batch",
                               std::to_string(batch), "--card", "24GiB"})["steps"][0]["cards"][0];
    INFO(card.dump());
    const auto left = card["left_bytes"].get<std::int64_t>();
    if (card["verdict"] == "fits") CHECK(left >= 0);
    if (card["verdict"] == "does_not_fit") CHECK(left < 0);
  }
  const Ran tiny = plan({"--model", "tiny", "--seq", "64", "--card", "NVIDIA H200"});
  CHECK(tiny.exit_code == 0);
  CHECK(tiny.out.find("H200 SXM") != std::string::npos);
  CHECK(tiny.out.find("256 or more") != std::string::npos);
}

TEST_CASE("the answer of the page on fitting equals the plan") {
  const auto on_card = [](const char* batch) {
    return planned({"--model", "llama-3.2-1b", "--set", "precision=bf16", "--seq", "1024", "--batch", batch, "--card",
                    "RTX 4090"})["steps"][0];
  };
  const json step = on_card("5"), card = step["cards"][0];
  INFO(step.dump());
  const auto gib = [](const json& bytes) { return bytes.get<double>() / headroom::record::kGiB; };
  CHECK(right_choice("will_it_fit") == "Five");
  CHECK(card["verdict"] == "fits");
  CHECK(card["largest_batch"] == 5);
  CHECK(card["left_bytes"] == 0);
  CHECK(on_card("6")["cards"][0]["verdict"] == "does_not_fit");
  check_number("five_sequences.unlimited", gib(step["peak_reserved_bytes"]));
  check_number("five_sequences.reserved", gib(card["reserved_bytes"]));
}

TEST_CASE("several batches, sequences and cards make one table, as text and as CSV") {
  std::vector<std::string> words{"--batch", "1,2", "--seq", "64,128", "--card", "RTX 4090", "H200"};
  words.insert(words.begin(), kSmallModel.begin(), kSmallModel.end());
  const Ran text = plan(words);
  INFO(text.err);
  CHECK(text.exit_code == 0);
  for (const char* part : {"GeForce RTX 4090", "H200 SXM", "largest batch", "fits", "weights", "the CUDA context"})
    CHECK(text.out.find(part) != std::string::npos);
  words.emplace_back("--csv");
  std::istringstream lines(plan(words).out);
  std::vector<std::size_t> commas;
  for (std::string line; std::getline(lines, line);)
    commas.push_back(static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')));
  CHECK(commas.size() == 1 + 2 * 2 * 2);
  CHECK(std::all_of(commas.begin(), commas.end(), [&](std::size_t count) { return count == commas.front(); }));
}

TEST_CASE("a plan that fits nowhere exits with 4 under --fail-on-oom") {
  const std::vector<std::string> words{"--model", "llama-3-8b", "--card", "RTX 4090"};
  CHECK(plan(words).exit_code == 0);
  std::vector<std::string> strict = words;
  strict.emplace_back("--fail-on-oom");
  const Ran none = plan(strict);
  CHECK(none.exit_code == 4);
  CHECK(none.out.find("does not fit") != std::string::npos);
  strict.insert(strict.end(), {"--card", "RTX 4090", "H200"});
  CHECK(plan(strict).exit_code == 0);
}

TEST_CASE("an impossible plan is refused in one sentence") {
  const auto refused = [](std::vector<std::string> words, int exit_code, const char* part) {
    const Ran ran = plan(std::move(words));
    INFO(ran.err);
    CHECK(ran.exit_code == exit_code);
    CHECK(ran.err.find(part) != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  };
  refused({"--card", "RTX 4091"}, 2, "GeForce RTX 4090");
  refused({"--card", "A100"}, 2, "A100 40 GB and A100 80 GB");
  refused({"--model", "no/such/config.json"}, 2, "no/such/config.json");
  refused({"--batch", "1,0"}, 2, "1");
  refused({"--batch", "1,,2"}, 2, "batch");
  refused({"--set", "cap=8GiB"}, 2, "--card");
  refused({"--set", "device=cpu"}, 2, "device");
}

TEST_CASE("settings that no run accepts are refused with the step's sentence, next to settings that can be planned") {
  const Ran ran = plan({"--model", "tiny", "--set", "optimizer_in_backward=on", "accumulate=2"});
  CHECK(ran.exit_code == 3);
  CHECK(ran.out.find("accumulate") != std::string::npos);
}

TEST_CASE("a plan without a usable engine comes from the closed form and says so") {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = "/no/such/engine";
  const Ran ran = run_headroom({"plan", "--model", "llama-3.2-1b", "--batch", "4", "--seq", "1024", "--card", "24GiB",
                                "--set", "precision=bf16", "--json"},
                               options);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(ran.err.find("closed form") != std::string::npos);
  CHECK(ran.err.find("/no/such/engine") != std::string::npos);
  const json by_formula = json::parse(ran.out)["steps"][0];
  CHECK(by_formula["source"] == "formula");
  const json predicted = planned({"--model", "llama-3.2-1b", "--batch", "4", "--seq", "1024", "--card", "24GiB",
                                  "--set", "precision=bf16"})["steps"][0];
  CHECK(predicted["source"] == "predicted");
  CHECK(by_formula["peak_requested_bytes"].get<double>() ==
        Approx(predicted["peak_requested_bytes"].get<double>()).epsilon(0.005));
  CHECK(by_formula["cards"][0]["largest_batch"].get<int>() <= predicted["cards"][0]["largest_batch"].get<int>());
}

TEST_CASE(
    "a config.json of a Llama is planned by its shape, one with experts by the closed form, and others are refused") {
  const TemporaryFolder folder;
  const std::string file = folder / "config.json";
  const json config{{"model_type", "qwen2"},      {"hidden_size", 896},          {"intermediate_size", 4864},
                    {"num_hidden_layers", 24},    {"num_attention_heads", 14},   {"num_key_value_heads", 2},
                    {"vocab_size", 151936},       {"tie_word_embeddings", true}, {"rope_theta", 1e6},
                    {"use_sliding_window", false}};
  write_file(file, config.dump());
  const json step = planned({"--model", file, "--seq", "128", "--set", "precision=bf16"})["steps"][0];
  // 494,032,768 parameters of 2 bytes, plus the remainders that are not split off their blocks.
  CHECK(step["peak_by_category"]["weights"].get<std::int64_t>() - 2 * 494'032'768LL < 16 << 20);
  CHECK(step["peak_by_category"]["weights"] >= 2 * 494'032'768LL);
  json other = config;
  other["model_type"] = "gpt2";
  write_file(file, other.dump());
  const Ran refused = plan({"--model", file});
  CHECK(refused.exit_code == 2);
  CHECK(refused.err.find("model_type") != std::string::npos);
  json experts = config;
  experts.update({{"model_type", "mixtral"}, {"num_local_experts", 8}, {"num_experts_per_tok", 2}});
  write_file(file, experts.dump());
  const json by_formula = planned({"--model", file, "--seq", "128"})["steps"][0];
  CHECK(by_formula["source"] == "formula");
  CHECK(by_formula["why_formula"].get<std::string>().find("mixture of 8 experts") != std::string::npos);
}

TEST_CASE("validate compares predictions with runs, and continues an existing table") {
  const TemporaryFolder folder;
  const std::string list = folder / "list.txt", out = folder / "table.csv";
  write_file(list,
             "# two that run, one that runs out\n"
             "model=tiny batch=1 seq=64 device=cpu\n"
             "model=tiny batch=1 seq=64 device=cpu checkpointing=layer loss=flce\n"
             "model=tiny batch=2 seq=128 device=cpu cap=70MiB\n");
  const auto validate = [&] {
    RunOptions options;
    options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
    return run_headroom({"validate", "--list", list, "--out", out}, options);
  };
  const Ran first = validate();
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(first.out.find("3 compared, 1 of them ran out of memory, 0 did not end as predicted") != std::string::npos);
  CHECK(first.out.find("peak of allocated      equal in 3 of 3") != std::string::npos);
  const std::string table = read_file(out);
  CHECK(std::count(table.begin(), table.end(), '\n') == 4);

  // The configuration of a truncated row runs again.
  write_file(out, table.substr(0, table.size() - 30));
  const Ran second = validate();
  CHECK(second.exit_code == 0);
  CHECK(second.err.find("1 of 3") != std::string::npos);
  CHECK(second.err.find("2 of 3") == std::string::npos);
  const std::string again = read_file(out);
  CHECK(std::count(again.begin(), again.end(), '\n') == 4);

  write_file(list, "model=tiny\nbatch=none\n");
  const Ran broken = validate();
  CHECK(broken.exit_code == 2);
  CHECK(broken.err.find("line 2") != std::string::npos);
  write_file(out, "something else\n");
  write_file(list, "model=tiny device=cpu\n");
  CHECK(validate().exit_code == 2);
  CHECK(read_file(out) == "something else\n");
}

TEST_CASE("validate refuses a missing device, and a device next to a list") {
  const TemporaryFolder folder;
  const std::string list = folder / "list.txt";
  write_file(list, "model=tiny device=cpu\n");
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
  const Ran unknown = run_headroom({"validate", "--device", "cpus"}, options);
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err.find("cpus") != std::string::npos);
  const Ran both = run_headroom({"validate", "--list", list, "--device", "cpu"}, options);
  CHECK(both.exit_code == 2);
  CHECK(both.err.find("remove --seed, --count, --ranks and --device") != std::string::npos);
}

TEST_CASE("a plan for other code uses our step with that code's settings, and names them") {
  const auto [code, settings] =
      GENERATE(std::pair("hf", std::vector<std::string>{"loss=hf_2025", "keep_output=off"}),
               std::pair("liger", std::vector<std::string>{"loss=flce", "loss_mode=report", "fused.rms_norm=on",
                                                           "fused.rope=on", "fused.swiglu=on", "fused.keep=on"}));
  std::vector<std::string> words{"--batch", "2", "--seq", "64", "--code", code};
  words.insert(words.begin(), kSmallModel.begin(), kSmallModel.end());
  const Ran other = plan(words);
  INFO(other.err);
  REQUIRE(other.exit_code == 0);
  words.back() = "headroom";
  std::string named;
  for (const std::string& setting : settings) {
    words.insert(words.end(), {"--set", setting});
    named += " " + setting;
  }
  CHECK(other.err.find("using our step with" + named + ":") != std::string::npos);
  CHECK(plan(words).out == other.out);
  words = {"--code", "theirs"};
  const Ran wrong = plan(words);
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("use headroom, hf or liger") != std::string::npos);
}

TEST_CASE("a plan for other code is within 1 % of that code's measured peak") {
  // docs/results/prediction-h200.md: Llama 3.2 1B in bf16, sequences of 1,024, on an H200.
  struct Measured {
    const char *code, *checkpointing;
    std::array<double, 3> bytes;  // with 1, 4 and 16 sequences
  };
  const Measured measured = GENERATE(Measured{"hf", "off", {11'004'306'260., 20'975'907'924., 61'456'856'148.}},
                                     Measured{"hf", "layer", {11'004'306'260., 14'121'898'836., 34'040'795'988.}},
                                     Measured{"liger", "off", {10'483'163'988., 13'100'041'300., 28'276'704'340.}},
                                     Measured{"liger", "layer", {10'483'163'988., 10'532'876'332., 11'445'224'292.}});
  CAPTURE(measured.code, measured.checkpointing);
  const json steps =
      planned({"--model", "llama-3.2-1b", "--code", measured.code, "--seq", "1024", "--batch", "1,4,16", "--set",
               "precision=bf16", std::string("checkpointing=") + measured.checkpointing})["steps"];
  REQUIRE(steps.size() == measured.bytes.size());
  for (std::size_t i = 0; i < measured.bytes.size(); ++i) {
    CAPTURE(i);
    CHECK(steps[i]["peak_requested_bytes"].get<double>() == Approx(measured.bytes[i]).epsilon(0.01));
  }
}

TEST_CASE("validate runs both sides of a predicted border") {
  const TemporaryFolder folder;
  const std::string list = folder / "list.txt", out = folder / "borders.csv";
  const auto validate = [&] {
    RunOptions options;
    options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
    return run_headroom({"validate", "--borders", "--list", list, "--out", out}, options);
  };
  write_file(list,
             "model=tiny batch=1 seq=64 device=cpu cap=70MiB\n"
             "model=tiny batch=1 seq=64 device=cpu cap=70MiB ranks=2 zero=1\n"  // the allocator's limit, without NCCL
             "model=tiny batch=1 seq=64 device=cpu cap=1MiB\n");
  const Ran first = validate();
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  INFO(first.out);
  CHECK(first.out.find("3 largest batches compared: 3 exact, 0 off by one") != std::string::npos);
  const std::string table = read_file(out);
  CAPTURE(table);
  CHECK(table.find("cap=1MiB,,0,0\n") != std::string::npos);  // not even one sequence
  CHECK(validate().err.find("of 3") == std::string::npos);
  write_file(list, "model=tiny batch=1 seq=64 device=cpu\n");
  const Ran without_limit = validate();
  CHECK(without_limit.exit_code == 2);
  CHECK(without_limit.err.find("line 1: --borders needs a limit") != std::string::npos);
}

TEST_CASE("a figure of settings draws the plan's prediction, with equal bytes each time") {
  const TemporaryFolder first, second;
  const std::vector<std::string> step{"--model", "tiny", "--card", "2GiB"};
  for (const TemporaryFolder* out : {&first, &second}) {
    RunOptions options;
    options.environment["HEADROOM_ENGINE"] = std::string(HEADROOM_BIN_DIR) + "/headroom-engine";
    std::vector<std::string> words{"figures",
                                   "memory_timeline",
                                   "--of",
                                   "batch=2",
                                   "precision=bf16",
                                   "--out",
                                   out->path().string(),
                                   "--format",
                                   kWritesPdf ? "svg,pdf,png,csv,json" : "svg,csv,json"};
    words.insert(words.end(), step.begin(), step.end());
    const Ran ran = run_headroom(words, options);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
  }
  REQUIRE(first.files().size() == (kWritesPdf ? 6 : 4));
  CHECK(first.files() == second.files());
  for (const std::string& name : first.files()) CHECK(read_file(first / name) == read_file(second / name));
  const json data = json::parse(read_file(first / "memory_timeline__tiny_batch-2_precision-bf16_2.00-gib.json"));
  CHECK(data["source"] == "predicted");
  const json plan =
      planned({"--model", "tiny", "--card", "2GiB", "--batch", "2", "--set", "precision=bf16"})["steps"][0];
  CHECK(data["peak"]["bytes"] == plan["peak_bytes"]);
  CHECK(data["provenance"]["card.verdict"] == plan["cards"][0]["verdict"]);
  CHECK(data["provenance"]["card.left_bytes"] == std::to_string(plan["cards"][0]["left_bytes"].get<std::int64_t>()));
  CHECK(data["provenance"]["card.tensor_bytes"] == std::to_string(plan["peak_bytes"].get<std::int64_t>()));
}
