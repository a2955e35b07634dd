// Linear layers' GEMMs with found algorithms, against LibTorch and float64, and their allocations.
#include "kernels/narrow_product/linear_product.h"

#include <memory>
#include <string_view>
#include <tuple>

#include <ATen/cuda/CUDAContextLight.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/record_function.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/narrow_product/narrow_product_ops.h"
#include "tests/kernels/kernel_checks.h"
#include "tests/support/catch.h"

using namespace headroom;
using kernels::LinearFormat;
using kernels::LinearPass;
using kernels::LinearProduct;

namespace {

struct Layer {
  Layer(const LinearProduct& product, at::ScalarType type) : product_(product) {
    const auto random = [&](std::int64_t rows, std::int64_t columns) {
      return (at::randn({rows, columns}) * 0.1).to(type).to(at::kCUDA);
    };
    x_NI = random(product.rows, product.inputs);
    w_OI = random(product.outputs, product.inputs);
    dy_NO = random(product.rows, product.outputs);
  }
  at::Tensor left() const {
    if (product_.pass == LinearPass::kOutput) return x_NI;
    return product_.pass == LinearPass::kInputGradient ? dy_NO : dy_NO.t();
  }
  at::Tensor right() const {
    if (product_.pass == LinearPass::kOutput) return w_OI.t();
    return product_.pass == LinearPass::kInputGradient ? w_OI : x_NI;
  }
  at::Tensor exact() const { return at::mm(left().to(at::kDouble), right().to(at::kDouble)); }

  at::Tensor x_NI, w_OI, dy_NO;

 private:
  LinearProduct product_;
};

// Counts observed GEMMs with a found algorithm.
class Counted {
 public:
  Counted() {
    counted_ = 0;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&count).scopes({at::RecordScope::USER_SCOPE}));
  }
  ~Counted() { at::removeCallback(handle_); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static int all() { return counted_; }

 private:
  static std::unique_ptr<at::ObserverContext> count(const at::RecordFunction& function) {
    counted_ += std::string_view(function.name()) == "headroom::product" ? 1 : 0;
    return nullptr;
  }
  static inline thread_local int counted_ = 0;
  at::CallbackHandle handle_ = 0;
};

std::int64_t workspace() { return static_cast<std::int64_t>(at::cuda::getChosenWorkspaceSize()); }

void find(const LinearProduct& product) {
  kernels::ProductTimer timer;
  REQUIRE(timer.find(product, workspace()) == 0);
  REQUIRE(kernels::algorithm_found(kernels::product_of(product)));
}

std::int64_t allocations() { return c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocation[0].allocated; }

}  // namespace

TEST_CASE("a GEMM with a found algorithm equals LibTorch's, also scaled and added") {
  const auto [format, type] =
      GENERATE(std::pair(LinearFormat::kBf16, at::kBFloat16), std::pair(LinearFormat::kFp16, at::kHalf));
  const LinearPass pass = GENERATE(LinearPass::kOutput, LinearPass::kInputGradient, LinearPass::kWeightGradient);
  const auto [n, o, i] = GENERATE(std::tuple(1024, 2048, 512), std::tuple(520, 328, 2056), std::tuple(4096, 64, 64));
  at::manual_seed(7);
  const LinearProduct product{.pass = pass, .format = format, .rows = n, .outputs = o, .inputs = i};
  const Layer layer(product, type);
  const at::Tensor exact = layer.exact(), before = at::randn(exact.sizes()).to(type).to(at::kCUDA);
  const auto computed = [&](const kernels::ProductOptions& options) {
    at::Tensor result = options.adds ? before.clone() : at::full_like(before, 77);
    kernels::product(result, layer.left(), layer.right(), options);
    return result;
  };
  kernels::forget_algorithm(kernels::product_of(product));
  const kernels::ProductOptions whole, halved{.alpha = 0.5}, adds{.adds = true},
      adds_halved{.adds = true, .alpha = 0.5};
  for (const kernels::ProductOptions& options : {whole, halved, adds, adds_halved}) {
    CAPTURE(options.adds, options.alpha, n, o, i);
    kernels::forget_algorithm(kernels::product_of(product));
    const at::Tensor by_libtorch = computed(options);
    find(product);
    const Counted counted;
    const at::Tensor by_found = computed(options);
    CHECK(Counted::all() == 1);
    at::Tensor sum = exact * options.alpha;
    if (options.adds) sum += before.to(at::kDouble);
    CHECK(tests::relative_error(by_found, sum) <= 1.5 * tests::relative_error(by_libtorch, sum) + tests::kFloor);
  }
}

TEST_CASE("a GEMM with a found algorithm allocates nothing and repeats its bits") {
  const LinearProduct product{.pass = LinearPass::kWeightGradient, .rows = 4096, .outputs = 512, .inputs = 256};
  const Layer layer(product, at::kBFloat16);
  at::Tensor first = at::empty({512, 256}, layer.x_NI.options()), second = at::empty_like(first);
  kernels::product(first, layer.left(), layer.right());  // allocates the stream's workspace
  find(product);
  const std::int64_t before = allocations();
  kernels::product(first, layer.left(), layer.right());
  kernels::product(second, layer.left(), layer.right());
  CHECK(allocations() == before);
  CHECK(tests::same_bits(first.cpu(), second.cpu()));
}

