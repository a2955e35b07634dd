// Techniques of the training step: equal losses, exact plans, and effects on memory.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ATen/Parallel.h>

#include "demos/engine/llama/step/data.h"
#include "demos/engine/llama/step/train_step.h"
#include "demos/llama/config.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using record::Bytes;
using record::Phase;

const Settings kFiveLayers = joined(kSmallSettings, {"num_layers=5"});

// The settings, and the plain step with the same losses.
struct Technique {
  Settings on, plain{"batch=2"};
};
const std::vector<Technique> kTechniques{
    {{"batch=2", "checkpointing=layer"}},
    {{"batch=2", "checkpointing=every", "checkpoint_every=2"}},
    {{"batch=2", "checkpointing=every", "checkpoint_every=9"}},
    {{"batch=2", "checkpointing=selective"}},
    {{"batch=2", "checkpointing=selective", "fused.rms_norm=on", "fused.swiglu=on", "fused.rope=on"}},
    {{"batch=2", "optimizer=adamw_foreach"}},
    {{"batch=2", "optimizer=paged_adamw_8bit"}, {"batch=2", "optimizer=adamw_8bit"}},
    {{"batch=2", "attention=eager"}},
    {{"batch=2", "attention=eager", "fused.rope=on"}},
    {{"batch=2", "attention=eager", "checkpointing=selective"}},
    {{"batch=2", "attention=eager", "checkpointing=every", "checkpoint_every=3"}},
    {{"batch=2", "accumulate=3"}, {"batch=6"}},
    {{"batch=2", "accumulate=3", "checkpointing=every"}, {"batch=6"}},
    {{"batch=2", "accumulate=3", "loss=flce", "loss_chunk=16", "fused.embedding=on"}, {"batch=6"}},
    {{"batch=2", "accumulate=3", "fused.cross_entropy=on"}, {"batch=6"}},
    {{"batch=2", "loss=hf_2025"}, {"batch=2", "loss=hf_2024"}},
    {{"batch=2", "loss=hf_2024", "keep_output=off"}, {"batch=2", "loss=hf_2024"}},
    {{"batch=2", "loss=hf_2024", "accumulate=3"}, {"batch=6", "loss=hf_2025"}},
    {{"batch=2", "loss=hf_2025", "fused.embedding=on"}, {"batch=2", "loss=hf_2025"}},
};

Bytes peak_of_run(const Settings& settings) {
  return sum(peak_by_category(log_of(kPlanForGpu, [&] {
    const auto run = make_run(settings, kPlanForGpu);
    for (int i = 0; i < 3; ++i) run->step(i);
  })));
}

}  // namespace

TEST_CASE("a step with a technique has the plain step's losses") {
  const Technique technique = GENERATE(from_range(kTechniques));
  CAPTURE(text_of(technique.on), text_of(technique.plain));
  const std::vector<double> plain = losses(joined(kFiveLayers, technique.plain), 4);
  const std::vector<double> other = losses(joined(kFiveLayers, technique.on), 4);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    CAPTURE(i, plain[i], other[i]);
    CHECK(std::abs(other[i] - plain[i]) < 2e-4 * plain[i]);
  }
  CHECK(plain.back() != plain.front());
}

TEST_CASE("a planned 16-bit step has the CPU step's allocations, one by one and by name") {
  install_allocation_log();
  at::set_num_threads(1);
  const std::string precision = GENERATE("precision=bf16", "precision=fp16_mixed", "precision=bf16_mixed");
  const std::string technique =
      GENERATE("checkpointing=off", "checkpointing=selective", "attention=eager", "loss=hf_2024", "loss=hf_2025");
  const std::string seq = GENERATE("seq=24", "seq=200", "seq=800");  // attention's three tile sizes
  CAPTURE(precision, technique, seq);
  const Settings settings = joined(kSmallSettings, {"batch=1", precision, technique, seq});
  const auto real = third_step(settings, kCpu);
  const auto planned = third_step(settings, kPlanForCpu);
  REQUIRE(real.size() > 100);
  check_equal(real, planned);
}

TEST_CASE("both Hugging Face losses equal the plain loss without each sample's last position") {
  const std::int64_t seq = 16;
  const at::Tensor tokens = llama::make_batch("To be, or not to be, that is the question.", 3, seq, 0, 0);
  const auto loss = [&](std::int64_t positions, llama::LossPath path) {
    const llama::Model model = llama::make_model(*llama::find_config("tiny"), {}, {}, positions, /*seed=*/3);
    const at::Tensor known = tokens.narrow(2, 0, positions).contiguous();
    return llama::forward_backward(model, known.select(0, 0), known.select(0, 1), {.loss = {.path = path}})
        .item<double>();
  };
  const double plain = loss(seq - 1, llama::LossPath::kPlain);
  CHECK(loss(seq, llama::LossPath::kHf2024) == Approx(plain).epsilon(1e-6));
  CHECK(loss(seq, llama::LossPath::kHf2025) == Approx(plain).epsilon(1e-6));
  CHECK(std::abs(loss(seq, llama::LossPath::kPlain) - plain) > 1e-4);
}

