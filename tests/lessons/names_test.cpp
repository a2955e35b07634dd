// Displayed names of operators, and of what is alive.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "demos/record/scope.h"
#include "lessons/axes.h"
#include "lessons/figure.h"
#include "lessons/names.h"
#include "lessons/shown_unit.h"
#include "lessons/steps/alive.h"
#include "lessons/wording.h"
#include "tests/support/catch.h"
#include "tests/support/llama_step.h"
#include "tests/support/made_recording.h"

using namespace headroom;
using record::Category;

TEST_CASE("one operator is named by what it left behind") {
  CHECK(lessons::tensor_name(Category::kWeights, "mlp.gate_proj") == "MLP weights");
  CHECK(lessons::tensor_name(Category::kGradients, "mlp.down_proj") == "MLP weight gradients");
  CHECK(lessons::tensor_name(Category::kActivations, "mlp.gate_proj") == "MLP gate, up, product");
  CHECK(lessons::tensor_name(Category::kActivations, "attention.k_proj") == "Query, key, value");
  CHECK(lessons::tensor_name(Category::kOptimizerState, "adamw.first_moment") == "First moment");
  CHECK(lessons::tensor_name(Category::kLogits, "lm_head") == "Logits");
  CHECK(lessons::tensor_name(Category::kWorkspace, "matmul.workspace") == "Matrix product workspace");
  CHECK(lessons::tensor_name(Category::kWorkspace, "attention.scores") == "Attention workspace");
  CHECK(lessons::tensor_name(Category::kWorkspace, "embedding") == "Embedding workspace");
  CHECK(lessons::tensor_name(Category::kWorkspace, "mlp.silu") == "Workspace");
}

TEST_CASE("an operator that is not known keeps a readable name") {
  CHECK(lessons::tensor_name(Category::kActivations, "moe.router_scores") == "Moe, router scores");
  CHECK(lessons::tensor_name(Category::kOptimizerState, "") == "Optimizer state");
}

TEST_CASE("layers in words") {
  CHECK(lessons::layers_text(record::kNoLayer, record::kNoLayer).empty());
  CHECK(lessons::layers_text(3, 3) == "layer 3");
  CHECK(lessons::layers_text(0, 15) == "layers 0 to 15");
}

TEST_CASE("the alive list adds up to the total at every event") {
  for (const bool checkpointing : {false, true}) {
    const record::Recording run =
        tests::made_recording({.device = record::DeviceKind::kGpu, .checkpointing = checkpointing});
    const record::Ledger ledger(run);
    for (std::uint64_t event = 0; event < ledger.size(); ++event) {
      for (const int rows : {0, 3, 100}) {
        const lessons::AliveList list = lessons::alive_list(ledger, event, rows);
        const auto shown = std::accumulate(list.rows.begin(), list.rows.end(), record::Bytes{0},
                                           [](auto sum, const auto& row) { return sum + row.bytes; });
        REQUIRE(shown + list.more_bytes == list.total);
        REQUIRE(list.total == ledger.at(event).allocated);
        REQUIRE(list.rows.size() <= static_cast<std::size_t>(rows));
        REQUIRE(std::is_sorted(list.rows.begin(), list.rows.end(),
                               [](const auto& a, const auto& b) { return a.bytes > b.bytes; }));
        const auto tensors = std::accumulate(list.rows.begin(), list.rows.end(), list.more_count,
                                             [](auto sum, const auto& row) { return sum + row.tensors; });
        REQUIRE(tensors == ledger.alive(event).size());
      }
    }
  }
}

TEST_CASE("rows of one name are one row, over all their layers") {
  const record::Recording run = tests::llama_recording({.steps = 1});
  const record::Ledger ledger(run);
  const auto list = lessons::alive_list(ledger, ledger.peak().event, 100);
  const auto row =
      std::find_if(list.rows.begin(), list.rows.end(), [](const auto& r) { return r.name == "MLP gate, up, product"; });
  REQUIRE(row != list.rows.end());
  CHECK(row->where == "layers 0 to 15");
  CHECK(row->tensors == 48);
  CHECK(row->bytes == 48 * record::Bytes{4} * 1024 * 8192 * 2);
}

