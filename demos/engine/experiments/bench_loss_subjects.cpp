// Cross entropy, alone and fused with the output layer; the embedding's gradient and AdamW.
#include <cmath>
#include <memory>
#include <utility>

#include "demos/engine/experiments/bench_subjects.h"
#include "kernels/adamw/adamw_ops.h"
#include "kernels/cross_entropy/cross_entropy_ops.h"
#include "kernels/embedding_backward/embedding_backward_ops.h"
#include "kernels/fused_linear_cross_entropy/fused_linear_cross_entropy_ops.h"

namespace headroom::experiments {

namespace {

using Tensors = std::vector<at::Tensor>;

at::Tensor random_ids(std::int64_t count, std::int64_t vocab, at::Device device) {
  return at::randint(vocab, {count}, at::TensorOptions().device(device).dtype(at::kLong));
}

at::Tensor no_error(at::Device device) { return at::zeros({1}, at::TensorOptions().device(device).dtype(at::kLong)); }

// As the Hugging Face model: in fp32 from the cast on.
at::Tensor eager_cross_entropy(const at::Tensor& logits_NV, const at::Tensor& targets_N) {
  return at::nll_loss(at::log_softmax(logits_NV.to(at::kFloat), -1), targets_N);
}

record::Bytes bytes_of(const at::Tensor& tensor) { return static_cast<record::Bytes>(tensor.nbytes()); }

}  // namespace

BenchSubjects cross_entropy_subjects(const BenchCase& one, at::Device device) {
  const at::Tensor logits_NV = bench_random({one.rows, one.width}, type_of(one), device);
  const at::Tensor targets_N = random_ids(one.rows, one.width, device);
  BenchSubjects all;
  all.graphs = false;
  // The loss alone is half of loss and gradient: one read.
  all.work = [one](const std::string& pass) {
    BenchWork work = work_of(one, "full");
    if (pass == "forward") work = {work.bytes / 2, work.flops / 2};
    return work;
  };
  const auto library = [](const at::Tensor& logits, const at::Tensor& targets) {
    return at::cross_entropy_loss(logits, targets);
  };
  const auto add = [&](const char* variant, at::Tensor (*loss)(const at::Tensor&, const at::Tensor&)) {
    all.subjects.push_back({variant, "forward", [=] { return Tensors{loss(logits_NV, targets_N)}; }});
    all.subjects.push_back({variant, "full", [=, x = leaf(logits_NV)] {
                              const at::Tensor value = loss(x, targets_N);
                              return with_gradients({value}, {x}, {at::ones_like(value)});
                            }});
  };
  add("eager", &eager_cross_entropy);
  add("library", library);
  const kernels::CrossEntropyOptions options{.in_place = true, .valid_count = one.rows, .error_flag = no_error(device)};
  all.subjects.push_back({"fused", "forward", [=] {
                            return Tensors{kernels::cross_entropy_forward_only(logits_NV, targets_N, options).loss};
                          }});
  // Its own logits, which the gradient overwrites; the next call takes the gradient for logits.
  all.subjects.push_back({"fused", "full", [=, own = logits_NV.clone()] {
                            const auto out = kernels::cross_entropy_forward(own, targets_N, options);
                            return Tensors{out.loss, out.dlogits};
                          }});
  all.reference = [=](const std::string& pass) {
    const auto exact = kernels::cross_entropy_reference(logits_NV, targets_N);
    return pass == "forward" ? Tensors{exact.loss} : Tensors{exact.loss, exact.dlogits};
  };
  return all;
}

BenchSubjects linear_cross_entropy_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const std::int64_t N = one.rows, H = one.width, V = one.vocab;
  const at::Tensor x_NH = bench_random({N, H}, type, device);
  const at::Tensor weight_VH = bench_random({V, H}, type, device).div_(std::sqrt(static_cast<double>(H)));
  const at::Tensor targets_N = random_ids(N, V, device);
  BenchSubjects all;
  all.of_memory = all.graphs = false;
  all.work = [one](const std::string&) { return work_of(one, "full"); };
  // The yardstick: what no form can leave out, as whole products of random numbers.
  all.subjects.push_back({"matmul", "full", [=, dz_NV = bench_random({N, V}, type, device)] {
                            const at::Tensor logits = at::mm(x_NH, weight_VH.t());
                            return Tensors{{}, at::mm(dz_NV, weight_VH), at::mm(dz_NV.t(), x_NH)};
                          }});
  const record::Bytes gradients = bytes_of(x_NH) + bytes_of(weight_VH);
  all.subjects.push_back({"eager", "full",
                          [=, x = leaf(x_NH), w = leaf(weight_VH)] {
                            const at::Tensor loss = eager_cross_entropy(at::mm(x, w.t()), targets_N);
                            return with_gradients({loss}, {x, w}, {at::ones_like(loss)});
                          },
                          gradients});
  const auto add = [&](const char* variant, kernels::FlceMode mode, bool fp32_weight_gradient,
                       record::Bytes not_counted) {
    const kernels::FlceOptions options{
        .mode = mode, .fp32_weight_gradient = fp32_weight_gradient, .valid_count = N, .error_flag = no_error(device)};
    all.subjects.push_back({variant, "full",
                            [=] {
                              const auto out = kernels::flce(x_NH, weight_VH, targets_N, options);
                              return Tensors{out.loss, out.dx, out.dweight};
                            },
                            not_counted});
  };
  add("fused", kernels::FlceMode::kChunked, false, gradients);
  const record::Bytes fp32 = static_cast<record::Bytes>(sizeof(float));
  if (type != at::kFloat)
    add("fused_fp32", kernels::FlceMode::kChunked, true, bytes_of(x_NH) + weight_VH.numel() * fp32);
  add("fused_lean", kernels::FlceMode::kLean, false, x_NH.numel() * fp32 + bytes_of(weight_VH));
  all.reference = [=](const std::string&) {
    const auto exact = kernels::flce_reference(x_NH, weight_VH, targets_N);
    return Tensors{exact.loss, exact.dx, exact.dweight};
  };
  return all;
}

