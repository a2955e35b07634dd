// headroom figures: files, names, formats, manifest, bad recordings, speed.
#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/support/catch.h"
#include "tests/support/made_sweep.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

namespace {

std::string store(const TemporaryFolder& folder, const std::string& name, const record::Recording& recording) {
  const std::string path = folder / name;
  REQUIRE(recording.write(path));
  return path;
}

RunOptions without_recordings(const TemporaryFolder& folder) {
  fs::create_directories(folder.path() / "assets");
  for (const char* part : {"fonts", "text"})
    fs::create_directory_symlink(fs::path(HEADROOM_SOURCE_DIR) / "assets" / part, folder.path() / "assets" / part);
  RunOptions options;
  options.environment["HEADROOM_ASSETS"] = folder / "assets";
  return options;
}

}  // namespace

TEST_CASE("A figure of a given recording is written in all formats") {
  if (!kWritesPdf) return say_skipped("this build cannot write PDF or PNG");
  const TemporaryFolder folder, out;
  const std::string file = store(folder, "a.hrec", small_recording());
  const Ran ran = run_headroom(
      {"figures", "memory_timeline", "--from", file, "--out", out / "deep/er", "--format", "svg,pdf,png,csv,json"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(ran.err.empty());
  CHECK(out.files() == Words{"deep/er/manifest.json", "deep/er/memory_timeline__a.csv",
                             "deep/er/memory_timeline__a.json", "deep/er/memory_timeline__a.pdf",
                             "deep/er/memory_timeline__a.png", "deep/er/memory_timeline__a.svg"});
  CHECK(holds(ran.out, out / "deep/er/memory_timeline__a.svg"));
  const std::string start = out / "deep/er/memory_timeline__a.";
  CHECK(read_file(start + "svg").starts_with("<"));
  CHECK(holds(read_file(start + "svg"), "</svg>"));
  CHECK(holds(read_file(start + "svg"), "32.0"));
  CHECK(read_file(start + "pdf").starts_with("%PDF-"));
  CHECK(read_file(start + "png").starts_with("\x89PNG"));
  CHECK(holds(read_file(start + "csv"), "logits"));
  CHECK_FALSE(json::parse(read_file(start + "json")).empty());

  const json manifest = json::parse(read_file(out / "deep/er/manifest.json"));
  REQUIRE(manifest["files"].size() == 5);
  CHECK(manifest["files"][0]["file"] == "memory_timeline__a.svg");
  CHECK(manifest["files"][0]["figure"] == "memory_timeline");
  CHECK(manifest["files"][0]["recording"] == "a");
  CHECK(manifest["files"][0]["bytes"] == read_file(start + "svg").size());
}

TEST_CASE("Every figure also names run A with --against") {
  const TemporaryFolder folder, out, alone;
  const std::string file = store(folder, "b.hrec", small_recording());
  const std::string other = store(folder, "a.hrec", out_of_memory_recording());
  const Words common{"figures", "memory_timeline", "--from", file, "--format", "csv,json,svg", "--out"};
  Words words = common;
  words.insert(words.end(), {out.path().string(), "--against", other});
  const Ran ran = run_headroom(words);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const std::string start = out / "memory_timeline__b.";
  const json data = json::parse(read_file(start + "json"));
  CHECK(data["provenance"]["run_a.outcome"] == "out_of_memory");
  CHECK(data["provenance"]["run_a.demo"] == "train_step");
  CHECK(data.contains("run_a_peak"));
  CHECK(data["lines"][0]["kind"] == "run_a");
  CHECK(holds(read_file(start + "csv"), "# run_a.outcome: out_of_memory"));
  CHECK(holds(read_file(start + "csv"), ",run_a_bytes"));
  CHECK(holds(read_file(start + "svg"), "run_a.outcome"));
  words = common;
  words.push_back(alone.path().string());
  REQUIRE(run_headroom(words).exit_code == 0);
  CHECK_FALSE(holds(read_file(alone / "memory_timeline__b.csv"), "run_a"));

  words = common;
  words.insert(words.end(), {out / "new", "--against", folder / "missing.hrec"});
  const Ran missing = run_headroom(words);
  CHECK(missing.exit_code == 2);
  CHECK(holds(missing.err, "missing.hrec"));
  CHECK_FALSE(fs::exists(out.path() / "new"));
}

TEST_CASE("The same recording gives the same bytes twice, manifest included") {
  const TemporaryFolder folder, first, second;
  const std::string file = store(folder, "a.hrec", small_recording());
  const std::string formats = kWritesPdf ? "svg,pdf,png,csv,json" : "svg,csv,json";
  for (const TemporaryFolder* out : {&first, &second})
    REQUIRE(run_headroom({"figures", "--from", file, "--out", out->path().string(), "--format", formats}).exit_code ==
            0);
  REQUIRE(first.files().size() >= (kWritesPdf ? 11 : 7));  // two figures per format, and the manifest
  CHECK(first.files() == second.files());
  for (const std::string& name : first.files()) {
    INFO(name);
    CHECK(read_file(first / name) == read_file(second / name));
  }
}

TEST_CASE("Theme, width and parameters change the file") {
  const TemporaryFolder folder, out;
  const std::string file = store(folder, "a.hrec", small_recording());
  const auto draw = [&](Words more) {
    Words words{"figures", "memory_timeline", "--from", file, "--out", out.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_headroom(words);
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
    return ran.exit_code;
  };
  draw({});
  const std::string light = read_file(out / "memory_timeline__a.svg");
  draw({"--theme", "dark"});
  CHECK(read_file(out / "memory_timeline__a__dark.svg") != light);
  CHECK(read_file(out / "memory_timeline__a.svg") == light);
  draw({"--width", "600"});
  CHECK(read_file(out / "memory_timeline__a.svg") != light);
  draw({"--set", "axis=event"});
  CHECK(read_file(out / "memory_timeline__a.svg") != light);
}

TEST_CASE("The option --size sets a width, and print is a theme") {
  const TemporaryFolder folder, out;
  const std::string file = store(folder, "a.hrec", small_recording());
  const auto draw = [&](Words more, const std::string& name) {
    Words words{"figures", "memory_timeline", "--from", file, "--out", out.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    CHECK(run_headroom(words).exit_code == 0);
    return read_file(out / name);
  };
  const std::string paper = draw({"--size", "paper"}, "memory_timeline__a.svg");
  CHECK(paper == draw({"--width", "170mm"}, "memory_timeline__a.svg"));
  CHECK(draw({"--size", "slide"}, "memory_timeline__a.svg") == draw({"--width", "900"}, "memory_timeline__a.svg"));
  const std::string print = draw({"--size", "paper", "--theme", "print"}, "memory_timeline__a__print.svg");
  CHECK(print != paper);
  CHECK(holds(print, "#000000"));
}

TEST_CASE("The report's figures are named by their numbers and drawn as on their pages") {
  const TemporaryFolder out;
  const Ran ran = run_headroom({"figures", "--report", "--out", out.path().string(), "--format", "csv"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  std::set<std::string> numbers;
  for (const std::string& file : out.files()) {
    if (!file.starts_with("report_")) continue;
    const std::string name = file.substr(7, file.find("__") - 7);  // "06_12_15"
    for (std::size_t at = 0; at < name.size(); at += 3) CHECK(numbers.insert(name.substr(at, 2)).second);
  }
  CHECK(numbers.size() == 17);
  // Figure 2 sets two parameters: weights of 7.5 billion parameters, and their 64th part.
  const std::string shards = read_file(out / "report_02__zero_bars__zero_stages.csv");
  CHECK(holds(shards, "\"Weights\",no,\"off\",15000000000,"));
  CHECK(holds(shards, "\"Weights\",no,\"3\",234375000,"));
  // Figure 13 shows two methods, figure 16 three.
  const std::string two = read_file(out / "report_13__report_batch__report_h200.csv"),
                    three = read_file(out / "report_16__report_batch__report_h200.csv");
  CHECK_FALSE(holds(two, "without FLCE"));
  CHECK(holds(three, "without FLCE"));
}

TEST_CASE("A parameter is passed to the figures that have it") {
  const TemporaryFolder folder, out;
  const std::string file = store(folder, "a.hrec", small_recording());
  const Ran ran = run_headroom({"figures", "--from", file, "--out", out.path().string(), "--set", "axis=event"});
  INFO(ran.err);  // peak_by_category has no axis
  CHECK(ran.exit_code == 0);
  // Closed-form figures need no run.
  const Words files = out.files();
  for (const char* name : {"memory_timeline__a.svg", "peak_by_category__a.svg", "loss_curves__a.svg",
                           "needle_ratio__a.svg", "static_bytes__a.svg", "manifest.json"})
    CHECK(std::find(files.begin(), files.end(), name) != files.end());
}

TEST_CASE("Bad choices are refused before anything is written") {
  const TemporaryFolder folder, out;
  const std::string file = store(folder, "a.hrec", small_recording());
  const auto refused = [&](Words more, const std::string& part) {
    Words words{"figures", "memory_timeline", "--from", file, "--out", out / "new"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_headroom(words);
    INFO(ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(holds(ran.err, part));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(out.path() / "new"));
  };
  refused({"--format", "svg,gif"}, "\"gif\"");
  refused({"--format", ""}, "--format");
  if (!kWritesPdf) refused({"--format", "svg,pdf"}, "build it with cairo and pango");
  refused({"--theme", "blue"}, "\"blue\"");
  refused({"--size", "poster"}, "\"poster\"");
  refused({"--size", "paper", "--width", "600"}, "remove --width");
  refused({"--report"}, "remove figure names");
  refused({"--width", "wide"}, "\"wide\"");
  refused({"--width", "-5"}, "\"-5\"");
  refused({"--width", "1e9"}, "\"1e9\"");
  refused({"--set", "axes=host"}, "\"axes\"");
  refused({"--set", "axis=sideways"}, "sideways");
  const Ran nowhere = run_headroom({"figures", "--from", file});
  CHECK(nowhere.exit_code == 2);
  CHECK(holds(nowhere.err, "--out"));
}

TEST_CASE("A bad recording is reported in one sentence, and nothing is drawn") {
  const TemporaryFolder folder, out;
  const std::string good = read_file(store(folder, "good.hrec", small_recording()));
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 0x40;
  write_file(folder / "damaged.hrec", damaged);
  std::string newer = good;
  newer[8] = 2;  // the major version follows an 8-byte magic
  write_file(folder / "newer.hrec", newer);
  write_file(folder / "picture.hrec", "\x89PNG\r\n\x1a\n and so on, a picture");
  write_file(folder / "empty.hrec", "");
  fs::create_directory(folder.path() / "folder.hrec");
  for (const char* name : {"missing.hrec", "damaged.hrec", "newer.hrec", "picture.hrec", "empty.hrec", "folder.hrec"}) {
    const Ran ran = run_headroom({"figures", "memory_timeline", "--from", folder / name, "--out", out / "new"});
    INFO(name << ": " << ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(holds(ran.err, name));
    if (name == std::string("newer.hrec")) CHECK(holds(ran.err, "update Headroom"));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(out.path() / "new"));
  }
}

TEST_CASE("A truncated recording is drawn up to its end, with a message") {
  const TemporaryFolder folder, out;
  const std::string whole = read_file(store(folder, "whole.hrec", small_recording()));
  write_file(folder / "cut.hrec", whole.substr(0, whole.size() - 3));
  const Ran ran =
      run_headroom({"figures", "memory_timeline", "--from", folder / "cut.hrec", "--out", out.path().string()});
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(holds(ran.err, "cut is truncated"));
  CHECK(out.files() == Words{"manifest.json", "memory_timeline__cut.svg"});
}

TEST_CASE("A recording with nothing to draw fails the figure, with the reason") {
  const TemporaryFolder folder, out;
  record::Recording nothing(small_recording().info());
  nothing.set_outcome({record::OutcomeKind::kCancelled, "Cancelled before the first step.", {}});
  const std::string file = store(folder, "nothing.hrec", nothing);
  const Ran ran = run_headroom({"figures", "memory_timeline", "--from", file, "--out", out.path().string()});
  CHECK(ran.exit_code == 1);
  CHECK(holds(ran.err, "memory_timeline of nothing"));
  CHECK(out.files() == Words{"manifest.json"});
}

TEST_CASE("An output folder that cannot be written exits with 6") {
  const TemporaryFolder folder;
  const std::string file = store(folder, "a.hrec", small_recording());
  write_file(folder / "file", "mine");
  for (const std::string& out : {folder / "file", folder / "file/below", std::string("/proc/figures")}) {
    const Ran ran = run_headroom({"figures", "memory_timeline", "--from", file, "--out", out});
    INFO(ran.err);
    CHECK(ran.exit_code == 6);
    CHECK(holds(ran.err, "The folder " + out));
  }
  CHECK(read_file(folder / "file") == "mine");
}

TEST_CASE("A disk that fills up while figures are written leaves only complete files") {
  const TemporaryFolder folder, out;
  const std::string file = store(folder, "a.hrec", small_recording());
  RunOptions options;
  options.file_size_limit = 1000;  // too small for any figure
  const Ran ran = run_headroom({"figures", "memory_timeline", "--from", file, "--out", out.path().string()}, options);
  INFO(ran.err);
  CHECK(ran.exit_code == 6);
  CHECK(holds(ran.err, "memory_timeline__a.svg"));
  for (const std::string& name : out.files()) CHECK(name == "manifest.json");
}

TEST_CASE("A tiny run replaces missing recordings, or a message says how to make one") {
  const TemporaryFolder folder, out;
  RunOptions options = without_recordings(folder);
  const Ran without = run_headroom({"figures", "--out", out.path().string()}, options);
  CHECK(without.exit_code == 2);
  CHECK(holds(without.err, "--from"));
  CHECK(out.files().empty());

  options.environment["HEADROOM_ENGINE"] = HEADROOM_SCRIPTED_ENGINE;
  const Ran made = run_headroom({"figures", "peak_by_category", "--out", out.path().string()}, options);
  INFO(made.err);
  CHECK(made.exit_code == 0);
  CHECK(out.files() == Words{"manifest.json", "peak_by_category__train_step_tiny_cpu.svg"});
}

TEST_CASE("The pages' stored recordings are drawn by default, chapter by chapter") {
  const TemporaryFolder folder, out;
  const RunOptions options = without_recordings(folder);
  const json list = json::parse(run_headroom({"list", "--json"}).out);
  const json page = list["chapters"][0]["pages"][0];
  const std::string name = page["recordings"][0];
  fs::create_directories(folder.path() / "assets" / "recordings");
  store(folder, "assets/recordings/" + name + ".hrec", small_recording());

  const Ran ran = run_headroom({"figures", "--chapter", "P", "--out", out.path().string(), "--json"}, options);
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  Words expected{"manifest.json"};
  for (const json& figure : page["figures"]) expected.push_back(figure.get<std::string>() + "__" + name + ".svg");
  std::sort(expected.begin(), expected.end());
  CHECK(out.files() == expected);
  CHECK(json::parse(ran.out)["files"].size() == page["figures"].size());
}

TEST_CASE("A page's sweep is drawn by closed form until its recording is stored") {
  const TemporaryFolder folder, out;
  const RunOptions options = without_recordings(folder);
  const json list = json::parse(run_headroom({"list", "--json"}).out);
  std::string name;
  json sweeping;
  Words expected{"manifest.json"};
  for (const json& chapter : list["chapters"])
    for (const json& page : chapter["pages"]) {
      const json& figures = page["figures"];
      if (!page.contains("sweep") || std::find(figures.begin(), figures.end(), "sweep_curve") == figures.end())
        continue;
      if (page["sweep"].contains("checkpoint_every")) sweeping = page;
      expected.push_back("sweep_curve__" + page["id"].get<std::string>() + ".csv");
    }
  REQUIRE(sweeping.contains("id"));
  std::sort(expected.begin(), expected.end());
  const std::string id = sweeping["id"], key = sweeping["sweep"].begin().key();
  const std::size_t values = sweeping["sweep"][key].size();
  const auto rows = [&](const std::string& file) {
    std::size_t found = 0;
    std::istringstream text(read_file(out / file));
    for (std::string line; std::getline(text, line);) found += line.find(",no,\"") != std::string::npos;
    return found;
  };
  const Words command{"figures", "sweep_curve", "--out", out.path().string(), "--format", "csv"};
  const Ran closed = run_headroom(command, options);
  INFO(closed.err);
  CHECK(closed.exit_code == 0);
  CHECK(out.files() == expected);
  CHECK(rows("sweep_curve__" + id + ".csv") == values);

  fs::create_directories(folder.path() / "assets" / "recordings");
  const std::string stored = sweeping["recordings"].back();
  store(folder, "assets/recordings/" + stored + ".hrec", tests::made_checkpoint_sweep());
  CHECK(run_headroom(command, options).exit_code == 0);
  CHECK(rows("sweep_curve__" + stored + ".csv") == 3 * 4);  // three curves: total, activations, speed
  CHECK(holds(run_headroom({"page", id}, options).out,
              "\"by closed form\",no,\"16\""));  // the sweep's settings, not the page's
}

TEST_CASE("All figures of all shipped recordings are written, except those without data, without failing") {
  const TemporaryFolder out;
  const Ran ran = run_headroom({"figures", "--out", out / "all"});
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  const Words files = out.files();
  for (const auto& entry : fs::directory_iterator(fs::path(HEADROOM_SOURCE_DIR) / "assets" / "recordings")) {
    const auto run = record::Recording::read(entry.path());
    REQUIRE(run.ok());
    // Rates belong to no page.
    const bool rates = run.value().info().demo == "product_rates";
    const std::string name = rates ? "product_rates__" : "__" + entry.path().stem().string() + ".svg";
    INFO(name);
    CHECK(std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return rates ? fs::path(file).filename().string().starts_with(name) : file.ends_with(name);
    }));
  }
}

TEST_CASE("Ctrl-C keeps the complete files") {
  const TemporaryFolder folder, out;
  RunOptions options = without_recordings(folder);
  options.environment["HEADROOM_ENGINE"] = HEADROOM_SCRIPTED_ENGINE;
  options.environment["HEADROOM_SCRIPT"] = "cancelled";
  options.send_interrupt_at = "step 1 of 2";
  const Ran ran = run_headroom({"figures", "--out", out.path().string()}, options);
  CHECK(ran.exit_code == 130);
  CHECK(out.files().empty());
}
