// Runs of several ranks with the real engine on the CPU.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/rank_traffic.h"
#include "demos/record/ledger.h"
#include "demos/record/run_recordings.h"
#include "tests/cli/support/program.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;

namespace {

const std::vector<std::string> kTwoRanks{"model=tiny", "device=cpu", "ranks=2", "batch=1", "seq=32", "steps=3"};

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<std::string> command(const std::vector<std::string>& settings, const std::vector<std::string>& more) {
  return joined(joined(joined({"run", "train_step", "--set"}, kTwoRanks), settings), more);
}

predict::StepSettings settings_of(const record::Recording& recording) {
  return predict::settings_of(recording.info(), experiments::training_step().schema);
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::istringstream text(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The process and its descendants.
std::set<int> tree_of(int root) {
  std::map<int, int> parents;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const std::string& line : lines_of(entry.path() / "status"))
      if (line.starts_with("PPid:")) parents[std::stoi(name)] = std::stoi(line.substr(5));
  }
  std::set<int> tree{root};
  for (std::size_t before = 0; before != tree.size();) {
    before = tree.size();
    for (const auto& [pid, parent] : parents)
      if (tree.contains(parent)) tree.insert(pid);
  }
  return tree;
}

// Local addresses of the processes' TCP sockets; an IPv6 socket is an address that no test expects.
std::vector<std::string> tcp_addresses_of_tree(int root) {
  std::set<std::string> inodes;
  for (const int pid : tree_of(root)) {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", gone)) {
      const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
      if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
    }
  }
  std::vector<std::string> addresses;
  for (const char* const table : {"/proc/net/tcp", "/proc/net/tcp6"})
    for (const std::string& line : lines_of(table)) {
      std::istringstream words(line);
      std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
      if (fields.size() < 10 || !inodes.contains(fields[9])) continue;
      const auto address = fields[1].substr(0, fields[1].find(':'));
      addresses.push_back(address == "0100007F" ? "127.0.0.1" : address);  // hexadecimal, least byte first
    }
  return addresses;
}

using Key =
    std::tuple<record::CollectiveKind, record::Axis, record::Phase, std::uint16_t, std::uint16_t, record::Bytes>;
Key key_of(const record::Collective& each) {
  return {each.kind, each.axis, each.phase, each.layer, each.micro_batch, each.bytes};
}

}  // namespace

TEST_CASE("two ranks run as one command, and their collectives are the formula's") {
  const auto scheme = GENERATE(values<std::vector<std::string>>(
      {{"zero=off"}, {"zero=1"}, {"zero=2"}, {"zero=3"}, {"zero=3", "adapters=lora"}}));
  CAPTURE(scheme);
  const TemporaryFolder folder;
  const std::string file = folder / "a.hrec";
  const Ran ran =
      run_headroom(command(joined(scheme, {"accumulate=2"}), {"--record", file, "--json"}), with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json summary = json::parse(ran.out);
  REQUIRE(summary["ranks"].size() == 2);
  const auto run = record::RunRecordings::read(file);
  REQUIRE(run);
  REQUIRE(run.value().ranks.size() == 2);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    CAPTURE(rank);
    const record::Recording& recording = run.value().ranks[rank];
    CHECK(recording.info().rank == static_cast<std::int32_t>(rank));
    CHECK(recording.info().ranks == 2);
    REQUIRE(recording.outcome());
    CHECK(recording.outcome()->kind == record::OutcomeKind::kCompleted);
    CHECK(record::Ledger(recording).first_mismatch() == record::kNever);
    CHECK(summary["ranks"][rank]["peak_bytes"] == summary["peak_bytes"]);

    const predict::StepSettings step = settings_of(recording);
    std::map<Key, int> missing;
    for (const record::Collective& each : predict::step_collectives(step)) ++missing[key_of(each)];
    record::Bytes loss = 0;
    for (const record::Collective& each : recording.collectives()) {
      if (each.step != 2) continue;
      CHECK(each.ranks == 2);
      CHECK(each.begin <= each.end);
      if (each.bytes == 4)
        loss += record::sent_bytes(each);
      else
        --missing[key_of(each)];
    }
    for (const auto& [key, count] : missing) CHECK(count == 0);
    CHECK(loss == 4);
    CHECK(summary["ranks"][rank]["sent_bytes_per_step"] == predict::rank_traffic(step).sum() + loss);
  }
}