TEST_CASE("the gradients of a tied table take three tables on Hugging Face's paths and two on others") {
  install_allocation_log();
  at::set_num_threads(1);
  // V = 4096, H = 256, 4 bytes.
  constexpr Bytes kTable = 4096 * 256 * 4;
  const auto tables = [&](const char* loss, const RunPlace& place) {
    int live = 0, most = 0;
    std::set<std::int64_t> alive;
    for (const Allocation& a : third_step({"model=tiny", "batch=1", "seq=16", loss}, place)) {
      if (a.kind == Allocation::Kind::kAlloc && a.bytes == kTable && a.tag.phase == Phase::kBackward) {
        alive.insert(a.storage);
        most = std::max(most, ++live);
      } else if (a.kind == Allocation::Kind::kFree) {
        live -= static_cast<int>(alive.erase(a.storage));
      }
    }
    return most;
  };
  for (const RunPlace& place : {kCpu, kPlanForCpu}) {
    CHECK(tables("loss=plain", place) == 2);
    CHECK(tables("loss=hf_2024", place) == 3);
    CHECK(tables("loss=hf_2025", place) == 3);
  }
}

TEST_CASE("checkpointing every k-th layer keeps one input per k layers") {
  install_allocation_log();
  const std::string every = GENERATE("checkpoint_every=1", "checkpoint_every=2", "checkpoint_every=3");
  const std::int64_t k = every.back() - '0';
  CAPTURE(every);
  // L = 4, H = 256, N = 128 tokens, 4 bytes.
  constexpr Bytes kStream = 128 * 256 * 4;
  const auto log = third_step({"batch=1", "seq=128", "checkpointing=every", every}, kPlanForCpu);
  std::int64_t inputs = 0;
  for (const Allocation& a : kept(log)) {
    const std::string_view op = record::operator_name(a.tag.op);
    if (op.starts_with("attention.") || op.starts_with("mlp.") || op == "embedding") {
      CHECK(a.bytes == kStream);
      ++inputs;
    }
  }
  CHECK(inputs == (4 + k - 1) / k + 1);  // plus the final norm's input

  // At most k layers are recomputed at a time, each once.
  std::vector<std::uint16_t> again;
  for (const Allocation& a : log) {
    if (a.kind == Allocation::Kind::kAlloc && a.tag.phase == Phase::kRecompute &&
        record::operator_name(a.tag.op) == "mlp.gate_proj") {
      again.push_back(a.tag.layer);
    }
  }
  REQUIRE(again.size() == 4);
  CHECK(std::set<std::uint16_t>(again.begin(), again.end()).size() == 4);
  CHECK(again.front() == (k == 1 ? 3 : k == 2 ? 2 : 3));
}

