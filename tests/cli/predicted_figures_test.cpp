// headroom figures of settings by the closed form, with the card's verdict.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom::tests;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

Ran draw_by_formula(Words words) {
  RunOptions options;
  options.environment["HEADROOM_ENGINE"] = "/no/such/engine";
  words.insert(words.begin(), "figures");
  return run_headroom(words, options);
}

}  // namespace

TEST_CASE("A figure of settings without an engine draws the closed form, says why, and has the card as its limit") {
  const TemporaryFolder out;
  const Ran ran = draw_by_formula({"memory_timeline", "--model", "llama-3.2-1b", "--of", "batch=8", "--of", "seq=1024",
                                   "--of", "precision=bf16", "--card", "RTX 4090", "--out", out.path().string(),
                                   "--format", kWritesPdf ? "svg,pdf,png,csv,json" : "svg,csv,json"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::string start = out / "memory_timeline__llama-3.2-1b_batch-8_seq-1024_precision-bf16_geforce-rtx-4090.";
  const json data = json::parse(read_file(start + "json"));
  CHECK(data["source"] == "formula");
  // 24,564 MiB less the memory of the process.
  constexpr std::int64_t kCard = 24'564LL << 20;
  const json& facts = data["provenance"];
  CHECK(facts["card.memory_bytes"] == std::to_string(kCard));
  const std::int64_t process = std::stoll(facts["card.process_bytes"].get<std::string>());
  CHECK(data["cap"]["bytes"] == kCard - process);
  CHECK(facts["card.verdict"] == "does_not_fit");
  const std::int64_t left = std::stoll(facts["card.left_bytes"].get<std::string>());
  CHECK(left == kCard - process - data["peak"]["bytes"].get<std::int64_t>());
  const std::string caption = data["caption"];
  CHECK(caption.starts_with("Does not fit on GeForce RTX 4090 by "));
  CHECK(holds(caption, "/no/such/engine"));
  CHECK(holds(read_file(start + "csv"), "# caption: " + caption));
  CHECK(holds(read_file(start + "csv"), "# card.verdict: does_not_fit"));
  CHECK(holds(read_file(start + "svg"), ">Does not fit on GeForce RTX 4090 by "));  // SVG text
}

TEST_CASE("The sentence below a figure of settings has the figure's unit and its peak") {
  const TemporaryFolder out;
  const Ran ran = draw_by_formula({"memory_timeline", "--model", "tiny", "--of", "batch=8", "--card", "NVIDIA H200",
                                   "--out", out.path().string(), "--format", "json,svg"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::string start = out / "memory_timeline__tiny_batch-8_h200-sxm.";
  const json data = json::parse(read_file(start + "json"));
  const std::string caption = data["caption"], peak = data["peak"]["label"];
  INFO(caption + "; " + peak);
  REQUIRE(peak.ends_with(" MiB"));
  CHECK(holds(caption, "tensors take " + peak.substr(5, peak.find('.') - 4)));  // "348." of "peak 348.2 MiB"
  CHECK_FALSE(holds(caption, "GiB"));
}

TEST_CASE("A shipped run with these settings is drawn under the prediction, and the difference is stated") {
  const TemporaryFolder out;
  const Ran ran =
      draw_by_formula({"memory_timeline", "--model", "llama-3.2-1b", "--of", "batch=4", "--of", "seq=1024", "--of",
                       "precision=bf16", "--card", "RTX 4090", "--out", out.path().string(), "--format", "json"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::vector<std::string> files = out.files();
  const auto drawn = std::ranges::find_if(files, [](const auto& name) { return name.starts_with("memory_timeline"); });
  REQUIRE(drawn != files.end());
  const json data = json::parse(read_file(out / *drawn));
  CHECK(data["source"] == "recorded");
  CHECK(holds(data["caption"], "Measured on NVIDIA H200: "));
  CHECK(data["provenance"]["card.verdict"] == "fits");
  CHECK(data["provenance"]["gpu"] == "NVIDIA H200");
}

TEST_CASE("A figure of settings has no verdict without a card, and changes with the batch") {
  const TemporaryFolder out;
  for (const char* batch : {"batch=1", "batch=2"}) {
    const Ran ran =
        draw_by_formula({"memory_timeline", "--of", batch, "--out", out.path().string(), "--format", "json"});
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
  }
  const json one = json::parse(read_file(out / "memory_timeline__batch-1.json")),
             two = json::parse(read_file(out / "memory_timeline__batch-2.json"));
  CHECK_FALSE(one["provenance"].contains("card.verdict"));
  CHECK(one["peak"]["bytes"].get<std::int64_t>() < two["peak"]["bytes"].get<std::int64_t>());
}

TEST_CASE("The table of formulas has the numbers of its settings") {
  const TemporaryFolder out;
  const Ran ran = draw_by_formula({"formula_table", "--model", "llama-3.2-1b", "--of", "precision=bf16", "--out",
                                   out.path().string(), "--format", "csv"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(read_file(out / "formula_table__llama-3.2-1b_precision-bf16.csv"), "1,235,814,400"));
}

TEST_CASE("Every figure that needs a card takes it from --card, and none has a parameter for it") {
  const TemporaryFolder out;
  for (const auto& [figure, word] : {std::pair{"fit_map", "On GeForce RTX 5090: "},
                                     {"recipe_steps", "on GeForce RTX 5090"},
                                     {"memory_over", "\"GeForce RTX 5090\""},
                                     {"static_bytes", "GeForce RTX 5090"},
                                     {"zero_bars", "GeForce RTX 5090"}}) {
    INFO(figure);
    const Ran ran = draw_by_formula({figure, "--card", "RTX 5090", "--out", out.path().string(), "--format", "json"});
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    CHECK(holds(read_file(out / (std::string(figure) + "__geforce-rtx-5090.json")), word));
    const Ran set = draw_by_formula({figure, "--set", "card=rtx_5090", "--out", out.path().string()});
    CHECK(set.exit_code == 2);
    CHECK(holds(set.err, "--card"));
  }
}

TEST_CASE("Incompatible settings, cards and figures are refused in one sentence") {
  const TemporaryFolder out;
  const auto refused = [&](Words more, int exit_code, const std::string& part) {
    Words words{"memory_timeline", "--out", out / "new"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = draw_by_formula(words);
    INFO(ran.err);
    CHECK(ran.exit_code == exit_code);
    CHECK(holds(ran.err, part));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK_FALSE(std::filesystem::exists(out.path() / "new"));
  };
  refused({"--of", "bach=8"}, 2, "bach");
  refused({"--of", "batch=0"}, 2, "batch");
  refused({"--of", "device=cpu"}, 2, "device");
  refused({"--of", "cap=8GiB", "--card", "24GiB"}, 2, "cap");
  refused({"--card", "RTX 4091"}, 2, "GeForce RTX 4090");
  refused({"--card", "A100"}, 2, "A100 40 GB and A100 80 GB");
  refused({"--model", "no-such-model"}, 2, "no-such-model");
  refused({"--of", "batch=8", "--from", "a.hrec"}, 2, "--from");
  refused({"--of", "optimizer_in_backward=on", "accumulate=2"}, 3, "accumulate");
  const Ran sweep = draw_by_formula({"sweep_curve", "--of", "batch=8", "--out", out / "new"});
  CHECK(sweep.exit_code == 2);
  CHECK(holds(sweep.err, "sweep_curve"));
}
