// Shared by all kernel cases: inputs, autograd, errors.
#include "kernels/kernel_case.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include <torch/csrc/autograd/autograd.h>

namespace headroom::kernels {

at::Tensor TensorMaker::random(at::IntArrayRef sizes, double scale) const {
  const std::int64_t numel = c10::multiply_integers(sizes);
  const at::Tensor all = at::randn({numel + offset}, at::TensorOptions().device(device).dtype(type));
  return (scale == 1 ? all : all.mul_(scale)).narrow(0, offset, numel).view(sizes);
}

at::Tensor TensorMaker::ids(std::int64_t count, std::int64_t end) const {
  return at::randint(end, {count}, at::TensorOptions().device(device).dtype(at::kLong));
}

const KernelCase* find_case(std::string_view id) {
  for (const KernelCase* each : kernel_cases())
    if (each->id == id) return each;
  return nullptr;
}

double relative_error(const at::Tensor& value, const at::Tensor& exact) {
  if (exact.numel() == 0) return 0;
  const at::Tensor reference = exact.detach().to(at::kDouble);
  const at::Tensor off = (value.detach().to(reference.device(), at::kDouble) - reference).abs();
  const double error = (off.max() / reference.abs().max().clamp_min(1e-30)).item<double>();
  return error >= 0 ? error : std::numeric_limits<double>::infinity();
}

double relative_error(const Tensors& values, const Tensors& exact) {
  double worst = -1;
  for (std::size_t i = 0; i < std::min(values.size(), exact.size()); ++i) {
    if (!exact[i].defined() || !values[i].defined()) continue;
    worst = std::max(worst, relative_error(values[i], exact[i]));
  }
  return worst;
}

PassWork work_of(const KernelInfo& kernel, const Shape& shape, const std::string& pass, at::ScalarType type) {
  PassWork work;
  const auto take = [&](Pass each) {
    work.bytes += kernel.bytes(shape, each, static_cast<std::int64_t>(c10::elementSize(type)));
    work.flops += static_cast<double>(kernel.flops(shape, each));
  };
  if (pass != "backward") take(Pass::kForward);
  if (pass != "forward") take(Pass::kBackward);
  return work;
}

at::Tensor leaf(const at::Tensor& tensor) { return tensor.detach().requires_grad_(); }

Tensors with_gradients(const Tensors& outputs, const Tensors& inputs, const Tensors& upstream) {
  Tensors all = outputs;
  for (at::Tensor& gradient : torch::autograd::grad(outputs, inputs, upstream)) all.push_back(std::move(gradient));
  return all;
}

void add_differentiated(KernelForms& to, const std::string& variant, Compute compute, const KernelInputs& in) {
  Tensors leaves;
  for (const at::Tensor& input : in.inputs) leaves.push_back(leaf(input));
  to.forms.push_back({variant, "forward", [compute, inputs = in.inputs] {
                        const at::NoGradGuard no_gradients;
                        return compute(inputs);
                      }});
  // The first call builds the graph. Built earlier, the graph would count as an input of other passes.
  to.forms.push_back(
      {variant, "backward", [compute, leaves, upstream = in.upstream, kept = std::make_shared<Tensors>()] {
         if (kept->empty()) *kept = compute(leaves);
         return torch::autograd::grad(*kept, leaves, upstream, /*retain_graph=*/true);
       }});
  to.forms.push_back({variant, "full", [compute, leaves, upstream = in.upstream] {
                        return with_gradients(compute(leaves), leaves, upstream);
                      }});
}

std::function<Tensors(const std::string& pass)> differentiated_exactly(Compute compute, const KernelInputs& in) {
  return [compute = std::move(compute), in](const std::string& pass) {
    Tensors leaves, upstream;
    for (const at::Tensor& input : in.inputs) leaves.push_back(leaf(input.to(at::kDouble)));
    for (const at::Tensor& dy : in.upstream) upstream.push_back(dy.to(at::kDouble));
    const Tensors outputs = compute(leaves);
    if (pass == "forward") return outputs;
    Tensors all = with_gradients(outputs, leaves, upstream);
    if (pass == "backward") all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(outputs.size()));
    return all;
  };
}

}  // namespace headroom::kernels
