// The table of formulas against numbers that were worked out by hand (Llama 3.2 1B unless said otherwise).
#include "lessons/formulas.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>
#include <utility>

#include "demos/experiments/demo.h"
#include "demos/predict/step_bytes.h"
#include "demos/record/ledger.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::lessons;

namespace {

record::Params with(std::initializer_list<std::string_view> assignments) {
  record::Params params(experiments::find_demo("train_step")->schema);
  for (const std::string_view assignment : {"model=llama-3.2-1b", "batch=4", "seq=1024", "fused.embedding=on"})
    REQUIRE(params.set_assignment(assignment).ok());
  for (const std::string_view assignment : assignments) REQUIRE(params.set_assignment(assignment).ok());
  return params;
}

// Of the first term of a kind on the device (or host), the bytes; −1: there is none.
record::Bytes bytes_of(const record::Params& params, record::Category category, bool on_host = false) {
  for (const FormulaTerm& term : step_formulas(predict::step_settings(params)))
    if (term.category == category && term.on_host == on_host) return term.bytes;
  return -1;
}

// "r = 512: 4 × 1,000 + 8 × 20" → 4,160.
record::Bytes value_of(std::string numbers) {
  if (const auto colon = numbers.find(": "); colon != std::string::npos) numbers.erase(0, colon + 2);
  std::erase(numbers, ',');
  record::Bytes sum = 0, product = 1;
  std::istringstream words(numbers);
  for (std::string word; words >> word;) {
    if (word == "×") continue;
    if (word != "+") {
      product *= std::stoll(word);
      continue;
    }
    sum += std::exchange(product, 1);
  }
  return sum + product;
}

constexpr std::int64_t kP = 1'235'814'400;
using record::Category;

}  // namespace

