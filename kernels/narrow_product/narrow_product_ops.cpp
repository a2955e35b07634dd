// Runs GEMMs with LibTorch, a found algorithm or emulation, or in tiles on the CPU.
#include "kernels/narrow_product/narrow_product_ops.h"

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "kernels/common/both.h"
#include "kernels/common/storage_cpu.h"
#include "kernels/common/storage_ops.h"
#include "kernels/common/traced.h"
#include "kernels/fused_linear_cross_entropy/product.h"
#include "kernels/narrow_product/emulated_product.h"
#include "kernels/narrow_product/tile_rows.h"
#include "kernels/narrow_product/tiles.h"

namespace headroom::kernels {

namespace {

// Allows TF32 in one scope only: attention and the optimizers keep fp32.
class AllowTf32 {
 public:
  AllowTf32() : before_(at::globalContext().allowTF32CuBLAS()) { at::globalContext().setAllowTF32CuBLAS(true); }
  ~AllowTf32() { at::globalContext().setAllowTF32CuBLAS(before_); }
  AllowTf32(const AllowTf32&) = delete;
  AllowTf32& operator=(const AllowTf32&) = delete;

 private:
  bool before_;
};

// Rounds like Tf32Numbers of emulated_product.cu.
float tf32_of(float value) {
  const std::uint32_t bits = bits_of(value);
  return (bits & 0x7f800000u) == 0x7f800000u ? value : float_of((bits + 0x1000u) & ~0x1fffu);
}

void check_tf32(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(result.scalar_type() == at::kFloat && a.scalar_type() == at::kFloat && b.scalar_type() == at::kFloat,
              "product: tf32 needs fp32 operands and results");
}

template <class Number>
auto each(const Number& number) {
  return [&number](const auto* from, std::int64_t stride, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = number(from[i * stride]);
  };
}

// Returns a function that writes alpha · sums (or adds them, if `adds`), rounded once.
template <typename T>
auto rounded(double alpha, bool adds) {
  return [factor = static_cast<float>(alpha), adds](const float* sums, T* to, std::int64_t stride, std::int64_t count) {
    if constexpr (sizeof(T) == 2)
      if (stride == 1) return round_row(sums, factor, adds, to, count);
    for (std::int64_t i = 0; i < count; ++i) {
      T& place = to[i * stride];
      store(place, adds ? load(place) + factor * sums[i] : factor * sums[i]);
    }
  };
}

void emulate_tf32(at::Tensor& result, const at::Tensor& a, const at::Tensor& b, const ProductOptions& options) {
  check_tf32(result, a, b);
  const Traced traced("tf32_product", {a, b, result});
  ProductTiles::multiply<float, float, float>(result, a, b, each(tf32_of), each(tf32_of),
                                              rounded<float>(options.alpha, options.adds));
}

// Without oneDNN, LibTorch multiplies 16-bit matrices in plain loops: a step of the tiny model took six times as long.
void multiply_16_bits(at::Tensor& result, const at::Tensor& a, const at::Tensor& b, const ProductOptions& options) {
  TORCH_CHECK(a.scalar_type() == result.scalar_type() && b.scalar_type() == result.scalar_type(),
              "product: operands of ", a.scalar_type(), " and ", b.scalar_type(), " for a result of ",
              result.scalar_type());
  const Traced traced("product", {a, b, result});
  const auto in_type = [&]<typename T>(T) {
    const auto number = [](T element) { return load(element); };
    const auto read = [&](const T* from, std::int64_t stride, float* to, std::int64_t count) {
      stride == 1 ? widen_row(from, to, count) : each(number)(from, stride, to, count);
    };
    ProductTiles::multiply<T, T, T>(result, a, b, read, read, rounded<T>(options.alpha, options.adds));
  };
  result.scalar_type() == at::kHalf ? in_type(Fp16()) : in_type(Bf16());
}

Fp8Format format_of(const at::Tensor& codes) {
  const bool e4m3 = codes.scalar_type() == at::kFloat8_e4m3fn;
  TORCH_CHECK(e4m3 || codes.scalar_type() == at::kFloat8_e5m2, "fp8_product: no codes of ", codes.scalar_type());
  return e4m3 ? Fp8Format::kE4m3 : Fp8Format::kE5m2;
}

void check_fp8(const at::Tensor& result, const Fp8Operand& a, const Fp8Operand& b) {
  constexpr std::int64_t kSide = 16;
  TORCH_CHECK(result.dim() == 2 && a.codes.dim() == 2 && b.codes.dim() == 2 && a.codes.is_contiguous() &&
                  b.codes.is_contiguous() && result.is_contiguous(),
              "fp8_product: result and codes must be contiguous matrices");
  TORCH_CHECK(
      result.size(0) == a.codes.size(0) && result.size(1) == b.codes.size(0) && a.codes.size(1) == b.codes.size(1),
      "fp8_product: ", a.codes.sizes(), " and ", b.codes.sizes(), " transposed do not give ", result.sizes());
  TORCH_CHECK(result.size(0) % kSide == 0 && result.size(1) % kSide == 0 && a.codes.size(1) % kSide == 0,
              "fp8_product: all sides must be multiples of ", kSide);
  TORCH_CHECK(result.scalar_type() == at::kBFloat16, "fp8_product: the result must be bf16, not ",
              result.scalar_type());
  TORCH_CHECK(format_of(a.codes) == Fp8Format::kE4m3 || format_of(b.codes) == Fp8Format::kE4m3,
              "fp8_product: one operand must be e4m3");
}

float inverse_of(const at::Tensor& scaling) {
  return reinterpret_cast<const Fp8Scaling*>(scaling.const_data_ptr<float>())->inverse;
}

void emulate_fp8(at::Tensor& result, const Fp8Operand& a, const Fp8Operand& b, const Fp8ProductOptions& options) {
  std::array<std::array<float, 256>, 2> numbers{};
  for (int code = 0; code < 256; ++code) {
    numbers[0][static_cast<std::size_t>(code)] = fp8_value(format_of(a.codes), static_cast<std::uint8_t>(code));
    numbers[1][static_cast<std::size_t>(code)] = fp8_value(format_of(b.codes), static_cast<std::uint8_t>(code));
  }
  const auto of_a = [&](std::uint8_t code) { return numbers[0][code]; };
  const auto of_b = [&](std::uint8_t code) { return numbers[1][code]; };
  const float alpha = inverse_of(a.scaling) * inverse_of(b.scaling);
  ProductTiles::multiply<std::uint8_t, std::uint8_t, Bf16>(result, a.codes, b.codes.t(), each(of_a), each(of_b),
                                                           rounded<Bf16>(alpha, options.adds));
}

void multiply_fp8(at::Tensor& result, const Fp8Operand& a, const Fp8Operand& b, const Fp8ProductOptions& options) {
  static constexpr float kOne = 1, kZero = 0;
  const c10::cuda::CUDAGuard guard(result.device());
  at::cuda::getCurrentCUDABlasHandle();  // creates the stream's workspace
  const auto scale = [](const at::Tensor& scaling) {
    return &reinterpret_cast<const Fp8Scaling*>(scaling.const_data_ptr<float>())->inverse;
  };
  const std::int64_t inner = a.codes.size(1);
  const bool emulated = products_emulated(NarrowFormat::kFp8);
  const Product product{.rows = result.size(0),
                        .columns = result.size(1),
                        .inner = inner,
                        .b_transposed = true,
                        .a_stride = inner,
                        .b_stride = inner,
                        .d_stride = result.size(1),
                        .operands = Storage::kBf16,
                        .result = Storage::kBf16,
                        .a_fp8 = format_of(a.codes),
                        .b_fp8 = format_of(b.codes),
                        .fast_sums = options.fast_sums,
                        .host_numbers = true};
  const ProductMemory memory{.a = a.codes.const_data_ptr(),
                             .b = b.codes.const_data_ptr(),
                             .d = result.mutable_data_ptr(),
                             .alpha = &kOne,
                             .beta = options.adds ? &kOne : &kZero,
                             .a_scale = scale(a.scaling),
                             .b_scale = scale(b.scaling),
                             .workspace = at::cuda::getCUDABlasLtWorkspace(),  // also when emulated, for equal memory
                             .workspace_bytes = static_cast<std::int64_t>(at::cuda::getCUDABlasLtWorkspaceSize())};
  CUstream_st* const stream = c10::cuda::getCurrentCUDAStream().stream();
  const int error = emulated ? multiply_emulated(product, memory, stream) : multiply(product, product, memory, stream);
  TORCH_CHECK(error < kCublasError, "fp8_product: cuBLASLt returned status ", error - kCublasError);
  TORCH_CHECK(error == 0, "fp8_product: CUDA error ", error);
}

void multiply_tf32_emulated(at::Tensor& result, const at::Tensor& a, const at::Tensor& b,
                            const ProductOptions& options) {
  check_tf32(result, a, b);
  TORCH_CHECK(result.stride(1) == 1 && (a.stride(0) == 1 || a.stride(1) == 1) && (b.stride(0) == 1 || b.stride(1) == 1),
              "product: emulated tf32 on a GPU needs row-major matrices; operands may also be transposed");
  const c10::cuda::CUDAGuard guard(result.device());
  at::cuda::getCurrentCUDABlasHandle();  // creates the stream's workspace
  const Traced traced("tf32_product", {a, b, result});
  const auto alpha = static_cast<float>(options.alpha);
  const float beta = options.adds ? 1 : 0;
  const bool a_turned = a.stride(1) != 1, b_turned = b.stride(1) != 1;
  const Product product{.rows = result.size(0),
                        .columns = result.size(1),
                        .inner = a.size(1),
                        .a_transposed = a_turned,
                        .b_transposed = b_turned,
                        .a_stride = a.stride(a_turned ? 1 : 0),
                        .b_stride = b.stride(b_turned ? 1 : 0),
                        .d_stride = result.stride(0),
                        .tf32 = true,
                        .host_numbers = true};
  const int error = multiply_emulated(product,
                                      {.a = a.const_data_ptr(),
                                       .b = b.const_data_ptr(),
                                       .d = result.mutable_data_ptr(),
                                       .alpha = &alpha,
                                       .beta = &beta},
                                      c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CHECK(error == 0, "product: CUDA error ", error);
}

// False if row-major, true if transposed, both without gaps; otherwise empty.
std::optional<bool> transposed(const at::Tensor& matrix) {
  if (matrix.stride(1) == 1 && matrix.stride(0) == matrix.size(1)) return false;
  if (matrix.stride(0) == 1 && matrix.stride(1) == matrix.size(0)) return true;
  return std::nullopt;
}

// Empty if LibTorch computes the GEMM.
std::optional<Product> kind_of(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b) {
  const std::optional<Storage> storage = storage_of(result.scalar_type());
  if (!result.is_cuda() || !storage || *storage == Storage::kFp32) return std::nullopt;
  if (a.scalar_type() != result.scalar_type() || b.scalar_type() != result.scalar_type()) return std::nullopt;
  const auto of_a = transposed(a), of_b = transposed(b);
  if (!of_a || !of_b || transposed(result) != std::optional(false)) return std::nullopt;
  return Product{.rows = result.size(0),
                 .columns = result.size(1),
                 .inner = a.size(1),
                 .a_transposed = *of_a,
                 .b_transposed = *of_b,
                 .a_stride = a.size(*of_a ? 0 : 1),
                 .b_stride = b.size(*of_b ? 0 : 1),
                 .d_stride = result.size(1),
                 .operands = *storage,
                 .result = *storage,
                 .host_numbers = true};
}

// The workspace that cuBLAS already has for the stream, or null.
void* blas_workspace(c10::cuda::CUDAStream stream) {
  void* const handle = at::cuda::getCurrentCUDABlasHandle();
  auto& workspaces = at::cuda::cublas_handle_stream_to_workspace();
  const std::shared_lock lock(workspaces.mutex);
  const auto found = workspaces.map.find({handle, static_cast<void*>(stream.stream())});
  return found == workspaces.map.end() ? nullptr : found->second.get();
}

std::mutex failure_mutex;
std::string first_failure;

void note_failure(const Product& kind, int error) {
  forget_algorithm(kind);
  const std::lock_guard lock(failure_mutex);
  if (!first_failure.empty()) return;
  first_failure = error >= kCublasError ? "cuBLASLt returned status " + std::to_string(error - kCublasError)
                                        : "CUDA returned error " + std::to_string(error);
}

// False if no algorithm was found or if it failed; then nothing is computed.
bool multiply_as_found(at::Tensor& result, const at::Tensor& a, const at::Tensor& b, const ProductOptions& options) {
  const std::optional<Product> kind = kind_of(result, a, b);
  if (!kind || !algorithm_found(*kind)) return false;
  const c10::cuda::CUDAGuard guard(result.device());
  const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
  void* const workspace = blas_workspace(stream);
  if (workspace == nullptr) return false;
  const Traced traced("product", {a, b, result});
  const auto alpha = static_cast<float>(options.alpha);
  const float beta = options.adds ? 1 : 0;
  const int error = multiply(*kind, *kind,
                             {.a = a.const_data_ptr(),
                              .b = b.const_data_ptr(),
                              .d = result.mutable_data_ptr(),
                              .alpha = &alpha,
                              .beta = &beta,
                              .workspace = workspace,
                              .workspace_bytes = static_cast<std::int64_t>(at::cuda::getChosenWorkspaceSize())},
                             stream.stream());
  if (error != 0) note_failure(*kind, error);
  return error == 0;
}

std::atomic<bool> always_emulated = false;

}  // namespace

void emulate_narrow_products(bool always) { always_emulated.store(always, std::memory_order_relaxed); }

bool products_emulated(NarrowFormat format) {
  if (always_emulated.load(std::memory_order_relaxed)) return true;
  const cudaDeviceProp* const device = at::cuda::getCurrentDeviceProperties();
  return 10 * device->major + device->minor < (format == NarrowFormat::kFp8 ? kFp8Capability : kTf32Capability);
}

std::string product_failure() {
  const std::lock_guard lock(failure_mutex);
  return first_failure;
}

void fp8_product(at::Tensor& result_NP, const Fp8Operand& a_NM, const Fp8Operand& b_PM,
                 const Fp8ProductOptions& options) {
  check_fp8(result_NP, a_NM, b_PM);
  if (result_NP.is_meta()) return;
  const Traced traced("fp8_product", {a_NM.codes, b_PM.codes, result_NP});
  (result_NP.is_cuda() ? &multiply_fp8 : &emulate_fp8)(result_NP, a_NM, b_PM, options);
}

void product(at::Tensor& result_NP, const at::Tensor& a_NM, const at::Tensor& b_MP, const ProductOptions& options) {
  if (options.tf32 && result_NP.is_cpu()) return emulate_tf32(result_NP, a_NM, b_MP, options);
  if (result_NP.is_cpu() && result_NP.element_size() == 2) return multiply_16_bits(result_NP, a_NM, b_MP, options);
  if (options.tf32 && result_NP.is_cuda() && products_emulated(NarrowFormat::kTf32))
    return multiply_tf32_emulated(result_NP, a_NM, b_MP, options);
  if (multiply_as_found(result_NP, a_NM, b_MP, options)) return;
  std::optional<AllowTf32> allow;
  if (options.tf32 && result_NP.is_cuda()) allow.emplace();
  if (!options.adds && options.alpha == 1) {
    at::mm_out(result_NP, a_NM, b_MP);
  } else {
    at::addmm_out(result_NP, result_NP, a_NM, b_MP, options.adds ? 1 : 0, options.alpha);
  }
}

}  // namespace headroom::kernels
