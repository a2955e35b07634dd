// CPU kernels with 1, 2, 3 and 16 threads. The end of a thread's share decides where its vector loop ends, which must
// not change a bit.
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include <ATen/Parallel.h>

#include "kernels/adamw/adamw_ops.h"
#include "kernels/adamw_8bit/adamw_8bit_ops.h"
#include "kernels/add_rms_norm/add_rms_norm_ops.h"
#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"
#include "kernels/geglu/geglu_ops.h"
#include "kernels/gradient_check/gradient_check_ops.h"
#include "kernels/layer_norm/layer_norm_ops.h"
#include "kernels/nf4/nf4_ops.h"
#include "kernels/rms_norm/rms_norm_ops.h"
#include "kernels/rope/rope_ops.h"
#include "kernels/swiglu/swiglu_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using Results = std::vector<at::Tensor>;

// A prime, with at least 32,768 elements for each of 16 threads: no share is a whole number of vectors.
constexpr std::int64_t kElements = 16 * 32768 + 13;

at::ScalarType any_type() { return GENERATE(at::kFloat, at::kBFloat16, at::kHalf); }

at::Tensor random(at::IntArrayRef shape, at::ScalarType type, double scale = 1) {
  return (at::randn(shape) * scale).to(type);
}

// `run` computes new results in each call.
void check_threads(const std::function<Results()>& run) {
  const int before = at::get_num_threads();
  const auto with_threads = [&](int count) {
    at::set_num_threads(count);
    Results results = run();
    at::set_num_threads(before);
    return results;
  };
  const Results alone = with_threads(1);
  for (const int threads : {2, 3, 16}) {
    const Results together = with_threads(threads);
    REQUIRE(together.size() == alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      CAPTURE(threads, i);
      CHECK(tests::same_bits(alone[i], together[i]));
    }
  }
}

TEST_CASE("the tested loops use 16 threads") {
  const int before = at::get_num_threads();
  at::set_num_threads(16);
  std::vector<int> seen(16, 0);
  at::parallel_for(0, 16, 1, [&](std::int64_t begin, std::int64_t end) {
    for (; begin < end; ++begin) seen[static_cast<std::size_t>(begin)] = at::get_thread_num();
  });
  at::set_num_threads(before);
  std::vector<int> all(16);
  std::iota(all.begin(), all.end(), 0);
  CHECK(seen == all);
}

TEST_CASE("threads do not change a gated activation's bits") {
  const at::ScalarType type = any_type();
  const bool silu = GENERATE(true, false);
  const at::Tensor gate = random({kElements}, type, 3), up = random({kElements}, type), dh = random({kElements}, type);
  check_threads([&] {
    const at::Tensor h = silu ? kernels::swiglu_forward(gate, up) : kernels::geglu_forward(gate, up);
    const kernels::GatedGradients gradients = (silu ? kernels::swiglu_backward : kernels::geglu_backward)(
        dh, gate, up, /*rebuild_h=*/true, /*in_place=*/false);
    return Results{h, gradients.dgate, gradients.dup, gradients.h};
  });
}

TEST_CASE("threads do not change a norm's bits") {
  const at::ScalarType type = any_type();
  constexpr std::int64_t kRows = 521, kWidth = 1031;
  const at::Tensor x = random({kRows, kWidth}, type), residual = random({kRows, kWidth}, type);
  const at::Tensor dy = random({kRows, kWidth}, type), w = random({kWidth}, type), b = random({kWidth}, type);
  check_threads([&] {
    const kernels::RmsNormOut rms = kernels::rms_norm_forward(x, w, 1e-5);
    const kernels::NormGradients rms_gradients = kernels::rms_norm_backward(dy, x, w, rms.rstd, residual, false);
    return Results{rms.y, rms.rstd, kernels::rms_norm_rebuild(x, w, rms.rstd), rms_gradients.dx, rms_gradients.dweight};
  });
  check_threads([&] {
    const kernels::AddRmsNormOut add = kernels::add_rms_norm_forward(x, residual, w, 1e-5);
    return Results{add.sum, add.y, add.rstd};
  });
  check_threads([&] {
    const kernels::LayerNormOut layer = kernels::layer_norm_forward(x, w, b, 1e-5);
    const kernels::NormGradients gradients = kernels::layer_norm_backward(dy, x, w, layer.mean, layer.rstd, false);
    return Results{layer.y, layer.mean, layer.rstd, gradients.dx, gradients.dweight, gradients.dbias};
  });
}

TEST_CASE("threads do not change RoPE's bits") {
  const at::ScalarType type = any_type();
  constexpr std::int64_t kLength = 211, kHalf = 19;
  const at::Tensor q = random({3, kLength, 16, 2 * kHalf}, type), k = random({3, kLength, 5, 2 * kHalf}, type);
  const at::Tensor angle = at::randn({kLength, kHalf});
  const bool inverse = GENERATE(false, true);
  check_threads([&] {
    const Results turned{q.clone(), k.clone()};
    kernels::rope_apply_(turned[0], turned[1], angle.cos(), angle.sin(), inverse);
    return turned;
  });
}

TEST_CASE("threads do not change cross entropy's bits") {
  const at::ScalarType type = any_type();
  const at::Tensor logits = random({67, 32771}, type, 4), targets = at::randint(32771, {67});
  check_threads([&] {
    const kernels::CrossEntropyOut out = kernels::cross_entropy_forward(logits, targets, {.label_smoothing = 0.1});
    kernels::scale_gradient_(out.dlogits, at::full({}, 0.3F));
    return Results{out.loss, out.dlogits};
  });
}

