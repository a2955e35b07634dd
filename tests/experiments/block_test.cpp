// The demo `block`: settings, parameter counts, gradients against float64, and equality with the model's layer.
#include <cmath>
#include <numbers>

#include "demos/engine/experiments/decoder_block.h"
#include "demos/engine/experiments/demo_run.h"
#include "demos/engine/llama/model/backward.h"
#include "demos/experiments/demo.h"
#include "demos/experiments/info/block_model.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using experiments::DecoderBlock;

constexpr std::int64_t kBatch = 2, kSeq = 16, kHidden = 128, kMlp = 4 * kHidden;
constexpr std::uint64_t kSeed = 5;

record::Params settings(const std::vector<std::string>& changes) {
  record::Params params(experiments::find_demo("block")->schema);
  for (const std::string& each : {std::string("hidden_size=128"), std::string("batch=2"), std::string("seq=16")})
    REQUIRE(params.set_assignment(each).ok());
  for (const std::string& each : changes) REQUIRE(params.set_assignment(each).ok());
  return params;
}

llama::Architecture shape_of(const std::vector<std::string>& changes) {
  const auto shape = experiments::block_model(settings(changes));
  REQUIRE(shape.ok());
  return shape.value();
}

const std::vector<std::string> kLlama{"positions=rope", "norm=rms_norm",  "mlp=swiglu",
                                      "dropout=off",    "num_kv_heads=1", "biases=off"};

std::int64_t count(const llama::Architecture& shape) {
  std::int64_t sum = 0;
  for (const at::Tensor& each : experiments::parameters(experiments::make_block(shape, {}, kSeed))) sum += each.numel();
  return sum;
}

std::int64_t counted(const llama::Architecture& shape) {
  std::int64_t sum = 0;
  for (const llama::Block block :
       {llama::Block::kPositions, llama::Block::kNorms, llama::Block::kAttention, llama::Block::kMlp})
    sum += llama::numbers_of(shape, block, kSeq).parameters;
  return sum;
}

at::Tensor plain_norm(const experiments::BlockNorm& norm, const at::Tensor& x) {
  constexpr double kEps = 1e-5;
  const at::Tensor centred = norm.bias_H.defined() ? x - x.mean(-1, true) : x;
  const at::Tensor y = centred / (centred.square().mean(-1, true) + kEps).sqrt() * norm.weight_H;
  return norm.bias_H.defined() ? y + norm.bias_H : y;
}

at::Tensor plain_product(const at::Tensor& x, const llama::Projection& p) {
  const at::Tensor y = at::matmul(x, p.weight_OI.t());
  return p.bias_O.defined() ? y + p.bias_O : y;
}

// Rotates pairs (j, j + D/2) as complex numbers by e^(i · position · frequency_j).
at::Tensor plain_rope(const at::Tensor& x_BTAD, const llama::Config& config) {
  const std::int64_t half = config.head_dim / 2;
  const at::Tensor exponent = at::arange(half, at::kDouble) / half;
  const at::Tensor angle = at::outer(at::arange(kSeq, at::kDouble), at::pow(config.rope_theta, -exponent)).unsqueeze(1);
  const at::Tensor a = x_BTAD.narrow(-1, 0, half), b = x_BTAD.narrow(-1, half, half);
  return at::cat({a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()}, -1);
}

at::Tensor plain_attention(const DecoderBlock& block, const at::Tensor& x) {
  const llama::Config& c = block.shape.shape;
  const auto heads = [&](const llama::Projection& p, std::int64_t count) {
    return plain_product(x, p).view({kBatch, kSeq, count, c.head_dim});
  };
  at::Tensor q = heads(block.q, c.num_heads), k = heads(block.k, c.num_kv_heads), v = heads(block.v, c.num_kv_heads);
  if (!block.shape.learned_positions) {
    q = plain_rope(q, c);
    k = plain_rope(k, c);
  }
  k = k.repeat_interleave(c.num_heads / c.num_kv_heads, 2);
  v = v.repeat_interleave(c.num_heads / c.num_kv_heads, 2);
  const at::Tensor later = at::ones({kSeq, kSeq}, at::kBool).triu(1);
  const at::Tensor scores = at::matmul(q.transpose(1, 2), k.permute({0, 2, 3, 1})) / std::sqrt(c.head_dim);
  const at::Tensor o = at::matmul(scores.masked_fill(later, -INFINITY).softmax(-1), v.transpose(1, 2));
  return plain_product(o.transpose(1, 2).reshape({kBatch, kSeq, -1}), block.o);
}

