// Compares each kernel with the other forms of its case, at odd shapes.
#include <algorithm>
#include <map>
#include <string>

#include "kernels/kernel_case.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/kernels/tested_device.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using kernels::KernelCase;
using kernels::KernelForm;
using kernels::Tensors;

constexpr const char* kPasses[] = {"forward", "backward", "full"};

// Runs every form of a pass once; in-place forms overwrite their inputs.
std::map<std::string, Tensors> results_of(const kernels::KernelForms& all, const std::string& pass) {
  std::map<std::string, Tensors> results;
  for (const KernelForm& form : all.forms)
    if (form.pass == pass && form.variant != "matmul") results[form.variant] = form.call();
  return results;
}

// Error allowed beyond twice PyTorch's: for sums in another order, and for one rounding where chance decides it.
double allowance(const KernelCase& kernel, at::ScalarType type) {
  if (!kernel.rounded_by_chance || type == at::kFloat) return tests::kFloor;
  return type == at::kHalf ? 0x1p-11 : 0x1p-8;
}

void check_errors(const Tensors& ours, const Tensors& theirs, const Tensors& exact, double allowed, bool one_column) {
  REQUIRE(ours.size() == exact.size());
  REQUIRE(theirs.size() == exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    CAPTURE(i);
    const double largest = exact[i].abs().max().item<double>();
    if (one_column && largest < 1e-2) {  // a norm's gradient, whose terms cancel
      CHECK(kernels::relative_error(ours[i], exact[i]) * std::max(largest, 1e-30) < 1e-3);
      continue;
    }
    CHECK(kernels::relative_error(ours[i], exact[i]) <= 2 * kernels::relative_error(theirs[i], exact[i]) + allowed);
  }
}

template <typename Check>
void for_each_input(const KernelCase& kernel, const Check& check) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    if (type == at::kHalf && !kernel.takes_fp16) continue;
    for (const kernels::Shape& shape : kernel.odd_shapes) {
      for (const std::int64_t offset : {0, 1}) {
        if (offset != 0 && !kernel.takes_any_address) continue;
        CAPTURE(kernel.id, c10::toString(type), shape.rows, shape.width, shape.vocab, offset);
        at::manual_seed(7);
        check(shape, type, kernel.inputs(shape, {.type = type, .device = tests::tested_device(), .offset = offset}));
      }
    }
  }
}

}  // namespace

TEST_CASE("each kernel of the list has a case, in the same order") {
  REQUIRE(kernels::kernel_cases().size() == kernels::kernels().size());
  for (std::size_t i = 0; i < kernels::kernels().size(); ++i)
    CHECK(kernels::kernel_cases()[i]->id == kernels::kernels()[i]->id);
}

TEST_CASE("each kernel has at most twice the error of PyTorch's operators") {
  for (const KernelCase* kernel : kernels::kernel_cases()) {
    for_each_input(*kernel, [&](const kernels::Shape& shape, at::ScalarType type, const kernels::KernelInputs& in) {
      const kernels::KernelForms all = kernel->forms(shape, in);
      int fused = 0;
      for (const char* pass : kPasses) {
        const std::map<std::string, Tensors> results = results_of(all, pass);
        if (results.empty()) continue;
        const Tensors exact = all.exact(pass);
        const Tensors& theirs = results.contains("library") ? results.at("library") : results.at("eager");
        for (const auto& [variant, ours] : results) {
          if (!variant.starts_with("fused")) continue;
          ++fused;
          CAPTURE(pass, variant);
          check_errors(ours, theirs, exact, allowance(*kernel, type), shape.width == 1);
        }
      }
      CHECK(fused > 0);
    });
  }
}

TEST_CASE("each kernel repeats its bits and does not change its inputs") {
  for (const KernelCase* kernel : kernels::kernel_cases()) {
    for_each_input(*kernel, [&](const kernels::Shape& shape, at::ScalarType, const kernels::KernelInputs& in) {
      Tensors before;
      for (const at::Tensor& input : in.inputs) before.push_back(input.clone());
      const kernels::KernelForms first = kernel->forms(shape, in), second = kernel->forms(shape, in);
      for (std::size_t i = 0; i < first.forms.size(); ++i) {
        if (!first.forms[i].variant.starts_with("fused")) continue;
        CAPTURE(first.forms[i].variant, first.forms[i].pass);
        const Tensors one = first.forms[i].call(), two = second.forms[i].call();
        for (std::size_t k = 0; k < one.size(); ++k) CHECK(tests::same_bits(one[k], two[k]));
      }
      for (std::size_t i = 0; i < before.size(); ++i) CHECK(tests::same_bits(in.inputs[i], before[i]));
    });
  }
}
