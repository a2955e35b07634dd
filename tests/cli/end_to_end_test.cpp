// Runs, records, draws and sweeps with the real engine on the CPU.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/timeline.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;

TEST_CASE("the peak of a tiny step is equal in the summary, the ledger, the allocator and the figure") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.hrec";
  const Ran ran = run_headroom(
      {"run", "train_step", "--set", "model=tiny", "steps=3", "--device", "cpu", "--record", file, "--json"},
      with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json summary = json::parse(ran.out);
  CHECK(summary["outcome"] == "completed");
  CHECK(summary["steps"] == 3);
  CHECK(summary["dropped_events"] == 0);
  CHECK(summary["predicted"]["peak_bytes"] == summary["peak_bytes"]);
  CHECK(summary["loss"].get<double>() > 0);
  CHECK(summary["tokens_per_second"].get<double>() > 0);

  const auto recording = record::Recording::read(file);
  REQUIRE(recording);
  CHECK_FALSE(recording.value().truncated());
  const record::Ledger ledger(recording.value());
  const record::Peak peak = ledger.peak();
  CHECK(ledger.first_mismatch() == record::kNever);
  record::Bytes reported = 0;
  for (const record::MemEvent& event : recording.value().events())
    if (event.device == recording.value().info().device) reported = std::max(reported, event.allocator_allocated);
  CHECK(reported > 10 * record::kMiB);
  CHECK(peak.totals.allocated == reported);
  CHECK(summary["peak_bytes"] == reported);
  CHECK(summary["peak_allocator_bytes"] == reported);
  record::Bytes sum = 0;
  for (const auto& [category, bytes] : summary["peak_by_category"].items()) sum += bytes.get<record::Bytes>();
  CHECK(sum == reported);
  CHECK(summary["peak_by_category"]["other"].get<record::Bytes>() * 100 < reported);

  const std::string out = folder / "out";
  const Ran drawn = run_headroom({"figures", "memory_timeline", "--from", file, "--out", out, "--format",
                                  kWritesPdf ? "svg,pdf,png,csv,json" : "svg,csv,json"});
  INFO(drawn.err);
  REQUIRE(drawn.exit_code == 0);
  CHECK(json::parse(read_file(out + "/manifest.json"))["files"].size() == (kWritesPdf ? 5 : 3));
  for (const char* format : {"svg", "csv", "json"})
    CHECK(read_file(out + "/memory_timeline__a." + format).size() > 1000);
  if (!kWritesPdf) return;
  for (const char* format : {"pdf", "png"}) CHECK(read_file(out + "/memory_timeline__a." + format).size() > 1000);
}

TEST_CASE("a recorded step is compared with its prediction, as a command and as a figure") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.hrec", out = folder / "out";
  RunOptions one_thread =
      with_real_engine();  // attention's backward pass allocates a buffer per thread, in no fixed order
  one_thread.environment["OMP_NUM_THREADS"] = "1";
  REQUIRE(run_headroom({"run", "train_step", "--set", "model=tiny", "--device", "cpu", "--record", file}, one_thread)
              .exit_code == 0);
  const Ran compared = run_headroom({"compare", file, "--json"}, one_thread);
  INFO(compared.err);
  REQUIRE(compared.exit_code == 0);
  const json difference = json::parse(compared.out);
  CHECK(difference["equal"] == true);
  CHECK(difference["equal_events"].get<int>() > 500);
  CHECK(difference["peak"]["difference_bytes"] == 0);
  const Ran drawn =
      run_headroom({"figures", "difference", "--from", file, "--out", out, "--format", "json"}, one_thread);
  INFO(drawn.err);
  REQUIRE(drawn.exit_code == 0);
  CHECK(holds(read_file(out + "/difference__a.json"), "Equal to the byte: "));
}

