// Code shared by the window and the command line.

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "app/common/assets.h"
#include "app/common/kept_runs.h"
#include "app/common/session.h"
#include "app/common/settings.h"
#include "app/common/summary.h"
#include "app/common/sweep.h"
#include "demos/experiments/demo.h"
#include "demos/llama/config.h"
#include "demos/predict/step_settings.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::app;
using tests::TemporaryFolder;
using Words = std::vector<std::string>;

TEST_CASE("A command splits into words, and quotes keep blanks") {
  CHECK(split_words("ssh host headroom-engine") == Words{"ssh", "host", "headroom-engine"});
  CHECK(split_words("  'a b'  \"c d\"e \\  ") == Words{"a b", "c de", " "});
  CHECK(split_words("''") == Words{""});
  CHECK(split_words(" ").empty());
}

TEST_CASE("An engine text that names a program becomes a command, any other a reason") {
  CHECK_FALSE(choose_engine("/nowhere/headroom-engine --flag"));
  CHECK(choose_engine("/nowhere/headroom-engine").reason.find("/nowhere/headroom-engine") != std::string::npos);
  const EngineChoice remote = choose_engine("ssh host headroom-engine");
  REQUIRE(remote);
  CHECK(remote.command->arguments == Words{"ssh", "host", "headroom-engine"});
  CHECK(as_typed(*remote.command) == "ssh host headroom-engine");
}

TEST_CASE("A run's demo decides which engine process it needs") {
  const auto request = [](const char* demo, const Words& settings) {
    record::Params params(experiments::find_demo(demo)->schema);
    for (const std::string& setting : settings) REQUIRE(params.set_assignment(setting).ok());
    return run_request(demo, params);
  };
  CHECK_FALSE(request("train_step", {}).engine.traced);
  CHECK(request("train_step", {"trace=on"}).engine.traced);
  CHECK(request("launches", {}).engine.traced);
  CHECK_FALSE(request("train_step", {"trace=on"}).engine.patience);
  CHECK_FALSE(request("train_step", {"ranks=2", "deadline=0"}).engine.patience);
  CHECK(request("train_step", {"ranks=2", "deadline=60"}).engine.patience == std::chrono::seconds(60));
  CHECK(request("edit_kernel", {"deadline=7"}).engine.patience == std::chrono::seconds(7));
  CHECK(request("train_step", {"device=cuda"}).device == record::DeviceKind::kGpu);
  CHECK(request("train_step", {"device=auto"}).device == record::DeviceKind::kCpu);
}

TEST_CASE("Saved settings are read back, and keep values that another window wrote") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "headroom" / "settings.json";
  SettingsFile first(path), second(path);
  CHECK(first.notice().empty());

  Settings page = first.values();
  page.page = "where_memory_goes";
  first.save(page);
  Settings scale = second.values();
  scale.font_scale = 2;
  second.save(scale);

  const SettingsFile third(path);
  CHECK(third.values().page == "where_memory_goes");
  CHECK(third.values().font_scale == 2);
  CHECK(folder.files() == Words{"headroom/settings.json"});
}

TEST_CASE("Runs are stored by page, and the oldest are deleted to make room") {
  const TemporaryFolder folder;
  const auto run = tests::small_recording();
  const KeptRuns kept(folder.path() / "runs", 3);
  Words names;
  for (int i = 0; i < 4; ++i) {
    names.push_back(kept.keep(run, i % 2 == 0 ? "low_rank" : "offload").value());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // file names begin with timestamps
  }
  CHECK(kept.of_page("low_rank") == Words{names[2]});
  CHECK(kept.of_page("offload") == Words{names[1], names[3]});
  CHECK(load_recording(kept.path_of(names[3])).value()->info().demo == "train_step");
  std::ofstream(folder.path() / "runs" / "mine.hrec") << "not a run that was kept";
  kept.forget(names[1]);
  kept.forget("mine.hrec");
  CHECK(folder.files() == Words{"runs/" + names[2], "runs/" + names[3], "runs/mine.hrec"});

  const auto size = std::filesystem::file_size(kept.path_of(names[3]));
  const KeptRuns small(folder.path() / "runs", 50, size);
  const std::string last = small.keep(run, "offload").value();  // the newest run stays, whatever its size
  CHECK(small.of_page("low_rank").empty());
  CHECK(small.of_page("offload") == Words{last});
  CHECK(KeptRuns({}).keep(run, "offload").value().empty());
}

