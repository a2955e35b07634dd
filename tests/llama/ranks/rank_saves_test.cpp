// Saved runs of several ranks: one, two or four ranks resume what two ranks saved, for every scheme.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "tests/llama/checkpoints/resumed_run.h"
#include "tests/llama/ranks/rank_children.h"
#include "tests/llama/ranks/rank_schemes.h"

using namespace headroom;
using tests::Settings;

namespace {

namespace fs = std::filesystem;
constexpr int kHalf = 3;  // before and after the save
constexpr const char* kFolder = "HEADROOM_TEST_FOLDER";

const std::vector<Settings> kSaved{
    {},
    {"precision=bf16_mixed"},
    {"optimizer=adamw_8bit"},
    {"adapters=lora"},
    {"offload.optimizer=host", "precision=bf16_mixed"},
};

const std::vector<Settings> kShares{{}, {"zero=1"}, {"zero=3"}};

fs::path saved_by_two(std::size_t i) { return fs::path(std::getenv(kFolder)) / ("two" + std::to_string(i)); }

// Losses of `steps` steps of this rank, which saves if the settings say so.
std::vector<double> trained(const Settings& settings, int steps, const protocol::RankPlace& place) {
  static const fs::path kText = HEADROOM_SOURCE_DIR "/tests/llama/reference/make_reference.py";
  auto run = experiments::TrainStepRun::create(tests::params(settings),
                                               {.place = tests::kCpu, .course_text = kText, .rank = place});
  if (!run) FAIL(run.error().message);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    run.value()->step(step);
    losses.push_back(run.value()->loss());
  }
  const record::Status finished = run.value()->finish();
  if (!finished) FAIL(finished.error().message);
  return losses;
}

std::vector<double> first(const std::vector<double>& all) { return {all.begin(), all.begin() + kHalf}; }
std::vector<double> last(const std::vector<double>& all) { return {all.end() - kHalf, all.end()}; }

// The same settings on another number of ranks with as many samples in total.
Settings on(int ranks, const Settings& settings) {
  Settings other = tests::joined(settings, {"ranks=" + std::to_string(ranks), "batch=" + std::to_string(4 / ranks)});
  return ranks == 1 ? tests::joined(std::move(other), {"zero=off"}) : other;
}

bool close(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i] / b[i] - 1) > tolerance) return false;
  return a.size() == b.size();
}

void require_well(tests::RankChildren& children, int ranks) {
  for (int rank = 0; rank < ranks; ++rank) {
    const bool well = children.ended_well(rank);
    INFO(children.output(rank));
    REQUIRE(well);
  }
}

// Name and size of each file.
std::vector<std::string> sizes_in(const fs::path& folder) {
  std::vector<std::string> all;
  for (const std::string& name : tests::files_in(folder))
    all.push_back(name + " " + std::to_string(fs::file_size(folder / name)));
  return all;
}

}  // namespace

TEST_CASE("child: two ranks save and resume", "[.]") {
  at::set_num_threads(1);
  const protocol::RankPlace place = tests::place_of_child();
  const std::vector<Settings> all = tests::pairs_of(2, kShares, kSaved);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    const std::vector<double> whole = trained(all[i], 2 * kHalf, place);
    CHECK(trained(tests::joined(all[i], tests::saving(saved_by_two(i))), kHalf, place) == first(whole));
    CHECK(trained(tests::joined(all[i], {"resume=" + saved_by_two(i).string()}), kHalf, place) == last(whole));
  }
}

TEST_CASE("child: four ranks resume what two saved", "[.]") {
  at::set_num_threads(1);
  const protocol::RankPlace place = tests::place_of_child();
  const std::vector<Settings> all = tests::pairs_of(2, kShares, kSaved);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    const Settings resumed = tests::joined(on(4, all[i]), {"resume=" + saved_by_two(i).string()});
    const std::vector<double> losses = trained(resumed, kHalf, place);
    if (place.rank != 0) continue;
    std::ofstream file(fs::path(std::getenv(kFolder)) / ("four" + std::to_string(i)));
    file.precision(17);
    for (const double loss : losses) file << loss << " ";
  }
}

TEST_CASE("what two ranks save, any number of ranks resumes, and the files are those of one rank") {
  at::set_num_threads(1);
  const tests::TemporaryFolder folder;
  ::setenv(kFolder, folder.path().c_str(), 1);
  tests::RankChildren two("child: two ranks save and resume", 2);
  require_well(two, 2);
  tests::RankChildren four("child: four ranks resume what two saved", 4);
  require_well(four, 4);
  const std::vector<Settings> all = tests::pairs_of(2, kShares, kSaved);
  REQUIRE(all.size() == 15);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(tests::text_of(all[i]));
    const Settings alone = on(1, all[i]);
    const fs::path saved_alone = folder.path() / ("one" + std::to_string(i));
    const std::vector<double> whole = tests::trained(alone, 2 * kHalf);
    tests::trained(tests::joined(alone, tests::saving(saved_alone)), kHalf);
    CHECK(sizes_in(saved_by_two(i)) == sizes_in(saved_alone));
    const double tolerance = tests::tolerance(all[i]);
    const Settings resumed_alone = tests::joined(alone, {"resume=" + saved_by_two(i).string()});
    CHECK(close(tests::trained(resumed_alone, kHalf), last(whole), tolerance));
    std::ifstream file(folder.path() / ("four" + std::to_string(i)));
    std::vector<double> resumed(kHalf);
    for (double& loss : resumed) file >> loss;
    CHECK(close(resumed, last(whole), tolerance));
  }
  for (const auto& entry : fs::directory_iterator(folder.path()))
    CHECK(entry.path().extension() == "");  // no temporary folder is left
}
