// headroom compare with a scripted engine: a recording and its prediction, two recordings, and refusals.
#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "demos/record/recording.h"
#include "tests/cli/support/program.h"
#include "tests/cli/support/recordings.h"
#include "tests/cli/support/with_engine.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"
#include "tests/support/made_sweep.h"

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;

namespace {

struct Files {
  std::string add(const std::string& name, const record::Recording& recording) const {
    REQUIRE(recording.write(folder / name));
    return folder / name;
  }

  TemporaryFolder folder;
};

void check_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto width =
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    INFO(line);
    CHECK((width <= 100 || line.find(".hrec: ") != std::string::npos));
  }
}

}  // namespace

TEST_CASE("a recording is compared with its own prediction") {
  const Files files;
  const std::string a = files.add("a.hrec", small_recording());
  const Ran ran = run_headroom({"compare", a}, with_engine("completed"));
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  for (const char* part :
       {"a.hrec: ", "Equal to the byte: ", "predicted", "measured", "difference", "32.00 MiB", "At the peak, by kind",
        "Logits and loss", "At the peak, by layer", "Layers 0 to 1, each", "Peak of each phase", "Backward"})
    CHECK(holds(ran.out, part));
  check_width(ran.out);

  const Ran as_json = run_headroom({"compare", a, "--json"}, with_engine("completed"));
  REQUIRE(as_json.exit_code == 0);
  const json document = json::parse(as_json.out);
  CHECK(document["recordings"] == json{a});
  CHECK(document["equal"] == true);
  CHECK(document["equal_events"].get<int>() > 5);
  CHECK(document["first_difference"].is_null());
  CHECK(document["peak"]["predicted_bytes"] == kSmallPeak);
  CHECK(document["peak"]["measured_bytes"] == kSmallPeak);
  CHECK(document["peak"]["difference_bytes"] == 0);
}

TEST_CASE("two recordings are compared, and the first event that differs is named on both sides") {
  const Files files;
  const std::string a = files.add("a.hrec", made_recording({})),
                    b = files.add("b.hrec", made_recording({.checkpointing = true}));
  const Ran ran = run_headroom({"compare", a, b});
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  for (const char* part : {"A: ", "B: ", "events are equal before the first that differs", "    A: allocate 128.00 KiB",
                           "    B: free 128.00 KiB", "Recompute"})
    CHECK(holds(ran.out, part));
  check_width(ran.out);

  const json document = json::parse(run_headroom({"compare", a, b, "--json"}).out);
  CHECK(document["equal"] == false);
  CHECK(document["first_difference"]["a"].get<std::string>().starts_with("allocate "));
  CHECK(document["peak"]["difference_bytes"] ==
        document["peak"]["b_bytes"].get<record::Bytes>() - document["peak"]["a_bytes"].get<record::Bytes>());
  CHECK(document["peak"]["difference_bytes"] < 0);
  CHECK(document["kinds"].size() >= 5);
}

TEST_CASE("what cannot be compared is refused with a cure") {
  const Files files;
  const std::string small = files.add("small.hrec", small_recording());
  const auto refused = [](std::vector<std::string> words, int exit_code, const std::vector<std::string>& parts,
                          const RunOptions& options = {}) {
    words.insert(words.begin(), "compare");
    const Ran ran = run_headroom(words, options);
    INFO(ran.err);
    CHECK(ran.exit_code == exit_code);
    CHECK(ran.out.empty());
    CHECK(std::ranges::count(ran.err, '\n') == 1);
    for (const std::string& part : parts) CHECK(holds(ran.err, part));
  };
  refused({}, 2, {"headroom compare a.hrec"});
  refused({small, small, small}, 2, {"headroom compare a.hrec b.hrec"});
  refused({files.folder / "none.hrec"}, 2, {"none.hrec"});
  write_file(files.folder / "words.hrec", "These are words.");
  refused({files.folder / "words.hrec"}, 2, {"words.hrec", "not a"});
  refused({files.add("sweep.hrec", made_batch_sweep(1))}, 2, {"sweep.hrec is a sweep", "headroom run"});
  refused({files.add("cut.hrec", made_recording({.steps = 1, .finished = false}))}, 2,
          {"no whole training step", "headroom run train_step --record FILE"});
  refused({small}, 3, {"cannot be compared with a prediction", "closed form", "Two recordings can be compared"});
  refused({small}, 3, {"cannot be compared with a prediction", "head_dim=7"}, with_engine("refused"));
  record::Recording other = small_recording();
  record::RunInfo info = other.info();
  info.demo = "block";
  other.set_info(info);
  refused({small, files.add("block.hrec", other)}, 2, {"a run of train_step", "block.hrec one of block", "same demo"});
  refused({files.folder / "block.hrec"}, 3,
          {"Only single runs of train_step can be predicted", "Two recordings can be compared"},
          with_engine("completed"));
}