TEST_CASE("Settings keep keys of a newer version and replace bad values one by one") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "settings.json";
  tests::write_file(path, R"({"theme": "dark", "font_scale": 100, "page": 3, "later": [1, 2]})");
  SettingsFile file(path);
  CHECK(file.values() == Settings{"", "dark", kMaxFontScale});
  CHECK(file.notice().find("later is not a key of this version") != std::string::npos);

  Settings light = file.values();
  light.theme = "light";
  file.save(light);
  const auto written = nlohmann::json::parse(tests::read_file(path));
  CHECK(written["theme"] == "light");
  CHECK(written["later"] == nlohmann::json{1, 2});
}

TEST_CASE("An invalid entry of a settings file is named with its place, and the rest is read") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "settings.json";
  const auto notice_of = [&](const std::string& text) {
    tests::write_file(path, text);
    return SettingsFile(path).notice();
  };
  CHECK(notice_of(R"({"page": "offload", "theme": "dark", "font_scale": 1.125, "pages": {"offload": {"read": true,
      "answer": "skipped", "settings": {"batch": "8"}, "pin": "none", "second": "2 said 5"}}})")
            .empty());
  const std::string theme = notice_of(R"({"theme": "pink"})");
  CHECK(theme.starts_with(path.string() + ":\ntheme \"pink\" is not valid"));
  CHECK(theme.find("light is shown") != std::string::npos);
  CHECK(notice_of(R"({"font_scale": 9})").find("from 0.75 to 4") != std::string::npos);
  CHECK(notice_of(R"({"font_size": 9})").find("font_size is not a key of this version") != std::string::npos);
  const std::string page = notice_of(R"({"pages": {"offload": {"settings": {"batch": 8}, "reed": true}}})");
  CHECK(page.find("page offload: batch 8 is not valid: the default is used.") != std::string::npos);
  CHECK(page.find("page offload: reed is not a key") != std::string::npos);
  CHECK(notice_of(R"({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5})").find("And 2 more.") != std::string::npos);
}

TEST_CASE("Settings whose file cannot be read or written stay in memory, with a notice") {
  const TemporaryFolder folder;
  const std::filesystem::path broken = folder.path() / "broken.json";
  tests::write_file(broken, "{");
  CHECK_FALSE(SettingsFile(broken).notice().empty());

  SettingsFile below_a_file(broken / "settings.json");  // broken.json is not a folder
  Settings dark = below_a_file.values();
  dark.theme = "dark";
  below_a_file.save(dark);
  CHECK(below_a_file.values().theme == "dark");
  CHECK(below_a_file.notice().find("until the window closes") != std::string::npos);
  CHECK(tests::read_file(broken) == "{");

  SettingsFile homeless{std::filesystem::path()};
  homeless.save(dark);
  CHECK(homeless.values().theme == "dark");
}

TEST_CASE("A summary says when a checkpoint was given bytes as token ids") {
  record::Recording recording = tests::small_recording();
  recording.append(record::MetricSample{.value = 9.4, .step = 0, .kind = record::MetricKind::kLoss});
  RunSummary summary = summarise(record::Ledger(recording));
  CHECK_FALSE(summary.bytes_as_tokens);
  CHECK(to_text(summary).find("token id") == std::string::npos);
  record::RunInfo info = recording.info();
  info.params["weights"] = "checkpoint";
  record::Recording checkpoint(info);
  checkpoint.append(record::MetricSample{.value = 9.4, .step = 0, .kind = record::MetricKind::kLoss});
  summary = summarise(record::Ledger(checkpoint));
  CHECK(summary.bytes_as_tokens);
  CHECK(to_text(summary).find("Each byte of the text was used as a token id") != std::string::npos);
  CHECK(nlohmann::json::parse(to_json(summary))["bytes_as_tokens"] == true);
  info.provenance["tokens"] = "tokenizer.json of checkpoint";
  record::Recording tokenized(info);
  tokenized.append(record::MetricSample{.value = 9.4, .step = 0, .kind = record::MetricKind::kLoss});
  summary = summarise(record::Ledger(tokenized));
  CHECK_FALSE(summary.bytes_as_tokens);
  CHECK(to_text(summary).find("tokens    tokenizer.json of checkpoint\n") != std::string::npos);
  CHECK(to_text(summary).find("token id") == std::string::npos);
  CHECK(to_text(summary).find("saved") == std::string::npos);
  info.provenance["saved"] = "FOLDER";
  info.provenance["resumed"] = "after 10 steps of OTHER";
  const std::string kept = to_text(summarise(record::Ledger(record::Recording(info))));
  CHECK(kept.find("  resumed   after 10 steps of OTHER\n  saved     FOLDER\n") != std::string::npos);
  info.provenance["tokens"] = "bytes of a.txt";
  CHECK(summarise(record::Ledger(record::Recording(info))).bytes_as_tokens);
  info.params["weights"] = "shape/config.json";  // random weights have no tokenizer
  CHECK_FALSE(summarise(record::Ledger(record::Recording(info))).bytes_as_tokens);
}