TEST_CASE("A cap on the CPU makes the tiny model run out of memory, which is a result") {
  const Ran ran = run_headroom(
      {"run", "train_step", "--set", "model=tiny", "--device", "cpu", "--cap", "48MiB", "--json"}, with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json summary = json::parse(ran.out);
  CHECK(summary["outcome"] == "out_of_memory");
  CHECK(summary["out_of_memory"]["limit_bytes"] == 48 * record::kMiB);
  CHECK(summary["peak_bytes"] <= 48 * record::kMiB);
}

TEST_CASE("incompatible settings are refused with both names and the reason") {
  const Ran ran =
      run_headroom({"run", "train_step", "--set", "offload.checkpoints=on", "--device", "cpu"}, with_real_engine());
  CHECK(ran.exit_code == 3);
  INFO(ran.out + ran.err);
  CHECK(
      (ran.out + ran.err)
          .find(
              "offload.checkpoints=on cannot be combined with checkpointing=off: there are no checkpoints to move.") !=
      std::string::npos);
}

TEST_CASE("bench train_step compares a step with the times of its GEMMs and bytes") {
  const Ran ran = run_headroom(
      {"bench", "train_step", "--quick", "--json", "--device", "cpu", "--set", "batch=1", "seq=128"},  // tiny on CPUs
      with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  double products = 0;
  for (const json& row : document["products"]) products += row["times"].get<double>() * row["median_ns"].get<double>();
  CHECK(document["products"].size() == 18);  // six kinds of weights, each with a forward GEMM and two for gradients
  CHECK(products == Approx(document["products_ns"].get<double>()));
  CHECK(document["bound_ns"].get<double>() > products);
  CHECK(document["part_of_bound"].get<double>() > 0.05);
  CHECK(document["part_of_bound"].get<double>() < 1.5);  // a busy machine may time the GEMMs badly
  CHECK(run_headroom({"bench", "train_step", "--set", "accumulate=2"}, with_real_engine()).exit_code == 2);
}

TEST_CASE("bench products reports each format's rate as a table, as JSON and as a recording with its figure") {
  const TemporaryFolder folder;
  const std::string file = folder / "p.hrec";
  const std::vector<std::string> command{"bench", "products", "--quick", "--device", "cpu", "--set", "largest=128"};
  std::vector<std::string> recorded = command;
  recorded.insert(recorded.end(), {"--record", file, "--json"});
  const Ran ran = run_headroom(recorded, with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json document = json::parse(ran.out);
  CHECK(document["demo"] == "product_rates");
  REQUIRE(document["measurements"].size() == 3);
  for (const json& row : document["measurements"]) {
    CHECK(row["flops"] == 2.0 * 128 * 128 * 128);
    CHECK(row["median_ns"].get<double>() > 0);
  }
  const Ran table = run_headroom(command, with_real_engine());
  for (const char* part : {"fp32", "bf16", "fp16", "fastest", "TFLOP/s"})
    CHECK(table.out.find(part) != std::string::npos);
  CHECK(run_headroom({"figures", "product_rates", "--from", file, "--out", folder / "out", "--format", "csv"},
                     with_real_engine())
            .exit_code == 0);
  CHECK(run_headroom({"bench", "products", "--set", "format=fp8", "--device", "cpu"}, with_real_engine()).exit_code ==
        3);
}

TEST_CASE("a long run's recording keeps the memory of its first steps and every loss") {
  const TemporaryFolder folder;
  const std::string file = folder / "a.hrec";
  const Ran ran = run_headroom({"run", "train_step", "--set", "model=tiny", "batch=1", "seq=32", "steps=6", "--device",
                                "cpu", "--record", file, "--memory-steps", "2", "--json"},
                               with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(json::parse(ran.out)["steps"] == 6);
  const auto recording = record::Recording::read(file);
  REQUIRE(recording);
  CHECK(record::steps_of(recording.value()).size() == 2);
  CHECK(std::ranges::count(recording.value().metrics(), record::MetricKind::kLoss, &record::MetricSample::kind) == 6);
  CHECK(run_headroom({"run", "train_step", "--memory-steps", "2"}, with_real_engine()).exit_code == 2);
}

TEST_CASE("Ctrl-C stops a real run within seconds") {
  const TemporaryFolder folder;
  RunOptions options = with_real_engine();
  options.send_interrupt_at = "of 1000";
  const Ran ran = run_headroom(
      {"run", "train_step", "--set", "steps=1000", "--device", "cpu", "--record", folder / "a.hrec"}, options);
  INFO(ran.err);
  CHECK(ran.exit_code == 130);
  const auto recording = record::Recording::read(folder / "a.hrec");
  REQUIRE(recording);
  CHECK(recording.value().outcome()->kind == record::OutcomeKind::kCancelled);
  CHECK_FALSE(recording.value().events().empty());
}

TEST_CASE("a batch that does not fit fails only its point, and the next one runs in a new engine") {
  const Ran ran = run_headroom({"sweep", "train_step", "--over", "batch=1,64,1024,2", "--set", "seq=64", "cap=80MiB",
                                "--device", "cpu", "--json"},
                               with_real_engine());
  INFO(ran.err);
  CHECK(ran.exit_code == 2);  // 1024 is out of range: nothing ran
  const Ran fits = run_headroom(
      {"sweep", "train_step", "--over", "batch=1,64,2", "--set", "seq=64", "cap=80MiB", "--device", "cpu", "--json"},
      with_real_engine());
  INFO(fits.err);
  REQUIRE(fits.exit_code == 0);
  const json points = json::parse(fits.out)["points"];
  REQUIRE(points.size() == 3);
  CHECK(points[0]["outcome"] == "completed");
  CHECK(points[1]["outcome"] == "out_of_memory");
  CHECK(points[2]["outcome"] == "completed");
  CHECK(points[1]["peak_bytes"].get<std::int64_t>() <= 80 << 20);
  CHECK(points[2]["peak_bytes"].get<std::int64_t>() > points[0]["peak_bytes"].get<std::int64_t>());
  CHECK(points[0]["tokens_per_second"].get<double>() > 0);
}

TEST_CASE("the ladder runs to its last rung, which needs less memory than the first") {
  const Ran ran =
      run_headroom({"sweep", "ladder", "--set", "seq=64", "steps=2", "--device", "cpu", "--json"}, with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json points = json::parse(ran.out)["points"];
  REQUIRE(points.size() >= 8);
  for (const json& point : points) {
    INFO(point["label"].get<std::string>() + " " + point["message"].get<std::string>());
    CHECK(point["outcome"] == "completed");
  }
  CHECK(points.back()["peak_bytes"].get<std::int64_t>() * 4 < points.front()["peak_bytes"].get<std::int64_t>());
}
