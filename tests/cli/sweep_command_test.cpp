// `headroom sweep` and `headroom report` with a scripted engine.
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/cli/support/with_engine.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
using Words = std::vector<std::string>;

TEST_CASE("a file that a sweep cannot use is bad input, in one sentence, and nothing is written") {
  const TemporaryFolder folder;
  const auto one_sentence = [](const Ran& ran, const std::string& part) {
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(holds(ran.err, part));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  };
  one_sentence(run_headroom({"sweep", "train_step", "--over", "batch=1,4", "--set", "weights=" + (folder / "none"),
                             "--record", folder / "s.hrec"},
                            with_engine("completed")),
               "it does not exist");
  one_sentence(run_headroom({"report", "--quick", "--set", "data=" + (folder / "none"), "--out", folder / "report"},
                            with_engine("completed")),
               "There is no data file");
  CHECK(folder.files().empty());
}

TEST_CASE("a swept setting cannot also be set") {
  const TemporaryFolder folder;
  for (const Words& command :
       {Words{"sweep", "train_step", "--over", "batch=1,4", "--set", "batch=2"},
        Words{"report", "--quick", "--out", folder / "report", "--set", "steps=2", "loss=plain"}}) {
    const Ran ran = run_headroom(command, with_engine("completed"));
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(holds(ran.err, "at each point; remove it."));
  }
  CHECK(folder.files().empty());
}

TEST_CASE("the same refusal of many points is reported once") {
  const Ran ran = run_headroom({"sweep", "train_step", "--over", "batch=1,2,3", "--set", "offload.checkpoints=on"},
                               with_engine("completed"));
  CHECK(ran.exit_code == 3);
  CHECK(holds(ran.err, "batch=1 and 2 more: offload.checkpoints=on cannot be combined with"));
  CHECK_FALSE(holds(ran.err, "batch=2"));
}

TEST_CASE("headroom sweep runs, prints a table or JSON, and continues its file") {
  const TemporaryFolder folder;
  const std::string file = folder / "s.hrec";
  const Words command{"sweep", "train_step", "--over", "batch=1,4", "--record", file};
  const Ran ran = run_headroom(command, with_engine("completed"));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  for (const char* part : {"batch=1", "batch=4", "done", "32.00 MiB", "200.0", "5.2500"}) CHECK(holds(ran.out, part));
  Words as_json = command;
  as_json.push_back("--json");
  const Ran again = run_headroom(as_json, with_engine("silent_death"));  // no engine is needed
  REQUIRE(again.exit_code == 0);
  const json document = json::parse(again.out);
  REQUIRE(document["points"].size() == 2);
  CHECK(document["points"][1]["params"]["batch"] == 4);
  CHECK(document["points"][1]["peak_bytes"] == kSmallPeak);
  CHECK(document["planned"] == 2);
  CHECK(holds(again.err, "2 of 2 points are already in"));
  const Ran other =
      run_headroom({"sweep", "train_step", "--over", "batch=1,8", "--record", file}, with_engine("completed"));
  CHECK(other.exit_code == 2);
  CHECK(holds(other.err, "--restart"));
}

