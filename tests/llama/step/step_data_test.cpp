// Training data: bytes, ids, or text with the model's tokenizer.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "demos/tokens/tokenizer.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/step_fixture.h"

namespace {

using namespace headroom;
using namespace headroom::tests;

const std::string kText =
    "Shall I compare thee to a summer's day? Thou art more lovely and more temperate: rough winds do shake the darling "
    "buds of May.";
const std::filesystem::path kTokenizer = HEADROOM_SOURCE_DIR "/tests/tokens/fixtures/gpt2.json";

std::string ids_of_16_bits(const auto& ids) {
  const std::vector<std::uint16_t> narrow(ids.begin(), ids.end());
  return {reinterpret_cast<const char*>(narrow.data()), narrow.size() * sizeof narrow[0]};
}

std::string shape_in(const TemporaryFolder& folder, std::int64_t vocabulary) {
  llama::Config config = kSmall;
  config.vocab_size = vocabulary;
  write_config(folder.path(), config);
  return (folder.path() / "config.json").string();
}

std::string refusal(const Settings& settings) {
  const auto run = run_or_refusal(params(settings), kCpu);
  if (run) return "";
  CHECK(run.error().kind == record::ErrorKind::kBadInput);
  return run.error().message;
}

}  // namespace

TEST_CASE("ids train like the bytes with the same values") {
  const TemporaryFolder folder;
  write_bytes(folder.path() / "text.txt", kText);
  const std::vector<unsigned char> bytes(kText.begin(), kText.end());
  write_bytes(folder.path() / "ids.bin", ids_of_16_bits(bytes));
  const Settings text{"data=" + (folder.path() / "text.txt").string()},
      ids{"data=" + (folder.path() / "ids.bin").string()};
  CHECK(losses(joined(kSmallSettings, text), 2) == losses(joined(kSmallSettings, ids), 2));
}

TEST_CASE("a text is tokenized by the tokenizer.json in the model's folder") {
  const TemporaryFolder folder;
  const Settings model{"model=custom", "batch=2", "seq=16", "weights=" + shape_in(folder, 700)};
  write_bytes(folder.path() / "text.txt", kText);
  const Settings text = joined(model, {"data=" + (folder.path() / "text.txt").string()});
  const std::vector<double> by_bytes = losses(text, 2);
  std::filesystem::copy_file(kTokenizer, folder.path() / "tokenizer.json");
  const std::vector<double> by_tokenizer = losses(text, 2);
  write_bytes(folder.path() / "ids.bin",
              ids_of_16_bits(tokens::encode(tokens::read_tokenizer(kTokenizer).value(), kText)));
  CHECK(by_tokenizer == losses(joined(model, {"data=" + (folder.path() / "ids.bin").string()}), 2));
  CHECK(by_tokenizer != by_bytes);
  shape_in(folder, 500);
  CHECK(refusal(text).find("the model's vocabulary has 500 tokens") != std::string::npos);
}

TEST_CASE("a plan reads no data") {
  const Settings nowhere = joined(kSmallSettings, {"data=/nowhere/at/all.npy"});
  CHECK(make_run(nowhere, kPlanForCpu)->step(0) == experiments::StepResult::kDone);
  CHECK(refusal(nowhere).find("/nowhere/at/all.npy") != std::string::npos);
}