TEST_CASE("A run's settings are numbers in JSON, with the dimensions of its model") {
  record::RunInfo info = tests::small_recording().info();
  info.demo = "train_step";
  record::Params params(experiments::find_demo("train_step")->schema);
  REQUIRE(params.set("batch", "2").ok());
  const auto settings = [&] {
    info.params = params.to_map();
    return nlohmann::json::parse(to_json(summarise(record::Ledger(record::Recording(info)))))["params"];
  };
  REQUIRE(params.set("model", "llama-3.2-1b").ok());
  CHECK(settings()["batch"] == 2);
  CHECK(settings()["learning_rate"] == 1e-3);
  CHECK(settings()["cap"] == 0);
  CHECK(settings()["optimizer"] == "adamw");
  CHECK(settings()["trace"] == "off");
  CHECK(settings()["hidden_size"] == 2048);
  CHECK(settings()["vocab_size"] == 128256);
  REQUIRE(params.set("model", "custom").ok());
  CHECK(settings()["hidden_size"] == 256);
  REQUIRE(params.set("weights", "config.json").ok());
  CHECK(settings()["hidden_size"].is_null());  // the recording does not say
  info.provenance = predict::shape_facts(*llama::find_config("llama-3-8b"));
  CHECK(settings()["hidden_size"] == 4096);
  CHECK(settings()["num_layers"] == 32);
  info.demo = "of another version";
  CHECK(settings()["batch"] == "2");
}

TEST_CASE("A summary lists the optimizer settings that are not defaults") {
  record::RunInfo info = tests::small_recording().info();
  info.demo = "train_step";
  info.params = {{"beta1", "0.9"}, {"learning_rate", "0.001"}, {"galore_rank", "8"}, {"batch", "2"}};
  const auto text = [&] { return to_text(summarise(record::Ledger(record::Recording(info)))); };
  CHECK(text().find("optimizer ") == std::string::npos);  // a rank means nothing without GaLore
  info.params["beta1"] = "0.8";
  info.params["weight_decay"] = "0";
  CHECK(text().find("  optimizer beta1=0.8, weight_decay=0\n") != std::string::npos);
  info.demo = "bandwidth";
  CHECK(text().find("optimizer ") == std::string::npos);
}