TEST_CASE("a found algorithm can be stored, forgotten and restored") {
  const LinearProduct product{.rows = 1024, .outputs = 768, .inputs = 512};
  const kernels::Product kind = kernels::product_of(product);
  const Layer layer(product, at::kBFloat16);
  const auto computed = [&] {
    at::Tensor result = at::empty({1024, 768}, layer.x_NI.options());
    kernels::product(result, layer.left(), layer.right());
    return result;
  };
  find(product);
  const kernels::ProductAlgorithm found = *kernels::found_algorithm(kind);
  const at::Tensor result = computed();
  kernels::forget_algorithm(kind);
  CHECK_FALSE(kernels::found_algorithm(kind));
  {
    const Counted counted;
    computed();
    CHECK(Counted::all() == 0);
  }
  REQUIRE(kernels::keep_algorithm(kind, found, workspace()) == 0);
  CHECK(kernels::found_algorithm(kind) == found);
  CHECK(tests::same_bits(computed().cpu(), result.cpu()));
}

TEST_CASE("operands with gaps, in fp32 or of other shapes go to LibTorch") {
  const LinearProduct product{.rows = 256, .outputs = 128, .inputs = 64};
  find(product);
  const Layer layer(product, at::kBFloat16);
  const Counted counted;
  at::Tensor wide = at::empty({256, 256}, layer.x_NI.options()), y = wide.narrow(1, 0, 128);
  kernels::product(y, layer.left(), layer.right());
  at::Tensor other = at::empty({128, 128}, layer.x_NI.options());
  kernels::product(other, layer.x_NI.narrow(0, 0, 128), layer.right());
  const at::Tensor x = layer.x_NI.to(at::kFloat), w = layer.w_OI.to(at::kFloat);
  at::Tensor fp32 = at::empty({256, 128}, x.options());
  kernels::product(fp32, x, w.t());
  CHECK(Counted::all() == 0);
  CHECK(tests::relative_error(y, layer.exact()) < 0.02);
}

TEST_CASE("a GEMM with a found algorithm can be captured in a graph and replayed") {
  const LinearProduct product{.pass = LinearPass::kInputGradient, .rows = 2048, .outputs = 512, .inputs = 256};
  find(product);
  const Layer layer(product, at::kBFloat16);
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool();
  c10::cuda::device_synchronize();
  const c10::cuda::CUDAStreamGuard guard(stream);
  at::Tensor result = at::empty({2048, 256}, layer.x_NI.options());
  kernels::product(result, layer.left(), layer.right());
  const at::Tensor outside = result.clone();
  at::cuda::CUDAGraph graph;
  const Counted counted;
  graph.capture_begin();
  kernels::product(result, layer.left(), layer.right());
  graph.capture_end();
  CHECK(Counted::all() == 1);
  result.zero_();
  graph.replay();
  CHECK(tests::same_bits(result.cpu(), outside.cpu()));
}

TEST_CASE("an fp8 GEMM with a found algorithm equals that of cuBLASLt's first proposal") {
  using kernels::Fp8Format;
  const LinearPass pass = GENERATE(LinearPass::kOutput, LinearPass::kInputGradient, LinearPass::kWeightGradient);
  const bool adds = GENERATE(false, true);
  const LinearProduct product{
      .pass = pass, .format = LinearFormat::kFp8Codes, .rows = 1024, .outputs = 512, .inputs = 256};
  const kernels::Product kind = kernels::product_of(product);
  const at::Tensor scalings = kernels::fp8_scalings(2, at::TensorOptions(at::kCUDA));
  const at::Tensor count = at::zeros({1}, at::TensorOptions(at::kCUDA).dtype(at::kInt));
  const auto codes = [&](std::int64_t rows, Fp8Format format, int row) {
    const at::Tensor x = at::randn({rows, kind.inner}).to(at::kCUDA);
    kernels::fp8_measure_(x, scalings[row], format, /*keeps=*/false, count);
    return kernels::fp8_cast(x, scalings[row], format, {.rows = true}).rows;
  };
  const at::Tensor a = codes(kind.rows, *kind.a_fp8, 0), b = codes(kind.columns, *kind.b_fp8, 1);
  const at::Tensor before = at::randn({kind.rows, kind.columns}).to(at::kBFloat16).to(at::kCUDA);
  const auto computed = [&] {
    at::Tensor result = before.clone();
    kernels::fp8_product(result, {a, scalings[0]}, {b, scalings[1]},
                         {.adds = adds, .fast_sums = pass == LinearPass::kOutput});
    return result;
  };
  kernels::forget_algorithm(kind);
  const at::Tensor proposed = computed();
  kernels::ProductTimer timer;
  REQUIRE(timer.find(product, static_cast<std::int64_t>(at::cuda::getCUDABlasLtWorkspaceSize())) == 0);
  REQUIRE(kernels::algorithm_found(kind));
  CHECK(tests::relative_error(computed(), proposed) < 0.01);
}