TEST_CASE("a layer's last GEMM and last sum are recomputed only if the next layer needs them") {
  install_allocation_log();
  at::set_num_threads(1);
  const int k = GENERATE(1, 2, 5);
  const Settings fused = GENERATE(Settings{}, Settings{"fused.rms_norm=on", "fused.swiglu=on", "fused.rope=on"},
                                  Settings{"fused.rms_norm=on", "fused.swiglu=on", "fused.keep=on"});
  const Settings more = GENERATE(Settings{}, Settings{"precision=bf16"}, Settings{"adapters=lora"},
                                 Settings{"adapters=qlora"}, Settings{"adapters=lora", "lora_targets=attention"},
                                 Settings{"accumulate=2"}, Settings{"offload.checkpoints=on"},
                                 Settings{"offload.optimizer=host", "offload.parameters=on", "offload.checkpoints=on"});
  CAPTURE(k, text_of(fused), text_of(more));
  const Settings settings = joined(joined(kFiveLayers, fused),
                                   joined(more, {"checkpointing=every", "checkpoint_every=" + std::to_string(k)}));
  // N = 48 tokens, H = 64, 5 layers; not_last: layers that do not end a segment.
  const Bytes stream = Bytes{48} * 64 * (text_of(more).find("bf16") != std::string::npos ? 2 : 4);
  const std::set<int> all{0, 1, 2, 3, 4};
  const std::set<int> not_last = k == 1 ? std::set<int>{} : k == 2 ? std::set<int>{0, 2} : std::set<int>{0, 1, 2, 3};
  for (const RunPlace& place : {kCpu, kPlanForCpu, kPlanForGpu}) {
    std::set<int> gates, downs, sums, dense, products;
    for (const Allocation& a : third_step(settings, place)) {
      if (a.kind != Allocation::Kind::kAlloc || a.tag.phase != Phase::kRecompute) continue;
      const std::string_view op = record::operator_name(a.tag.op);
      if (op == "mlp.gate_proj") gates.insert(a.tag.layer);
      if (op == "mlp.product") products.insert(a.tag.layer);
      if (op == "mlp.down_proj" && a.bytes == stream) downs.insert(a.tag.layer);
      if (op == "mlp.down_proj" && a.tag.category == record::Category::kWorkspace) dense.insert(a.tag.layer);
      if (op == "mlp.residual") sums.insert(a.tag.layer);
    }
    CHECK(gates == all);
    CHECK(downs == not_last);
    CHECK(sums == not_last);
    CHECK(dense == (text_of(more).find("qlora") != std::string::npos ? not_last : std::set<int>{}));
    // Backward recomputes the fused product unless it was kept or an adapter needs it.
    const bool in_backward =
        text_of(fused).find("swiglu") != std::string::npos &&
        (text_of(fused).find("keep") == std::string::npos || text_of(more).find("attention") != std::string::npos) &&
        (text_of(more).find("lora") == std::string::npos || text_of(more).find("attention") != std::string::npos);
    CHECK(products == (in_backward ? not_last : all));
  }
}

Bytes most_rebuilt(const std::vector<Allocation>& log, std::string_view op) {
  std::map<std::int64_t, Bytes> alive;
  Bytes most = 0;
  for (const Allocation& a : log) {
    if (a.kind == Allocation::Kind::kAlloc && a.tag.phase == Phase::kRecompute && record::operator_name(a.tag.op) == op)
      alive[a.storage] = a.bytes;
    if (a.kind == Allocation::Kind::kFree) alive.erase(a.storage);
    Bytes now = 0;
    for (const auto& [storage, bytes] : alive) now += bytes;
    most = std::max(most, now);
  }
  return most;
}

TEST_CASE("selective checkpointing keeps the outputs of GEMMs and recomputes the rest") {
  install_allocation_log();
  // L = 4 layers, H = 256, F = 704, N = 128 tokens, 4 bytes; A = 8 heads.
  constexpr Bytes kWide = 4 * 128 * 704 * 4, kStream = 4 * 128 * 256 * 4, kScores = 4 * 8 * 128 * 128 * 4;
  const auto log = [](const Settings& on) { return third_step(joined({"batch=1", "seq=128"}, on), kPlanForCpu); };
  const auto off = log({}), selective = log({"checkpointing=selective"});
  CHECK(kept_by(off, "mlp.silu") == kWide);
  CHECK(kept_by(off, "mlp.product") == kWide);
  CHECK(kept_by(off, "mlp.rms_norm") > kStream);
  for (const char* op : {"mlp.silu", "mlp.product", "attention.rms_norm", "mlp.rms_norm"}) {
    CAPTURE(op);
    CHECK(kept_by(selective, op) == 0);
  }
  for (const char* op : {"mlp.gate_proj", "mlp.up_proj"}) CHECK(kept_by(selective, op) == kWide);
  CHECK(kept_by(selective, "attention.residual") == kStream);
  CHECK(kept_by(selective, "attention.rope") == kept_by(off, "attention.rope"));

  CHECK(kept_by(log({"attention=eager"}), "attention.scores") >= kScores);
  CHECK(kept_by(log({"attention=eager", "checkpointing=selective"}), "attention.scores") == 0);
  // Rebuilt tensors are freed with their layer.
  for (const char* op : {"mlp.product", "mlp.rms_norm"}) {
    CAPTURE(op);
    CHECK(most_rebuilt(selective, op) == kept_by(off, op) / 4);
  }
}

TEST_CASE("only eager attention writes a T × T block") {
  install_allocation_log();
  const auto largest = [](const char* attention) {
    Bytes most = 0;
    for (const Allocation& a : third_step({"precision=bf16", "batch=1", "seq=4096", attention}, kPlanForGpu)) {
      if (record::operator_name(a.tag.op).starts_with("attention.")) most = std::max(most, a.bytes);
    }
    return most;
  };
  CHECK(largest("attention=eager") == Bytes{8} * 4096 * 4096 * 4);  // the heads' scores in fp32
  CHECK(largest("attention=flash") < Bytes{4096} * 4096);           // not even one head's scores, at a byte each
}