TEST_CASE("moments are of all weights, also of those in no layer") {
  record::Recording run;
  const std::vector<std::string> names{"adamw.first_moment"};
  run.append_operators(1, names);
  for (const std::uint16_t layer : {std::uint16_t{0}, std::uint16_t{3}, record::kNoLayer}) {
    const record::MemEvent event{.storage = std::uint64_t{layer} + 1,
                                 .requested = 512,
                                 .block = 512,
                                 .category = Category::kOptimizerState,
                                 .layer = layer,
                                 .op = 1};
    run.append(std::span(&event, 1));
  }
  const record::Ledger ledger(run);
  const auto list = lessons::alive_list(ledger, 2, 10);
  REQUIRE(list.rows.size() == 1);
  CHECK(list.rows[0].name == "First moment");
  CHECK(list.rows[0].where == "3 tensors");
}

TEST_CASE("the ladder rises") {
  const record::Recording run = tests::llama_recording({.steps = 1});
  const record::Ledger ledger(run);
  const auto ladder = lessons::levels_at(ledger, ledger.peak().event);
  REQUIRE(ladder.size() == 5);
  CHECK(ladder[0].label == "requested");
  CHECK(ladder[4].label == "device in use");
  for (std::size_t i = 1; i < ladder.size(); ++i) CHECK(ladder[i].bytes >= ladder[i - 1].bytes);
  // The last sample is outdated if memory was reserved after it.
  record::Recording stale = tests::llama_recording({.steps = 1, .context = 0});
  stale.append(record::CounterSample{0, record::kGiB, record::CounterKind::kProcessBytes});
  CHECK(lessons::levels_at(record::Ledger(stale), 400).size() == 3);
  const record::Recording on_cpu = tests::llama_recording({.steps = 1, .context = 0});
  CHECK(lessons::levels_at(record::Ledger(on_cpu), 100).size() == 3);
}

TEST_CASE("a run in one line") {
  const record::Recording run = tests::llama_recording({.steps = 1, .checkpointing = true});
  CHECK(lessons::provenance_line(run.info()) ==
        "Llama 3.2 1B, bf16, batch 4, 1,024 tokens, checkpointing each layer, NVIDIA H200");
  const record::Params none;
  const auto provenance = lessons::full_provenance(run, none);
  CHECK(provenance.at("set.batch") == "4");
  CHECK(provenance.at("driver") == "580.00");
  CHECK(provenance.at("outcome") == "completed");
  CHECK(provenance.count("figure.step") == 0);
  record::RunInfo info = run.info();
  info.params["num_layers"] = "4";  // for model=custom only
  CHECK(lessons::full_provenance(record::Recording(info), none).count("set.num_layers") == 0);
  info.params["model"] = "custom";
  info.params["hidden_size"] = "2048";
  CHECK(lessons::full_provenance(record::Recording(info), none).count("set.num_layers") == 1);
  CHECK(lessons::provenance_line(info) ==
        "Custom, 4 layers, hidden size 2,048, bf16, batch 4, 1,024 tokens, checkpointing each layer, NVIDIA H200");
}

TEST_CASE("settings that this version does not know are named in a run's line, and have no formula") {
  record::RunInfo info = tests::llama_recording({.steps = 1}).info();
  CHECK(lessons::unknown_settings(info).empty());
  info.params["foo"] = "1";
  info.params["optimizer"] = "muon";
  CHECK(lessons::unknown_settings(info) == "foo=1, optimizer=muon");
  CHECK(lessons::provenance_line(info).find("foo=1, optimizer=muon (not known here)") != std::string::npos);
  record::Recording run(info);
  const record::Ledger ledger(run);
  for (const char* id : {"formula_table", "fit_map"}) {
    INFO(id);
    const lessons::FigureData figure = lessons::find_figure(id)->build({.run = &ledger});
    CHECK(figure.head.empty_reason.find("optimizer=muon") != std::string::npos);
  }
  info.demo = "of a later version";
  CHECK(lessons::unknown_settings(info).empty());
}

