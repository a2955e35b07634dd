// The table of formulas against hand-computed numbers (Llama 3.2 1B unless stated otherwise), the closed form and
// shipped runs.
#include "lessons/theory/formulas.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "demos/experiments/demo.h"
#include "demos/predict/forms/closed_form.h"
#include "demos/predict/forms/step_bytes.h"
#include "demos/predict/forms/step_moments.h"
#include "demos/record/ledger.h"
#include "tests/support/catch.h"

using namespace headroom;
using namespace headroom::lessons;
using record::Bytes;
using record::Category;
using Place = predict::Place;

namespace {

record::Params with(std::string_view settings) {
  record::Params params(experiments::training_step().schema);
  std::istringstream words("model=llama-3.2-1b batch=4 seq=1024 " + std::string(settings));
  for (std::string word; words >> word;) REQUIRE(params.set_assignment(word).ok());
  return params;
}

StepFormulas formulas_of(std::string_view settings) { return step_formulas(predict::step_settings(with(settings))); }

FormulaCell cell_of(const StepFormulas& table, Category category, Place place, bool on_host = false) {
  for (const FormulaRow& row : table.rows)
    if (row.category == category && row.on_host == on_host)
      for (std::size_t i = 0; i < table.moments.size(); ++i)
        if (table.moments[i].place == place) return row.cells[i];
  return {};
}

Bytes loss(std::string_view settings, Category category, bool on_host = false) {
  return cell_of(formulas_of(settings), category, Place::kLoss, on_host).bytes;
}
Bytes end(std::string_view settings, Category category, bool on_host = false) {
  return cell_of(formulas_of(settings), category, Place::kEmbedding, on_host).bytes;
}

// Evaluates "r = 512: 4 × (1,000 + 8 × 20)" to 4,640.
class Arithmetic {
 public:
  explicit Arithmetic(std::string text) : text_(std::move(text)) {
    if (const auto colon = text_.find(": "); colon != std::string::npos) text_.erase(0, colon + 2);
    std::erase(text_, ',');
    std::erase(text_, ' ');
  }
  Bytes value() {
    const Bytes result = sum();
    REQUIRE(at_ == text_.size());
    return result;
  }

 private:
  bool takes(char sign) { return at_ < text_.size() && text_[at_] == sign && ++at_ > 0; }
  Bytes sum() {
    Bytes result = product();
    while (takes('+')) result += product();
    return result;
  }
  Bytes product() {
    Bytes result = factor();
    while (text_.compare(at_, kTimes.size(), kTimes) == 0) {
      at_ += kTimes.size();
      result *= factor();
    }
    return result;
  }
  Bytes factor() {
    if (takes('(')) {
      const Bytes result = sum();
      REQUIRE(takes(')'));
      return result;
    }
    std::size_t length = 0;
    const Bytes result = std::stoll(text_.substr(at_), &length);
    at_ += length;
    return result;
  }

  static constexpr std::string_view kTimes = "×";

  std::string text_;
  std::size_t at_ = 0;
};

constexpr std::int64_t kP = 1'235'814'400, kTable = 128'256LL * 2'048, kLayer = 60'821'504, kOuter = kTable + 2'048;

constexpr std::string_view kTechniques[] = {
    "precision=fp32",
    "precision=bf16",
    "precision=bf16_mixed",
    "precision=bf16 fused.cross_entropy=on",
    "precision=bf16 attention=eager",
    "precision=bf16 checkpointing=layer",
    "precision=bf16 checkpointing=every checkpoint_every=4",
    "precision=bf16 checkpointing=selective",
    "precision=bf16 loss=flce",
    "precision=bf16 loss=flce loss_mode=lean",
    "precision=bf16 loss=flce loss_mode=report",
    "precision=bf16 loss=flce checkpointing=layer",
    "precision=bf16 loss=hf_2024",
    "precision=bf16 loss=hf_2025 keep_output=off batch=1",
    "precision=bf16 loss=flce accumulate=2",
    "precision=bf16_mixed loss=flce offload.optimizer=host",
    "precision=bf16_mixed loss=flce offload.optimizer=host checkpointing=layer offload.parameters=on",
    "precision=bf16 loss=flce checkpointing=layer offload.checkpoints=on",
    "precision=bf16 loss=flce optimizer=adamw_8bit",
    "precision=bf16 loss=flce optimizer=galore",
    "precision=bf16 loss=flce optimizer_in_backward=on",
    "precision=bf16 loss=flce adapters=lora",
    "precision=bf16 loss=flce adapters=qlora",
    "precision=bf16 gemm=fp8 loss=flce",
    "precision=bf16 gemm=fp8 loss=flce checkpointing=layer",
    "model=llama-3-8b precision=bf16 batch=1",
};

}  // namespace