TEST_CASE("A summary says how many steps overflowed, and at which loss scale") {
  record::Recording recording = tests::small_recording();
  const auto add = [&](record::MetricKind kind, std::int32_t step, double value) {
    recording.append(record::MetricSample{.value = value, .step = step, .kind = kind});
  };
  CHECK(to_text(summarise(record::Ledger(recording))).find("skipped") == std::string::npos);
  const std::array<double, 4> scales{65'536, 32'768, 16'384, 16'384}, skipped{1, 2, 2, 2};
  for (std::int32_t step = 0; step < 4; ++step) {
    add(record::MetricKind::kLossScale, step, scales[static_cast<std::size_t>(step)]);
    add(record::MetricKind::kSkippedSteps, step, skipped[static_cast<std::size_t>(step)]);
  }
  const RunSummary summary = summarise(record::Ledger(recording));
  CHECK(to_text(summary).find("2 steps skipped: overflow at loss scale 65,536\n") != std::string::npos);
  const auto json = nlohmann::json::parse(to_json(summary));
  CHECK(json["skipped_steps"] == 2);
  CHECK(json["loss_scale"] == 16'384);
}

TEST_CASE("A summary has the loss of every step except skipped and non-finite ones") {
  record::Recording recording(tests::small_recording().info());
  const auto add = [&](record::MetricKind kind, std::int32_t step, double value) {
    recording.append(record::MetricSample{.value = value, .step = step, .kind = kind});
  };
  CHECK(nlohmann::json::parse(to_json(summarise(record::Ledger(recording))))["losses"] == nlohmann::json::array());
  const std::array<double, 4> losses{5.5, 5.25, std::nan(""), 4.75}, skipped{1, 1, 1, 2};
  for (std::int32_t step = 0; step < 4; ++step) {
    add(record::MetricKind::kLoss, step, losses[static_cast<std::size_t>(step)]);
    add(record::MetricKind::kSkippedSteps, step, skipped[static_cast<std::size_t>(step)]);
  }
  add(record::MetricKind::kLoss, 4, 4.5);
  const RunSummary summary = summarise(record::Ledger(recording));
  CHECK_FALSE(summary.losses.at(2));
  const auto json = nlohmann::json::parse(to_json(summary));
  CHECK(json["losses"] == nlohmann::json::array({nullptr, 5.25, nullptr, nullptr, 4.5}));
  CHECK(json["loss"] == 4.5);
}

TEST_CASE("A summary has the losses on held-out text with their step numbers") {
  record::RunInfo info = tests::small_recording().info();
  info.provenance["held_out"] = "the last 100 of 1000 tokens";
  record::Recording recording(info);
  CHECK(nlohmann::json::parse(to_json(summarise(record::Ledger(recording))))["evaluation_losses"] ==
        nlohmann::json::array());
  CHECK(to_text(summarise(record::Ledger(recording))).find("held out") == std::string::npos);
  const auto add = [&](std::int32_t step, double value) {
    recording.append(record::MetricSample{.value = value, .step = step, .kind = record::MetricKind::kEvaluationLoss});
  };
  add(9, 4.5);
  add(19, 4.25);
  CHECK(to_text(summarise(record::Ledger(recording)))
            .find("held out  loss 4.2500 after step 20: the last 100 of 1000 tokens\n") != std::string::npos);
  add(29, std::nan(""));
  const auto json = nlohmann::json::parse(to_json(summarise(record::Ledger(recording))));
  CHECK(json["evaluation_losses"].dump() ==
        R"([{"loss":4.5,"steps":10},{"loss":4.25,"steps":20},{"loss":null,"steps":30}])");
  CHECK(to_text(summarise(record::Ledger(recording))).find("loss that is not a number after step 30") !=
        std::string::npos);
}

TEST_CASE("A summary lists the bandwidths that a run measured, and no other measurement") {
  record::Recording recording = tests::small_recording();
  recording.append(record::Measurement{.panel = "bandwidth",
                                       .variant = "to_host",
                                       .storage = "locked",
                                       .label = "GPU to host",
                                       .median = 2e7,
                                       .bytes = 1'000'000'000});
  recording.append(
      record::Measurement{.panel = "rms_norm", .variant = "copy", .label = "else", .median = 1, .bytes = 1});
  const RunSummary summary = summarise(record::Ledger(recording));
  const auto json = nlohmann::json::parse(to_json(summary));
  REQUIRE(json["bandwidth"].size() == 1);
  CHECK(json["bandwidth"][0]["what"] == "to_host");
  CHECK(json["bandwidth"][0]["gigabytes_per_second"] == 50.0);
  CHECK(to_text(summary).find("GPU to host                    locked        50.0 GB/s\n") != std::string::npos);
  CHECK(to_text(summary).find("else") == std::string::npos);
}

TEST_CASE("A summary reports the bandwidth of the optimizer's file over all steps") {
  record::Recording recording = tests::small_recording();
  for (const double time : {1e9, 3e9}) {
    recording.append(record::Measurement{
        .panel = "offload_file", .variant = "file_read", .storage = "direct", .median = time, .bytes = 4'000'000'000});
    recording.append(record::Measurement{
        .panel = "offload_file", .variant = "file_write", .storage = "direct", .median = time, .bytes = 2'000'000'000});
  }
  const RunSummary summary = summarise(record::Ledger(recording));
  CHECK(to_text(summary).find("state's file to host           direct         2.0 GB/s\n") != std::string::npos);
  CHECK(to_text(summary).find("host to state's file           direct         1.0 GB/s\n") != std::string::npos);
  const auto json = nlohmann::json::parse(to_json(summary));
  REQUIRE(json["bandwidth"].size() == 2);
  CHECK(json["bandwidth"][1]["what"] == "file_write");
  CHECK(json["bandwidth"][1]["bytes"] == 4'000'000'000);
}

TEST_CASE("A summary reports the host's peak separately, and the warnings of a completed run") {
  record::Recording recording = tests::small_recording();
  const std::string without = to_text(summarise(record::Ledger(recording)));
  CHECK(without.find("beside the device") == std::string::npos);
  const auto event = [&](std::uint64_t storage, record::EventKind kind, record::Bytes live) {
    record::MemEvent made;
    made.storage = storage;
    made.kind = kind;
    made.device = record::DeviceKind::kHost;
    made.requested = made.block = 32 * record::kMiB;
    made.allocator_allocated = live;
    recording.append(std::span(&made, 1));
  };
  event(1'000'001, record::EventKind::kAlloc, 32 * record::kMiB);
  event(1'000'002, record::EventKind::kAlloc, 64 * record::kMiB);
  event(1'000'002, record::EventKind::kFree, 32 * record::kMiB);
  recording.set_outcome({record::OutcomeKind::kCompleted, "Copies were slow.", {}});
  const RunSummary summary = summarise(record::Ledger(recording));
  CHECK(summary.peak.allocated == tests::kSmallPeak);
  CHECK(summary.peak.host == 64 * record::kMiB);
  // A sweep's point reports the same peak, even if an allocation's events were dropped.
  event(1'000'003, record::EventKind::kAlloc, 128 * record::kMiB);
  CHECK(summarise(record::Ledger(recording)).peak.host == 128 * record::kMiB);
  CHECK(sweep_point_of({.params = record::Params(experiments::find_demo("train_step")->schema)}, recording).peak.host ==
        128 * record::kMiB);
  CHECK(nlohmann::json::parse(to_json(summary))["peak_host_bytes"] == 64 * record::kMiB);
  CHECK(to_text(summary).find("64.00 MiB beside the device\n") != std::string::npos);
  CHECK(to_text(summary).find("note      Copies were slow.\n") != std::string::npos);
}

TEST_CASE("A summary reports the ledger's peak, the speed after the first step and the last loss") {
  const record::Recording recording = tests::small_recording();
  const record::Ledger ledger(recording);
  const RunSummary summary = summarise(ledger);
  CHECK(summary.peak.allocated == tests::kSmallPeak);
  CHECK(summary.allocator_peak == tests::kSmallPeak);
  CHECK(summary.steps == 2);
  CHECK(summary.device == "CPU, 2 cores");

  const auto json = nlohmann::json::parse(to_json(summary));
  CHECK(json["outcome"] == "completed");
  CHECK(json["peak_bytes"] == tests::kSmallPeak);
  CHECK(json["peak_requested_bytes"] == tests::kSmallPeak);
  CHECK(json["peak_reserved_bytes"] == 0);
  CHECK(json["peak_by_category"]["weights"] == 4 * record::kMiB);
  CHECK(json["peak_by_category"]["optimizer_state"] == 8 * record::kMiB);
  CHECK(json["peak_by_category"]["activations"] == 4 * record::kMiB);
  CHECK(json["peak_by_category"]["logits"] == 16 * record::kMiB);
  CHECK(json["tokens_per_second"] == 200.0);
  CHECK(json["loss"] == 5.25);
  CHECK(json["device"] == "CPU, 2 cores");
  CHECK(json["provenance"]["torch"] == "2.11.0");
}

TEST_CASE("Out of memory is explained by operator, phase, sizes and what was alive") {
  const record::Recording recording = tests::out_of_memory_recording();
  const record::Ledger ledger(recording);
  const std::string text = to_text(summarise(ledger));
  for (const char* part : {"lm_head", "16.00 MiB", "loss", "24.00 MiB", "optimizer state 8.00 MiB"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(nlohmann::json::parse(to_json(summarise(ledger)))["out_of_memory"]["requested_bytes"] == 16 * record::kMiB);
}

TEST_CASE("a prediction is equal to the byte, or more or less than measured, or missing with a reason") {
  const record::Bytes measured = 1000 * record::kMiB;
  CHECK(predicted_words(measured, measured) == "1,000.00 MiB: equal to the byte");
  CHECK(predicted_words(measured + 4 * record::kMiB, measured) == "1,004.00 MiB, 0.4 % more");
  CHECK(predicted_words(900 * record::kMiB, measured) == "900.00 MiB, 10.0 % less");
  CHECK(predicted_words(measured + 512, measured) == "1,000.00 MiB, 512 B more");
  const record::Recording run = tests::small_recording();
  const RunSummary summary = summarise(record::Ledger(run));
  CHECK(to_text(summary).find("predicted") == std::string::npos);
  CHECK_FALSE(nlohmann::json::parse(to_json(summary)).contains("predicted"));
  const PredictedPeak none{.why_not = "There is no engine."}, out{.allocated = record::kMiB, .out_of_memory = true};
  CHECK(to_text(summary, none).find("  predicted no: There is no engine.\n") != std::string::npos);
  CHECK(nlohmann::json::parse(to_json(summary, none))["predicted"] ==
        nlohmann::json{{"peak_bytes", nullptr}, {"reason", "There is no engine."}});
  CHECK(to_text(summary, out).find("  predicted out of memory\n") != std::string::npos);
}