TEST_CASE("two ranks run the step that a configuration of DeepSpeed means") {
  const std::string file = std::string(HEADROOM_SOURCE_DIR) + "/assets/configs/deepspeed_bf16.json";
  const Ran ran = run_headroom(command({"steps=1"}, {"--config", file, "--json"}), with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const json run = json::parse(ran.out);
  CHECK(run["params"]["zero"] == "3");
  CHECK(run["params"]["precision"] == "bf16_mixed");
  CHECK(run["params"]["ranks"] == 2);
  CHECK(run["params"]["model"] == "tiny");
  const Ran other = run_headroom({"run", "ring", "--config", file});
  CHECK(other.exit_code == 2);
  CHECK(other.err.find("--config is for train_step") != std::string::npos);
}

TEST_CASE("ranks of one host listen at addresses of this host only") {
  std::vector<std::string> addresses;
  RunOptions options = with_real_engine();
  options.send_interrupt_at = "of 1000";
  options.before_interrupt = [&](int pid) { addresses = tcp_addresses_of_tree(pid); };
  const Ran ran = run_headroom(command({"steps=1000", "zero=3"}, {}), options);
  INFO(ran.err);
  CHECK(ran.exit_code == 130);
  CHECK(addresses.size() >= 2);  // gloo connects the ranks
  for (const std::string& address : addresses) CHECK(address == "127.0.0.1");
}

TEST_CASE("a ring sums over its ranks as the library does, and each send is a row") {
  const auto [ranks, bytes] = GENERATE(values<std::pair<int, record::Bytes>>({{2, 1 << 20}, {3, 1'000'000}}));
  CAPTURE(ranks);
  const TemporaryFolder folder;
  const std::string file = folder / "ring.hrec";
  const Ran ran = run_headroom({"run", "ring", "--set", "ranks=" + std::to_string(ranks), "device=cpu",
                                "bytes=" + std::to_string(bytes), "repeats=3", "--record", file, "--json"},
                               with_real_engine());
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  CHECK(holds(ran.out, "their sums differ by at most "));
  const auto run = record::RunRecordings::read(file);
  REQUIRE(run);
  REQUIRE(run.value().ranks.size() == static_cast<std::size_t>(ranks));
  record::Bytes sent = 0;
  for (const record::Recording& recording : run.value().ranks) {
    REQUIRE(recording.outcome());
    CHECK(recording.outcome()->kind == record::OutcomeKind::kCompleted);
    const record::Ledger ledger(recording);
    CHECK(ledger.first_mismatch() == record::kNever);
    // The buffer, its copy for the library, and an arriving piece.
    CHECK(ledger.peak().totals.allocated >= 2 * bytes + bytes / ranks);
    CHECK(ledger.peak().totals.allocated < 2 * bytes + bytes / ranks + (64 << 10));
    int sends = 0, receives = 0;
    for (const record::Collective& each : recording.collectives()) {
      if (each.step != 3) continue;
      CHECK(each.begin <= each.end);
      sends += each.kind == record::CollectiveKind::kSend;
      receives += each.kind == record::CollectiveKind::kReceive;
      if (each.kind == record::CollectiveKind::kSend) sent += each.bytes;
    }
    CHECK(sends == 2 * (ranks - 1));
    CHECK(receives == 2 * (ranks - 1));
  }
  CHECK(sent == 2 * (ranks - 1) * bytes);
}

TEST_CASE("ranks that run out of memory end with one sentence about a rank") {
  const Ran ran = run_headroom(command({"zero=3", "cap=20MiB"}, {"--fail-on-oom", "--json"}), with_real_engine());
  CHECK(ran.exit_code == 4);
  CHECK(holds(ran.out, "; the other ranks were stopped."));
}

TEST_CASE("a group that does not divide the ranks is refused") {
  const Ran ran = run_headroom(command({"ranks=3", "zero=2", "zero_group=2"}, {}), with_real_engine());
  CHECK(ran.exit_code != 0);
  CHECK(holds(ran.err, "zero_group=2 does not divide ranks=3: use a divisor, or 0 for all ranks."));
}

TEST_CASE("drawn runs of two ranks equal their predictions to the byte") {
  const Ran ran =
      run_headroom({"validate", "--device", "cpu", "--ranks", "2", "--count", "4", "--seed", "5"}, with_real_engine());
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(holds(ran.err, "peak of requested      equal in 4 of 4"));
}