TEST_CASE("the sums of the table are the closed form's moments, and the largest is its peak") {
  for (const std::string_view settings : kTechniques) {
    INFO(settings);
    const StepFormulas table = formulas_of(settings);
    const predict::StepSettings step = predict::step_settings(with(settings));
    const std::vector<predict::StepMoment> moments = predict::step_moments(step);
    REQUIRE(table.moments.size() >= 2);
    CHECK(table.moments.size() <= 3);
    Bytes most = 0;
    for (std::size_t i = 0; i < table.moments.size(); ++i) {
      INFO(table.moments[i].name);
      Bytes sum = 0;
      for (const FormulaRow& row : table.rows)
        if (!row.on_host) sum += row.cells[i].bytes;
      CHECK(sum == table.moments[i].sum);
      CHECK(std::ranges::any_of(moments, [&](const auto& moment) {
        return moment.place == table.moments[i].place && record::total(moment.bytes) == sum;
      }));
      most = std::max(most, sum);
    }
    CHECK(most == record::total(predict::closed_form(step).peak().bytes));
    CHECK(table.moments[table.peak].sum == most);
  }
}

TEST_CASE("the moments are the loss and the end of backward, with a higher one between or after them") {
  const auto names = [](std::string_view settings) {
    std::vector<std::string> all;
    for (const FormulaMoment& moment : formulas_of(settings).moments) all.push_back(moment.name);
    return all;
  };
  using Names = std::vector<std::string>;
  CHECK(names("precision=bf16") == Names{"at the loss", "end of backward"});
  CHECK(names("precision=bf16 loss=flce checkpointing=layer") == Names{"at the loss", "end of backward"});
  CHECK(names("precision=bf16 attention=eager loss=flce") ==
        Names{"at the loss", "backward, layer 16", "end of backward"});
  CHECK(names("precision=bf16_mixed fused.adamw=off loss=flce checkpointing=layer") ==
        Names{"at the loss", "end of backward", "optimizer step"});
}

TEST_CASE("every formula that is shown is its number, and the kinds that have a short one show it") {
  for (const std::string_view settings : kTechniques) {
    const StepFormulas table = formulas_of(settings);
    for (const FormulaRow& row : table.rows)
      for (std::size_t i = 0; i < row.cells.size(); ++i) {
        const FormulaCell& cell = row.cells[i];
        const Place place = table.moments[i].place;
        INFO(settings << ", " << row.name << " " << table.moments[i].name << ": " << cell.formula);
        CHECK(cell.bytes >= 0);
        const bool kept = row.category == Category::kActivations || row.category == Category::kLogits;
        const bool is_short = row.category != Category::kWorkspace && (!kept || place == Place::kLoss) &&
                              (place == Place::kLoss || place == Place::kEmbedding);
        if (is_short && cell.bytes > 0) CHECK_FALSE(cell.formula.empty());
        const auto equals = cell.formula.find(" = ");
        if (equals == std::string::npos) continue;
        const std::string numbers = cell.formula.substr(equals + 3);
        if (numbers.find('.') == std::string::npos) CHECK(Arithmetic(numbers).value() == cell.bytes);  // else rounded
      }
  }
}