at::Tensor plain_mlp(const DecoderBlock& block, const at::Tensor& x) {
  const at::Tensor up = plain_product(x, block.up);
  if (!block.shape.gelu) {
    const at::Tensor gate = plain_product(x, block.gate);
    return plain_product(gate / (1 + (-gate).exp()) * up, block.down);
  }
  const at::Tensor inner = std::sqrt(2 / std::numbers::pi) * (up + 0.044715 * up.pow(3));
  return plain_product(0.5 * up * (1 + inner.tanh()), block.down);
}

// The same seed gives the same mask for every type.
at::Tensor plain_dropout(const DecoderBlock& block, const at::Tensor& x) {
  if (!block.shape.dropout) return x;
  return x * at::empty(x.sizes(), at::kBool).bernoulli_(0.9) / 0.9;
}

at::Tensor plain_forward(const DecoderBlock& block, at::Tensor x) {
  if (block.shape.learned_positions) x = x + block.positions_TH;
  x = x + plain_dropout(block, plain_attention(block, plain_norm(block.attention_norm, x)));
  return x + plain_dropout(block, plain_mlp(block, plain_norm(block.mlp_norm, x)));
}

// Adds noise to the weights, so that each part affects the result, and copies them to float64.
void fill(DecoderBlock& narrow, DecoderBlock& wide) {
  const at::AutoGradMode grad_mode(false);
  at::manual_seed(1);
  std::vector<at::Tensor> from = experiments::parameters(narrow);
  for (at::Tensor& each : from) each.add_(at::randn_like(each), 0.1);
  const auto widen = [](at::Tensor& tensor) {
    if (tensor.defined()) tensor = tensor.detach().to(at::kDouble).requires_grad_(true);
  };
  wide = narrow;
  widen(wide.positions_TH);
  for (experiments::BlockNorm* norm : {&wide.attention_norm, &wide.mlp_norm}) {
    widen(norm->weight_H);
    widen(norm->bias_H);
  }
  for (llama::Projection* p : {&wide.q, &wide.k, &wide.v, &wide.o, &wide.gate, &wide.up, &wide.down}) {
    widen(p->weight_OI);
    widen(p->bias_O);
  }
}

double distance(const at::Tensor& got, const at::Tensor& exact) {
  return ((got.to(at::kDouble) - exact).abs().max() / exact.abs().max()).item<double>();
}

std::vector<std::string> changed(int bits) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < kLlama.size(); ++i)
    if ((bits >> i & 1) != 0) all.push_back(kLlama[i]);
  return all;
}

}  // namespace

TEST_CASE("unknown settings and impossible blocks are refused with a sentence") {
  record::Params params = settings({});
  for (const char* wrong : {"positions=none", "norm=batch_norm", "mlp=relu", "dropout=maybe", "storage=fp8", "heads=4",
                            "num_kv_heads=-1", "seq=4"})
    CHECK_FALSE(params.set_assignment(wrong).ok());
  const experiments::DemoRunner* runner = experiments::find_runner("block");
  REQUIRE(runner != nullptr);
  const auto why = [&](const std::vector<std::string>& changes, at::Device device = at::kCPU) {
    const auto made =
        experiments::make_run(*runner, settings(changes), {.place = {.device = device}, .course_text = {}});
    return made.ok() ? std::string() : made.error().message;
  };
  CHECK(why({"hidden_size=100"}) == "hidden_size=100 is not a multiple of 64, the width of a head.");
  CHECK(why({"num_kv_heads=3"}) == "num_kv_heads=3 does not divide the 2 query heads of hidden_size=128.");
  CHECK(why({}, at::kMeta) == "A block can be run but not predicted.");
  CHECK(why({}).empty());
}

TEST_CASE("each change adds and removes the parameters counted by hand") {
  constexpr std::int64_t kMatrix = kHidden * kHidden, kWide = kHidden * kMlp;
  constexpr std::int64_t kPositions = kSeq * kHidden, kNorms = 2 * 2 * kHidden;
  constexpr std::int64_t kBiases = 4 * kHidden + kMlp + kHidden;
  constexpr std::int64_t kGpt2 = kPositions + kNorms + 4 * kMatrix + 2 * kWide + kBiases;
  CHECK(count(shape_of({})) == kGpt2);
  CHECK(count(shape_of({"positions=rope"})) == kGpt2 - kPositions);
  CHECK(count(shape_of({"norm=rms_norm"})) == kGpt2 - kNorms / 2);
  CHECK(count(shape_of({"mlp=swiglu"})) == kGpt2 + kWide + kMlp);
  CHECK(count(shape_of({"dropout=off"})) == kGpt2);
  CHECK(count(shape_of({"num_kv_heads=1"})) == kGpt2 - 2 * 64 * (kHidden + 1));
  CHECK(count(shape_of({"biases=off"})) == kGpt2 - kBiases);
  CHECK(count(shape_of(kLlama)) == kNorms / 2 + 2 * kMatrix + kMatrix + 3 * kWide);
  for (int bits = 0; bits < 64; ++bits) {
    CAPTURE(bits);
    CHECK(count(shape_of(changed(bits))) == counted(shape_of(changed(bits))));
  }
}