TEST_CASE("static bytes per parameter, by precision and optimizer") {
  const auto standing = [](const record::Params& params) {
    return bytes_of(params, Category::kWeights) + bytes_of(params, Category::kGradients) +
           bytes_of(params, Category::kOptimizerState);
  };
  CHECK(standing(with({})) == 16 * kP);
  CHECK(standing(with({"precision=fp16_mixed"})) == 16 * kP);  // the same: what mixed precision saves is elsewhere
  CHECK(standing(with({"precision=bf16"})) == 8 * kP);
  CHECK(standing(with({"precision=bf16", "moments=fp32"})) == 12 * kP);
  CHECK(bytes_of(with({"precision=bf16_mixed"}), Category::kOptimizerState) == 14'829'772'800);  // 12 P
}

TEST_CASE("8-bit moments take 2.031 bytes per parameter") {
  CHECK(bytes_of(with({"precision=bf16", "optimizer=adamw_8bit"}), Category::kOptimizerState) == 2'510'248'000);
}

TEST_CASE("checkpoints take B T H s for each input that is kept, and the final norm keeps its input and output") {
  // Measured: 320.02 MiB.
  CHECK(bytes_of(with({"precision=bf16", "checkpointing=layer", "fused.rms_norm=off"}), Category::kActivations) ==
        268'435'456 + 67'108'864);
  CHECK(bytes_of(with({"precision=bf16"}), Category::kActivations) == -1);
  const auto away = with({"precision=bf16", "checkpointing=layer", "offload.checkpoints=on", "fused.rms_norm=on"});
  CHECK(bytes_of(away, Category::kActivations) == (2 + 2) * 16'777'216);
  CHECK(bytes_of(away, Category::kActivations, true) == 268'435'456);
}

TEST_CASE("the fused loss takes a chunk of logits, or a slice of the vocabulary") {
  CHECK(bytes_of(with({"loss=flce", "loss_mode=report"}), Category::kLogits) == 128LL * 128'256 * 4);
  CHECK(bytes_of(with({"loss=flce", "loss_chunk=100"}), Category::kLogits) == 100LL * 128'256 * 4);
  // Rows of a slice begin at 16 bytes: 104 columns.
  CHECK(bytes_of(with({"loss=flce", "loss_mode=lean", "loss_chunk=100"}), Category::kLogits) == 4'096LL * 104 * 4);
}

TEST_CASE("adapters train r (in + out) weights a matrix") {
  CHECK(bytes_of(with({"adapters=lora"}), Category::kGradients) == 4 * 11'272'192);
  CHECK(bytes_of(with({"adapters=lora"}), Category::kOptimizerState) == 8 * 11'272'192);
}

TEST_CASE("NF4 with double quantization takes 4.127 bits per weight") {
  const std::int64_t weights = 973'078'528;  // of the projections
  CHECK(bytes_of(with({"adapters=qlora", "precision=bf16"}), Category::kWeights) ==
        predict::nf4_bytes(*llama::find_config("llama-3.2-1b")) + 2 * (kP - weights) + 2 * 11'272'192);
}

TEST_CASE("GaLore keeps moments of r rows, and the projection") {
  const record::Bytes plain = bytes_of(with({}), Category::kOptimizerState);
  const record::Bytes low = bytes_of(with({"optimizer=galore"}), Category::kOptimizerState);
  // A layer at r = 512: q, o 2 · 3,145,728/2 …, worked out in elements: 2 · (2·512·2048 + 512·2048) for q and o,
  // 2 · (2·512·2048 + 512·512) for k and v, 3 · (2·512·8192 + 512·2048) for the MLP.
  const std::int64_t layer = 2 * 3'145'728LL + 2 * 2'359'296LL + 3 * 9'437'184LL;
  CHECK(low == 4 * 16 * layer + 8 * (kP - 973'078'528));
  CHECK(low < plain / 2);
  for (const char* precision : {"precision=fp32", "precision=bf16", "precision=bf16_mixed"}) {
    INFO(precision);
    for (const FormulaTerm& term : step_formulas(predict::step_settings(with({"optimizer=galore", precision}))))
      if (term.category == Category::kOptimizerState) CHECK(value_of(term.numbers) == term.bytes);
  }
  const auto symbols = [](const char* precision) {
    for (const FormulaTerm& term : step_formulas(predict::step_settings(with({"optimizer=galore", precision}))))
      if (term.category == Category::kOptimizerState) return term.symbols;
    return std::string();
  };
  CHECK(symbols("precision=bf16") == "4 · Σ (2 r · long + r · short) + 4 · rest");
  CHECK(symbols("precision=bf16_mixed") == "4 · Σ (2 r · long + r · short) + 8 · rest + 4 · P");
}

TEST_CASE("what is on the host is not on the device") {
  const auto away =
      with({"precision=bf16_mixed", "checkpointing=layer", "offload.optimizer=host", "offload.parameters=on"});
  CHECK(bytes_of(away, Category::kOptimizerState) == -1);
  CHECK(bytes_of(away, Category::kOptimizerState, true) == 12 * kP);
  const std::int64_t layer = 60'821'504, outer = 128'256LL * 2048 + 2048;
  CHECK(16 * layer + outer == kP);
  CHECK(bytes_of(away, Category::kWeights) == 2 * (2 * layer + outer));
  CHECK(bytes_of(away, Category::kWeights, true) == 2 * kP);
  const auto early = with({"optimizer_in_backward=on"});
  CHECK(bytes_of(early, Category::kGradients) == 4 * (layer + outer));
  // Without the fused kernel the embedding's gradient is a table beside the head's, 4 · 128,256 · 2,048 bytes.
  CHECK(bytes_of(with({"fused.embedding=off"}), Category::kGradients) == 4 * kP + 1'050'673'152);
  CHECK(bytes_of(with({"fused.embedding=off", "optimizer_in_backward=on"}), Category::kGradients) ==
        4 * outer + 1'050'673'152);
}

TEST_CASE("every term has its words and no setting makes a negative one") {
  record::Params params(experiments::find_demo("train_step")->schema);
  for (const record::ParamSpec& spec : params.schema())
    for (const record::Choice& choice : record::choices_of(spec)) {
      INFO(spec.key << "=" << choice.key);
      record::Params each = params;
      REQUIRE(each.set(spec.key, choice.key).ok());
      const auto terms = step_formulas(predict::step_settings(each));
      CHECK(terms.size() >= 3);
      for (const FormulaTerm& term : terms) {
        CHECK(term.bytes > 0);
        CHECK_FALSE(term.name.empty());
        CHECK_FALSE(term.symbols.empty());
        CHECK_FALSE(term.numbers.empty());
      }
    }
}

TEST_CASE("what all layers keep is what the stored runs without checkpointing have after forward") {
  for (const char* name : {"technique_plain_cpu", "technique_plain_h200"}) {
    INFO(name);
    const auto path = std::filesystem::path(HEADROOM_SOURCE_DIR) / "assets/recordings" / (std::string(name) + ".hrec");
    const auto run = record::Recording::read(path);
    REQUIRE(run);
    const auto step = predict::settings_of(run.value().info(), experiments::find_demo("train_step")->schema);
    const record::Bytes closed = predict::activation_bytes(step);
    const record::Ledger ledger(run.value());
    record::Bytes measured = 0;
    for (const auto& mark : run.value().marks())
      if (mark.phase == record::Phase::kLoss && mark.event_index > 0)
        measured = std::max(
            measured,
            ledger.at(mark.event_index - 1).by_category[static_cast<std::size_t>(record::Category::kActivations)]);
    const double off = static_cast<double>(measured - closed) / static_cast<double>(closed);
    INFO(measured << " measured, closed form " << closed);
    CHECK(off >= 0);
    CHECK(off < 0.001);  // blocks are rounded up
  }
}