TEST_CASE("micro-batches hold a portion of the activations and mark their number") {
  install_allocation_log();
  const auto whole = third_step(joined(kFiveLayers, {"batch=6"}), kPlanForCpu);
  const auto portions = third_step(joined(kFiveLayers, {"batch=2", "accumulate=3"}), kPlanForCpu);
  const auto activations = [](const std::vector<Allocation>& log) {
    return peak_by_category(log)[static_cast<std::size_t>(record::Category::kActivations)];
  };
  CHECK(activations(portions) * 5 < activations(whole) * 2);
  std::set<int> micro_batches;
  for (const Allocation& a : portions) {
    if (a.tag.phase == Phase::kForward || a.tag.phase == Phase::kBackward) micro_batches.insert(a.tag.micro_batch);
  }
  CHECK(micro_batches == std::set<int>{0, 1, 2});
  CHECK(make_run(joined(kFiveLayers, {"batch=2", "accumulate=3"}), kPlanForCpu)->tokens_per_step() == 6 * 24);
}

TEST_CASE("the loss of 2024 needs 16 V + 81,948 bytes per token for Llama 3.2 1B, four tensors of logits") {
  install_allocation_log();
  constexpr double kVocab = 128'256;
  constexpr std::int64_t kTokens = 8 * 1024;
  const Settings base{"model=llama-3.2-1b", "precision=fp16_mixed", "checkpointing=layer", "seq=1024"};
  const auto peak = [&](const char* batch, const char* loss, const char* keep) {
    return peak_of_run(joined(base, {batch, loss, keep}));
  };
  const Bytes at_8 = peak("batch=8", "loss=hf_2024", "keep_output=on");
  const Bytes at_16 = peak("batch=16", "loss=hf_2024", "keep_output=on");
  const double slope = static_cast<double>(at_16 - at_8) / kTokens;
  CAPTURE(slope);
  CHECK(slope == Approx(16 * kVocab + 81'948).epsilon(0.02));

  CHECK(at_8 - peak("batch=8", "loss=hf_2024", "keep_output=off") == kTokens * 128'256 * 4);

  // hf_2025: 14 V bytes per token, while backward holds the output, its log-softmax and the gradients of both.
  const double later = static_cast<double>(peak("batch=16", "loss=hf_2025", "keep_output=on") -
                                           peak("batch=8", "loss=hf_2025", "keep_output=on")) /
                       kTokens;
  CHECK(later == Approx(14 * kVocab + 81'948).epsilon(0.02));
}

TEST_CASE("a non-finite loss is reported with its step and the layer of its origin") {
  const llama::Config config{.id = "custom",
                             .hidden_size = 16,
                             .intermediate_size = 24,
                             .num_layers = 4,
                             .num_heads = 2,
                             .num_kv_heads = 1,
                             .head_dim = 8,
                             .vocab_size = 256};
  const std::string spoiled = GENERATE("", "model.layers.2.input_layernorm.weight", "model.norm.weight");
  const std::string checkpointing = GENERATE("checkpointing=off", "checkpointing=every", "checkpointing=selective");
  CAPTURE(spoiled, checkpointing);
  const TemporaryFolder folder;
  std::vector<TensorBytes> tensors;
  for (const llama::Parameter& p : llama::parameters(llama::make_model(config, {}, {}, /*seq=*/8, /*seed=*/5))) {
    at::Tensor values = p.tensor.detach().clone();
    if (p.name == spoiled) values.fill_(3e38);  // finite, unlike its products
    tensors.push_back({p.name, "F32", values.sizes().vec(),
                       std::string(static_cast<const char*>(values.const_data_ptr()), values.nbytes())});
  }
  write_bytes(folder.path() / "config.json", config_json(config).dump());
  write_bytes(folder.path() / "model.safetensors", safetensors(tensors));

  const auto run =
      make_run({"model=custom", "batch=2", "seq=8", checkpointing, "weights=" + folder.path().string()}, kCpu);
  std::vector<double> losses;
  for (int i = 0; i < 2; ++i) {
    run->step(i);
    losses.push_back(run->report().loss.value_or(0));
  }
  if (spoiled.empty()) {
    CHECK(std::isfinite(losses[1]));
    CHECK(run->note().empty());
    return;
  }
  CHECK_FALSE(std::isfinite(losses[0]));
  const std::string from =
      spoiled == "model.norm.weight"
          ? "all layers are finite; the infinity or NaN first appeared in the final norm or the loss"
          : "an infinity or a NaN first appeared in the output of layer 2";
  CHECK(run->note() == "The loss is not a number from step 0 on: " + from +
                           "; no weight has been updated yet, so use other weights or settings.");
}