TEST_CASE("at the end of backward a parameter takes 16, 16 or 8 bytes, and for a moment a second table's gradient") {
  const auto standing = [](std::string settings) {
    settings += " loss=flce";
    return end(settings, Category::kWeights) + end(settings, Category::kGradients) +
           end(settings, Category::kOptimizerState);
  };
  for (const auto& [precision, bytes, table] : {std::tuple{"precision=fp16_mixed", 16, 2},
                                                {"precision=fp32", 16, 4},
                                                {"precision=bf16", 8, 2},
                                                {"precision=bf16 moments=fp32", 12, 2}}) {
    INFO(precision);
    CHECK(standing(precision) == bytes * kP + table * kTable);
    CHECK(standing(precision + std::string(" fused.embedding=on")) == bytes * kP);  // added to the head's gradient
    CHECK(loss(precision, Category::kGradients) == 0);
  }
  CHECK(end("precision=bf16_mixed", Category::kOptimizerState) == 14'829'772'800);  // 12 P
}

TEST_CASE("the optimizer's state by kind") {
  CHECK(end("precision=bf16 optimizer=adamw_8bit", Category::kOptimizerState) == 2'510'248'000);  // 2.031 P
  CHECK(end("adapters=lora", Category::kOptimizerState) == 8 * 11'272'192);
  // Elements of a layer at r = 512: 2 · (2·512·2048 + 512·2048) for q and o, 2 · (2·512·2048 + 512·512) for k and v,
  // 3 · (2·512·8192 + 512·2048) for the MLP.
  const std::int64_t layer = 2 * 3'145'728LL + 2 * 2'359'296LL + 3 * 9'437'184LL;
  CHECK(end("precision=fp32 optimizer=galore", Category::kOptimizerState) == 4 * 16 * layer + 8 * (kP - 973'078'528));
  const auto symbols = [](std::string_view settings) {
    const std::string formula = cell_of(formulas_of(settings), Category::kOptimizerState, Place::kLoss).formula;
    return formula.substr(0, formula.find(" = "));
  };
  CHECK(symbols("precision=bf16 optimizer=galore") == "4 · Σ (2 r · long + r · short) + 4 · rest");
  CHECK(symbols("precision=bf16_mixed optimizer=galore") == "4 · Σ (2 r · long + r · short) + 8 · rest + 4 · P");
}

TEST_CASE("at the loss all layers' activations are there, or the inputs of layers and the final norm's tensors") {
  CHECK(loss("precision=bf16", Category::kActivations) == 7'189'561'344);
  CHECK(cell_of(formulas_of("precision=bf16"), Category::kActivations, Place::kLoss).formula ==
        "B · T · (L · layer + final norm) = 4,096 × (16 × 108,680 + 16,384)");
  // Measured: 320.02 MiB.
  CHECK(loss("precision=bf16 checkpointing=layer", Category::kActivations) == 268'435'456 + 67'108'864);
  const std::string_view away = "precision=bf16 checkpointing=layer offload.checkpoints=on fused.rms_norm=on";
  CHECK(loss(away, Category::kActivations) == (1 + 2) * 16'777'216);
  CHECK(loss(away, Category::kActivations, true) == 268'435'456);
}

TEST_CASE("the fused loss takes a chunk of logits, or a slice of the vocabulary with the gradient of its input") {
  CHECK(loss("precision=fp32 loss=flce loss_mode=report", Category::kLogits) == 128LL * 128'256 * 4);
  CHECK(loss("precision=fp32 loss=flce loss_chunk=100", Category::kLogits) == 100LL * 128'256 * 4);
  // Slices are aligned to 16 bytes: 104 columns.
  CHECK(loss("precision=fp32 loss=flce loss_mode=lean loss_chunk=100", Category::kLogits) ==
        4'096LL * 104 * 4 + 4'096LL * 2'048 * 4);
}

TEST_CASE("NF4 with double quantization takes 4.127 bits per weight") {
  const std::int64_t weights = 973'078'528;  // in the projections
  CHECK(end("adapters=qlora precision=bf16", Category::kWeights) ==
        predict::nf4_bytes(*llama::find_config("llama-3.2-1b")) + 2 * (kP - weights) + 2 * 11'272'192);
}

TEST_CASE("what is on the host is not on the device") {
  const std::string_view away =
      "precision=bf16_mixed checkpointing=layer offload.optimizer=host offload.parameters=on loss=flce";
  CHECK(16 * kLayer + kOuter == kP);
  CHECK(loss(away, Category::kOptimizerState) == 0);
  CHECK(loss(away, Category::kOptimizerState, true) == 12 * kP);
  CHECK(loss(away, Category::kWeights) == 2 * (kLayer + kOuter));
  CHECK(end(away, Category::kWeights) == 2 * kOuter);
  for (const Category category : {Category::kWeights, Category::kGradients}) CHECK(end(away, category, true) == 2 * kP);
  // On the device: gradients outside the layers, the table's twice, and the first layer's until they are copied.
  CHECK(end(away, Category::kGradients) == 2 * (2 * kTable + 2'048 + kLayer));
  CHECK(end("precision=bf16_mixed loss=flce offload.optimizer=host", Category::kGradients) ==
        2 * (2 * kTable + 2'048 + kLayer));
}

TEST_CASE("a CPU takes no workspace of a GPU's libraries") {
  const predict::StepSettings step = predict::step_settings(with("precision=bf16 loss=flce"));
  const StepFormulas gpu = step_formulas(step), cpu = step_formulas(step, record::DeviceKind::kCpu);
  const auto at_loss = [](const StepFormulas& table) {
    return cell_of(table, Category::kWorkspace, Place::kLoss).bytes;
  };
  CHECK(at_loss(gpu) - at_loss(cpu) == 33 * record::kMiB);
}

TEST_CASE("every setting has its formulas, and no negative number") {
  record::Params params(experiments::training_step().schema);
  for (const record::ParamSpec& spec : params.schema())
    for (const record::Choice& choice : record::choices_of(spec)) {
      INFO(spec.key << "=" << choice.key);
      record::Params each = params;
      REQUIRE(each.set(spec.key, choice.key).ok());
      const StepFormulas table = step_formulas(predict::step_settings(each));
      CHECK(table.moments.size() >= 2);
      for (const FormulaRow& row : table.rows) {
        CHECK_FALSE(row.name.empty());
        REQUIRE(row.cells.size() == table.moments.size());
        for (const FormulaCell& cell : row.cells) CHECK(cell.bytes >= 0);
      }
    }
}

TEST_CASE("the shipped runs have the bytes of the formulas at each moment") {
  int compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(HEADROOM_SOURCE_DIR "/assets/recordings")) {
    const auto read = record::Recording::read(file.path());
    REQUIRE(read.ok());
    const record::Recording& run = read.value();
    if (run.info().demo != experiments::training_step().id || !run.sweep_points().empty()) continue;
    const record::Ledger ledger(run);
    const StepFormulas table =
        step_formulas(predict::settings_of(run.info(), experiments::training_step().schema), run.info().device);
    for (const FormulaMoment& moment : table.moments) {
      const auto measured = totals_at(ledger, moment);
      if (!measured) continue;
      const double bytes = static_cast<double>(moment.sum), apart = static_cast<double>(measured->allocated) - bytes;
      INFO(file.path().stem().string() << ", " << moment.name << ": formula " << moment.sum << ", measured "
                                       << measured->allocated);
      // A CPU's fused loss has fp32 sums, which matter in tiny models.
      CHECK(std::abs(apart) < std::max(0.002 * bytes, 1.0 * record::kMiB));
      ++compared;
    }
  }
  CHECK(compared > 50);
}
