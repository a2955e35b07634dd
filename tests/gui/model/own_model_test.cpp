// A model folder as a page's setting, and its report.
#include <string>

#include "app/common/plan/evidence.h"
#include "app/page/page_facts.h"
#include "app/page/page_model.h"
#include "app/page/words/page_words.h"
#include "demos/llama/config.h"
#include "tests/gui/support/reader.h"
#include "tests/gui/support/scripted_predictions.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/support/catch.h"
#include "tests/support/wait.h"

using namespace headroom;
using namespace headroom::app::page;
using namespace headroom::tests;

namespace {

// All weights are zeros in bf16.
void write_model(const std::filesystem::path& folder, std::int64_t layers) {
  llama::Config config = tests::kSmall;
  config.num_layers = layers;
  tests::write_config(folder, config);
  std::vector<tests::TensorBytes> tensors;
  for (const llama::WeightShape& weight : llama::weight_shapes(config)) {
    std::int64_t bytes = 2;
    for (const std::int64_t side : weight.shape) bytes *= side;
    tensors.push_back({weight.name, "BF16", weight.shape, std::string(static_cast<std::size_t>(bytes), '\0')});
  }
  tests::write_bytes(folder / "model.safetensors", tests::safetensors(tensors));
}

struct OwnReader {
  tests::ScriptedPredictions predictions{small_run({.source = record::Source::kPredicted})};
  ScriptedBackend runner{small_run()};
  PageModel model;

  explicit OwnReader(bool files_here = true)
      : model(page(), demo(),
              PageSources{.runner = &runner,
                          .predictions = &predictions.service,
                          .fixed_settings = "",
                          .files_here = files_here,
                          .stored = {small_run()}}) {
    model.question().skip();
  }
  std::string said() {
    REQUIRE(tests::wait_until([&] { return !predictions.service.busy(); }));
    model.poll(0, predictions.service.poll());
    (void)model.figure(400);
    return notice_of(model) ? notice_of(model)->head + ": " + notice_of(model)->body : std::string();
  }
};

}  // namespace

TEST_CASE("a typed folder becomes the page's model, and its files are counted", "[window][page]") {
  const tests::TemporaryFolder folder;
  write_model(folder.path(), 3);
  OwnReader reader;
  PageModel& model = reader.model;
  const std::string before = model.settings().text("model");
  REQUIRE(before != "custom");
  REQUIRE(model.set_param("device", "cuda").ok());
  REQUIRE(model.set_param("weights", folder.path().string()).ok());
  CHECK(model.settings().text("model") == "custom");
  CHECK(device_of(model) == record::DeviceKind::kCpu);  // this machine's device
  REQUIRE(model.own_model() != nullptr);
  CHECK(model.own_model()->config.num_layers == 3);
  const std::string said = reader.said();
  CAPTURE(said);
  CHECK(said.starts_with("Your model: 14,064 weights in 3 layers; 30.42 KiB in 1 file. A run is predicted to need "));
  CHECK(said.ends_with("; 12.00 GiB are free here."));
  CHECK(changes_of(model).at("weights") == folder.path().string());
  CHECK(model.undo());
  CHECK(model.settings().text("weights").empty());
  CHECK(model.settings().text("model") == before);
  CHECK(model.undo(+1));
  CHECK(model.own_model() != nullptr);
  // Another model, or an empty field, removes it.
  REQUIRE(model.set_param("model", "llama-3.2-1b").ok());
  CHECK(model.settings().text("weights").empty());
  CHECK(model.own_model() == nullptr);
  REQUIRE(model.set_param("weights", folder.path().string()).ok());
  REQUIRE(model.set_param("weights", "").ok());
  CHECK(model.settings().text("model") == before);
}

TEST_CASE("a folder without a model is refused at its field, and nothing changes", "[window][page]") {
  const tests::TemporaryFolder folder;
  OwnReader reader;
  const record::Params before = reader.model.settings();
  const record::Status gone = reader.model.set_param("weights", (folder.path() / "gone").string());
  REQUIRE_FALSE(gone.ok());
  CHECK(gone.error().message.find("it does not exist; pass `weights` a folder") != std::string::npos);
  tests::write_config(folder.path(), tests::kSmall);
  const record::Status empty = reader.model.set_param("weights", folder.path().string());
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().message.find("download the checkpoint again") != std::string::npos);
  CHECK(reader.model.settings() == before);
  // config.json alone is a model with random weights.
  REQUIRE(reader.model.set_param("weights", (folder.path() / "config.json").string()).ok());
  CHECK(reader.said().find("only its shape is given") != std::string::npos);
}

TEST_CASE("files on another machine are read only by its engine", "[window][page]") {
  OwnReader reader(/*files_here=*/false);
  REQUIRE(reader.model.set_param("weights", "/on/that/machine").ok());
  CHECK(reader.model.settings().text("model") == "custom");
  CHECK(reader.model.own_model() == nullptr);
}

TEST_CASE("a run of one folder is not evidence for another folder", "[window][page]") {
  record::Params settings(demo().schema);
  REQUIRE(settings.set("model", "custom"));
  REQUIRE(settings.set("weights", "/a"));
  record::RunInfo info = small_run()->info();
  info.demo = "train_step";
  info.device = record::DeviceKind::kCpu;
  info.params = settings.to_map();
  const record::Recording run(info);
  const auto evidence = [&] { return app::is_evidence(run, demo().id, settings, record::DeviceKind::kCpu); };
  CHECK(evidence());
  REQUIRE(settings.set("weights", "/b"));
  CHECK_FALSE(evidence());
  REQUIRE(settings.set("weights", ""));
  CHECK_FALSE(evidence());
}