TEST_CASE("a layer of Llama 3.2 1B is two settings away from GPT-2 medium, as its page counts") {
  std::vector<std::string> changes = kLlama;
  changes.insert(changes.end(), {"hidden_size=2048", "num_kv_heads=8"});
  CHECK(counted(shape_of(changes)) == 60'821'504);
}

TEST_CASE("result and gradients match plain operators in float64, with any of the changes") {
  const int bits = GENERATE(0, 1, 2, 4, 8, 16, 32, 63, 21, 42);
  CAPTURE(bits);
  DecoderBlock block = experiments::make_block(shape_of(changed(bits)), {}, kSeed), wide;
  fill(block, wide);
  at::manual_seed(2);
  const at::Tensor x = at::randn({kBatch, kSeq, kHidden}), dy = at::randn({kBatch, kSeq, kHidden});
  const bool takes_gradient = !block.shape.learned_positions;
  const at::Tensor x_narrow = x.clone().requires_grad_(takes_gradient);
  const at::Tensor x_wide = x.to(at::kDouble).requires_grad_(takes_gradient);
  at::manual_seed(3);
  const at::Tensor y = experiments::block_forward(block, x_narrow);
  at::manual_seed(3);
  const at::Tensor exact = plain_forward(wide, x_wide);
  CHECK(distance(y, exact) < 1e-5);
  llama::run_backward(y, dy);
  llama::run_backward(exact, dy.to(at::kDouble));
  const std::vector<at::Tensor> got = experiments::parameters(block), expected = experiments::parameters(wide);
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i, got[i].sizes());
    REQUIRE(got[i].grad().defined());
    // The keys' bias shifts all scores of a query alike, so the bias's gradient is only rounding error.
    if (expected[i].grad().abs().max().item<double>() < 1e-9) continue;
    CHECK(distance(got[i].grad(), expected[i].grad()) < 2e-5);
  }
  if (takes_gradient) CHECK(distance(x_narrow.grad(), x_wide.grad()) < 2e-5);
}

TEST_CASE("a block with all changes equals the model's layer bit for bit, gradients included") {
  const at::ScalarType type = GENERATE(at::kFloat, at::kBFloat16);
  const llama::ModelPlace placement{.type = type};
  DecoderBlock block = experiments::make_block(shape_of(kLlama), placement, kSeed);
  llama::Config config = block.shape.shape;
  config.vocab_size = 256;
  llama::Model model = llama::make_model(config, {}, placement, kSeq, kSeed + 1);
  llama::LayerWeights& w = model.layers.front();
  const std::vector<at::Tensor> of_model{w.attention_norm_H, w.mlp_norm_H,   w.q_proj_QH,  w.k_proj_KH,   w.v_proj_KH,
                                         w.o_proj_HQ,        w.gate_proj_FH, w.up_proj_FH, w.down_proj_HF};
  const std::vector<at::Tensor> of_block = experiments::parameters(block);
  REQUIRE(of_block.size() == of_model.size());
  {
    const at::AutoGradMode grad_mode(false);
    for (std::size_t i = 0; i < of_block.size(); ++i) at::Tensor(of_model[i]).copy_(of_block[i]);
  }
  const auto options = at::TensorOptions().dtype(type);
  const at::Tensor x = at::randn({kBatch, kSeq, kHidden}, options), dy = at::randn({kBatch, kSeq, kHidden}, options);
  const at::Tensor y = experiments::block_forward(block, x), y_of_model = llama::layer_forward(model, 0, x);
  CHECK(at::equal(y, y_of_model));
  llama::run_backward(y, dy);
  llama::run_backward(y_of_model, dy);
  for (std::size_t i = 0; i < of_block.size(); ++i) CHECK(at::equal(of_block[i].grad(), of_model[i].grad()));
}