BenchSubjects embedding_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  const at::Tensor dy_NH = bench_random({one.rows, one.width}, type, device);
  const at::Tensor ids_N = random_ids(one.rows, one.vocab, device);
  const std::int64_t V = one.vocab, H = one.width;
  BenchSubjects all;
  all.graphs = false;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  all.subjects.push_back({"eager", "backward", [=] {
                            return Tensors{at::zeros({V, H}, dy_NH.options()).index_add_(0, ids_N, dy_NH)};
                          }});
  all.subjects.push_back(
      {"library", "backward", [=] { return Tensors{at::embedding_dense_backward(dy_NH, ids_N, V, -1, false)}; }});
  all.subjects.push_back({"fused", "backward", [=] {
                            const at::Tensor dweight = at::empty({V, H}, dy_NH.options());
                            kernels::embedding_backward(dy_NH, ids_N, dweight, /*accumulate=*/false);
                            return Tensors{dweight};
                          }});
  all.reference = [=](const std::string&) { return Tensors{kernels::embedding_backward_reference(dy_NH, ids_N, V)}; };
  return all;
}

BenchSubjects adamw_subjects(const BenchCase& one, at::Device device) {
  const at::ScalarType type = type_of(one);
  constexpr double kRate = 1e-3, kBeta1 = 0.9, kBeta2 = 0.95, kEpsilon = 1e-8, kDecay = 0.1;
  const at::Tensor start = bench_random({one.width}, type, device), gradient = bench_random({one.width}, type, device);
  struct State {
    at::Tensor param, m, v;
  };
  const auto fresh = [=] { return State{start.clone(), at::zeros_like(start), at::zeros_like(start)}; };
  BenchSubjects all;
  all.graphs = false;
  all.work = [one](const std::string& pass) { return work_of(one, pass); };
  const double correction1 = 1 - kBeta1, correction2 = 1 - kBeta2;  // of the first step
  all.subjects.push_back({"eager", "forward", [=, s = fresh()] {
                            s.param.mul_(1 - kRate * kDecay);
                            s.m.lerp_(gradient, 1 - kBeta1);
                            s.v.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
                            const at::Tensor root = (s.v.sqrt() / std::sqrt(correction2)).add_(kEpsilon);
                            s.param.addcdiv_(s.m, root, -kRate / correction1);
                            return Tensors{s.param};
                          }});
  all.subjects.push_back({"library", "forward", [=, s = fresh()] {
                            const at::Tensor steps = at::ones({}, start.options().dtype(at::kFloat));
                            at::_fused_adamw_({s.param}, {gradient}, {s.m}, {s.v}, {}, {steps}, kRate, kBeta1, kBeta2,
                                              kDecay, kEpsilon, /*amsgrad=*/false, /*maximize=*/false);
                            return Tensors{s.param};
                          }});
  all.subjects.push_back({"fused", "forward", [=, s = fresh()] {
                            const kernels::AdamWParameter parameter{
                                .param = s.param, .gradient = gradient, .first_moment = s.m, .second_moment = s.v};
                            kernels::adamw(std::span(&parameter, 1),
                                           kernels::adamw_step_constants(kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1));
                            return Tensors{s.param};
                          }});
  all.reference = [=](const std::string&) {
    const at::Tensor zero = at::zeros_like(start);
    return Tensors{
        kernels::adamw_reference(start, gradient, zero, zero, kRate, kBeta1, kBeta2, kEpsilon, kDecay, 1).param};
  };
  return all;
}

}  // namespace headroom::experiments