TEST_CASE("the settings of every recording that is shipped are known") {
  const std::filesystem::path folder = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets/recordings";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path().filename().string());
    const auto run = record::Recording::read(entry.path());
    REQUIRE(run.ok());
    CHECK(lessons::unknown_settings(run.value().info()).empty());
  }
}

record::Recording without_end(const record::Recording& whole, std::uintmax_t missing) {
  const auto path = std::filesystem::temp_directory_path() / ("headroom_cut_" + std::to_string(getpid()) + ".hrec");
  REQUIRE(whole.write(path).ok());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - missing);
  auto cut = record::Recording::read(path);
  std::filesystem::remove(path);
  REQUIRE(cut.ok());
  return std::move(cut).value();
}

TEST_CASE("a figure of a recording that was cut off says so, and what was read") {
  const record::Params none;
  const record::Recording whole = tests::llama_recording({.steps = 1});
  CHECK(lessons::full_provenance(whole, none).count("truncated") == 0);
  CHECK(lessons::cut_off_words(whole).empty());
  const record::Recording cut = without_end(whole, 10);
  CHECK(lessons::full_provenance(cut, none).at("truncated") == "yes");
  const record::Ledger ledger(cut);
  const auto data = lessons::find_figure("memory_timeline")->build({.run = &ledger});
  const std::string events = record::format_count(static_cast<std::int64_t>(whole.events().size())) + " events";
  CHECK(data.head.empty_reason.empty());
  CHECK(data.head.provenance_line.find("cut off: " + events) != std::string::npos);
  CHECK(data.head.provenance_line.ends_with("the rest is missing"));
}

TEST_CASE("where nothing is left to draw of a recording that was cut off, the figure says what was read") {
  record::Recording whole(record::RunInfo{.demo = "train_step", .device = record::DeviceKind::kCpu});
  whole.set_outcome({.kind = record::OutcomeKind::kCompleted});
  const record::Recording cut = without_end(whole, 1);
  const record::Ledger ledger(cut);
  for (const char* id : {"memory_timeline", "peak_by_category", "bench_times", "loss_curves"}) {
    const auto data = lessons::find_figure(id)->build({.run = &ledger});
    CHECK(data.head.empty_reason == "The file was cut off: only its settings were read, the rest is missing.");
    CHECK_FALSE(data.head.growing);
  }
}

TEST_CASE("bytes with as few decimals as say them") {
  CHECK(lessons::short_bytes(24 * record::kGiB) == "24 GiB");
  CHECK(lessons::short_bytes(3 * record::kGiB / 2) == "1.5 GiB");
  CHECK(lessons::short_bytes(100 * record::kMiB) == "100 MiB");
  CHECK(lessons::short_bytes(700) == "700 B");
}

TEST_CASE("ends of axes are round and above what they must hold") {
  CHECK(lessons::round_up_bytes(26.4 * record::kGiB) == 28.0 * record::kGiB);
  CHECK(lessons::round_up_bytes(30.0 * record::kGiB) == 30.0 * record::kGiB);
  CHECK(lessons::round_up_bytes(700.0 * record::kMiB) == 704.0 * record::kMiB);
  CHECK(lessons::round_up_bytes(0) == 1);
  CHECK(lessons::room_to_grow(100) == 200);
  CHECK(lessons::room_to_grow(0) == 1);
  double last = 0;
  int moves = 0;
  for (double bytes = 1e6; bytes < 32e6; bytes += 1e4) {
    const double high = lessons::room_for_bytes(bytes);
    REQUIRE(high >= bytes);
    moves += high != last;
    last = high;
  }
  CHECK(moves <= 11);  // two moves per doubling
}