TEST_CASE("headroom sweep keeps its exit codes") {
  CHECK(run_headroom({"sweep"}).exit_code == 2);
  CHECK(run_headroom({"sweep", "train_stp", "--over", "batch=1"}).exit_code == 2);
  const Ran nothing = run_headroom({"sweep", "train_step"});
  CHECK(nothing.exit_code == 2);
  CHECK(nothing.err.find("Name a parameter to sweep over") != std::string::npos);
  CHECK(run_headroom({"sweep", "train_step", "--over", "batch=1", "--order", "flce"}).exit_code == 2);
  CHECK(run_headroom({"sweep", "ladder", "--over", "batch=1"}).exit_code == 2);
  const Words one{"sweep", "train_step", "--over", "batch=1,4"};
  CHECK(run_headroom(one, with_engine("out_of_memory")).exit_code == 0);  // a result
  CHECK(run_headroom(one, with_engine("killed")).exit_code == 7);
  const Ran refused = run_headroom({"sweep", "train_step", "--over", "batch=1,4", "--set", "offload.parameters=on"},
                                   with_engine("completed"));
  CHECK(refused.exit_code == 3);
  CHECK(holds(refused.err, "offload.parameters=on cannot be combined with"));
  Words into = one;
  into.insert(into.end(), {"--record", "/no/such/folder/s.hrec"});
  CHECK(run_headroom(into, with_engine("completed")).exit_code == 6);
  Words limited = one;
  limited.insert(limited.end(), {"--time-limit", "0.5"});
  CHECK(run_headroom(limited, with_engine("cancelled")).exit_code == 5);
  RunOptions interrupt = with_engine("cancelled");
  interrupt.send_interrupt_at = "step 1 of 2";
  CHECK(run_headroom(one, interrupt).exit_code == 130);
}

TEST_CASE("headroom sweep ladder takes an order") {
  const Ran ran = run_headroom({"sweep", "ladder", "--order", "bf16,flce", "--json"}, with_engine("completed"));
  REQUIRE(ran.exit_code == 0);
  const json points = json::parse(ran.out)["points"];
  REQUIRE(points.size() == 3);
  CHECK(points[0]["label"] == "naive");
  CHECK(points[1]["params"]["precision"] == "bf16");
  CHECK(points[1]["params"]["loss"] == "plain");
  CHECK(points[2]["params"]["loss"] == "flce");
  CHECK(run_headroom({"sweep", "ladder", "--order", "bf61"}).exit_code == 2);
}

TEST_CASE("headroom report writes its sweep, figures in every format, tables and words") {
  const TemporaryFolder folder;
  const std::string out = folder / "report";
  const Ran ran = run_headroom({"report", "--quick", "--out", out}, with_engine("completed"));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Words files = folder.files();
  const auto has = [&](const std::string& name) {
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) { return file.ends_with(name); });
  };
  for (const char* figure : {"needle_ratio__figure_7", "report_batch__figure_13", "report_sequence__figure_14",
                             "report_batch__figure_16", "report_sequence__figure_17"})
    for (const char* format : {".svg", ".csv", ".json", ".pdf", ".png"}) {
      INFO(figure << format);
      CHECK((has(std::string(figure) + format) || (!kWritesPdf && (format[1] == 'p'))));
    }
  CHECK(has("memory_timeline__liger_all_b4_t128_beside_hf.svg"));
  CHECK(has("liger_all_b4_t128.hrec"));
  CHECK(holds(read_file(out + "/report.md"), "| hf | 1 × 128 |"));
  CHECK(holds(ran.out, "liger_without_flce"));

  const Ran again = run_headroom({"report", "--quick", "--out", out, "--json"}, with_engine("silent_death"));
  REQUIRE(again.exit_code == 0);
  const json document = json::parse(again.out);
  CHECK(document["points"].size() == document["planned"]);
  CHECK(document["files"]["files"].size() > 20);
  CHECK(run_headroom({"report"}).exit_code == 2);
  CHECK(run_headroom({"report", "--quick", "--out", "/proc/no/folder"}).exit_code == 6);
}

TEST_CASE("a report without measurements writes no figures") {
  const TemporaryFolder folder;
  const Ran refused = run_headroom({"report", "--quick", "--out", folder / "refused", "--set", "cuda_graph=on"},
                                   with_engine("completed"));
  CHECK(refused.exit_code == 3);
  CHECK(holds(refused.err, "cuda_graph=on cannot be combined with"));
  const Ran elsewhere =
      run_headroom({"report", "--quick", "--out", folder / "no_gpu", "--device", "cuda"}, with_engine("completed"));
  CHECK(elsewhere.exit_code == 3);
  for (const std::string& file : folder.files()) CHECK(file.ends_with("report.hrec"));
  CHECK_FALSE(std::filesystem::exists(folder / "no_gpu/timelines"));
}