// PyTorch's GEMMs of these integers are exact in any order.
TEST_CASE("threads do not change the fused loss's bits") {
  const at::ScalarType type = any_type();
  const kernels::FlceMode mode = GENERATE(kernels::FlceMode::kChunked, kernels::FlceMode::kLean);
  const at::Tensor x = at::randint(-2, 3, {61, 24}).to(type), w = at::randint(-2, 3, {4099, 24}).to(type);
  const at::Tensor targets = at::randint(4099, {61});
  check_threads([&] { return Results{kernels::flce(x, w, targets, {.mode = mode}).loss}; });
}

TEST_CASE("threads do not change the embedding's gradient's bits") {
  const at::ScalarType type = any_type();
  const at::ScalarType table = GENERATE_COPY(at::kFloat, type);
  constexpr std::int64_t kVocab = 1009, kWidth = 1031;
  const at::Tensor dy = random({300, kWidth}, type), ids = at::randint(200, {300}),
                   before = random({kVocab, kWidth}, table);
  const bool accumulate = GENERATE(false, true);
  check_threads([&] {
    const at::Tensor dweight = before.clone();
    kernels::embedding_backward(dy, ids, dweight, accumulate);
    return Results{dweight};
  });
}

// Types of two weight tensors; a thread's share may end in either tensor.
struct Weights {
  at::ScalarType type, gradient;
  bool masters, stochastic;
};

Weights any_weights() {
  return GENERATE(Weights{at::kFloat, at::kFloat, false, false}, Weights{at::kBFloat16, at::kBFloat16, false, true},
                  Weights{at::kHalf, at::kFloat, false, false}, Weights{at::kFloat, at::kHalf, true, false});
}

const kernels::AdamWStep& third_step() {
  static const kernels::AdamWStep step = kernels::adamw_step_constants(1e-3, 0.9, 0.95, 1e-8, 0.1, 3);
  return step;
}

TEST_CASE("threads do not change AdamW's bits") {
  const Weights of = any_weights();
  const at::ScalarType moments = of.type == at::kHalf ? at::kFloat : GENERATE(at::kFloat, at::kBFloat16);
  std::vector<kernels::AdamWParameter> weights;
  for (const std::int64_t n : {kElements / 3, kElements}) {
    weights.push_back({.param = random({n}, of.type, 0.02),
                       .gradient = random({n}, of.gradient, 1e-3),
                       .first_moment = random({n}, moments, 1e-3),
                       .second_moment = (at::rand({n}) * 1e-6).to(moments),
                       .working = of.masters ? random({n}, of.gradient) : at::Tensor()});
  }
  check_threads([&] {
    std::vector<kernels::AdamWParameter> stepped = weights;
    Results results;
    for (kernels::AdamWParameter& p : stepped) {
      for (at::Tensor* changed : {&p.param, &p.first_moment, &p.second_moment, &p.working}) {
        if (changed->defined()) results.push_back(*changed = changed->clone());
      }
    }
    kernels::adamw(stepped, third_step(), {.stochastic_rounding = of.stochastic, .seed = 5});
    return results;
  });
}

TEST_CASE("threads do not change 8-bit AdamW's bits") {
  const Weights of = any_weights();
  std::vector<kernels::AdamW8bitParameter> weights;
  for (const std::int64_t n : {kElements / 3, kElements}) {
    const kernels::BlockQuantised m = kernels::quantise_blockwise(random({n}, at::kFloat, 1e-3), /*is_signed=*/true);
    const kernels::BlockQuantised v = kernels::quantise_blockwise(at::rand({n}) * 1e-6, /*is_signed=*/false);
    weights.push_back({.param = random({n}, of.type, 0.02),
                       .gradient = random({n}, of.gradient, 1e-3),
                       .m_codes = m.codes,
                       .m_absmax = m.absmax,
                       .v_codes = v.codes,
                       .v_absmax = v.absmax,
                       .working = of.masters ? random({n}, of.gradient) : at::Tensor()});
  }
  check_threads([&] {
    std::vector<kernels::AdamW8bitParameter> stepped = weights;
    Results results;
    for (kernels::AdamW8bitParameter& p : stepped) {
      for (at::Tensor* changed : {&p.param, &p.m_codes, &p.m_absmax, &p.v_codes, &p.v_absmax, &p.working}) {
        if (changed->defined()) results.push_back(*changed = changed->clone());
      }
    }
    kernels::adamw_8bit(stepped, third_step(), {.stochastic_rounding = of.stochastic, .seed = 5});
    return results;
  });
}

TEST_CASE("threads do not change quantized bits") {
  const at::ScalarType type = any_type();
  const at::Tensor x = random({kElements}, type, 0.02);
  check_threads([&] {
    const kernels::Nf4Matrix nf4 = kernels::nf4_quantise(x);
    const kernels::BlockQuantised blocks = kernels::quantise_blockwise(x.to(at::kFloat), /*is_signed=*/true);
    return Results{nf4.codes,
                   nf4.absmax_codes,
                   nf4.absmax_scale,
                   nf4.absmax_mean,
                   kernels::nf4_dequantise(nf4, type),
                   blocks.codes,
                   blocks.absmax,
                   kernels::dequantise_blockwise(blocks.codes, blocks.absmax, /*is_signed=*/true, kElements)};
  });
}

TEST_CASE("threads find an overflow wherever it is") {
  const at::Tensor gradient = random({kElements}, any_type());
  const std::int64_t place = GENERATE(std::int64_t{0}, (kElements + 1) / 2, kElements - 1);
  gradient[place] = std::numeric_limits<float>::infinity();
  check_threads([&] {
    const at::Tensor overflow = at::zeros({1}, at::kInt);
    kernels::check_finite_(std::span(&gradient, 1), overflow);
    CHECK(overflow.item<int>() != 0);
    return Results{overflow};
  });
}

}  // namespace
