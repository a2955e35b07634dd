// cuBLASLt reads a row-major matrix as its column-major transpose. So D = A·B is computed as Dᵀ = Bᵀ·Aᵀ, with the
// operands exchanged.
#include "kernels/fused_linear_cross_entropy/product.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

namespace headroom::kernels {

namespace {

constexpr int kProposals = 16;
constexpr int kTimedRuns = 5;
constexpr double kLongFlops = 4e12;  // longer GEMMs take several milliseconds, which vary little
constexpr float kFaster = 0.98F;     // share of the first proposal's time that another must beat; times vary as much
constexpr std::uint32_t kWideBytes = 16;  // alignment that the fast algorithms need

int code_of(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS ? 0 : kCublasError + status; }

cudaDataType_t type_of(Storage storage) {
  switch (storage) {
    case Storage::kBf16:
      return CUDA_R_16BF;
    case Storage::kFp16:
      return CUDA_R_16F;
    case Storage::kFp32:
      break;
  }
  return CUDA_R_32F;
}

cudaDataType_t type_of(Storage storage, std::optional<Fp8Format> codes) {
  if (!codes) return type_of(storage);
  return *codes == Fp8Format::kE4m3 ? CUDA_R_8F_E4M3 : CUDA_R_8F_E5M2;
}

struct Description {
  cublasLtMatmulDescOpaque_t operation{};
  cublasLtMatrixLayoutOpaque_t left{}, right{}, result{};  // Bᵀ, Aᵀ, Dᵀ
};

cublasStatus_t describe(const Product& p, const ProductMemory& memory, Description& d) {
  const cublasOperation_t left = p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasOperation_t right = p.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const std::int32_t pointers = p.host_numbers ? CUBLASLT_POINTER_MODE_HOST : CUBLASLT_POINTER_MODE_DEVICE;
  const cublasComputeType_t compute = p.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  cublasStatus_t status = cublasLtMatmulDescInit(&d.operation, compute, CUDA_R_32F);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    if (status != CUBLAS_STATUS_SUCCESS) return;
    status = cublasLtMatmulDescSetAttribute(&d.operation, attribute, &value, sizeof(value));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, left);
  set(CUBLASLT_MATMUL_DESC_TRANSB, right);
  set(CUBLASLT_MATMUL_DESC_POINTER_MODE, pointers);
  if (p.a_fp8) {  // exchanged: see the top of this file
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, memory.b_scale);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, memory.a_scale);
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<std::int8_t>(p.fast_sums));
  }
  const auto layout = [&](cublasLtMatrixLayoutOpaque_t& place, cudaDataType_t type, bool transposed,
                          std::int64_t height, std::int64_t width, std::int64_t stride) {
    if (status != CUBLAS_STATUS_SUCCESS) return;
    if (transposed) std::swap(height, width);
    status = cublasLtMatrixLayoutInit(&place, type, static_cast<std::uint64_t>(height),
                                      static_cast<std::uint64_t>(width), stride);
  };
  layout(d.left, type_of(p.operands, p.b_fp8), p.b_transposed, p.columns, p.inner, p.b_stride);
  layout(d.right, type_of(p.operands, p.a_fp8), p.a_transposed, p.inner, p.rows, p.a_stride);
  layout(d.result, type_of(p.result), false, p.columns, p.rows, p.d_stride);
  return status;
}

struct Kept {
  cublasLtMatmulAlgo_t algorithm{};
  bool searched = false;
  std::int64_t workspace_bytes = 0;  // size with which this kind was checked; 0: not checked
};

struct Device {
  cublasLtHandle_t handle = nullptr;
  std::map<Product, Kept> kept;
};

std::mutex mutex;

int current_device(Device*& place) {
  static std::map<int, Device> devices;
  int id = 0;
  const cudaError_t error = cudaGetDevice(&id);
  if (error != cudaSuccess) return error;
  place = &devices[id];
  return place->handle != nullptr ? 0 : code_of(cublasLtCreate(&place->handle));
}

std::uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  std::uint32_t bytes = kWideBytes;
  while (address % bytes != 0) bytes /= 2;
  return bytes;
}

bool wide(const ProductMemory& memory) {
  return std::min({alignment_of(memory.a), alignment_of(memory.b), alignment_of(memory.d)}) == kWideBytes;
}

using Proposals = std::array<cublasLtMatmulHeuristicResult_t, kProposals>;

// Proposes up to `most` algorithms, best guess first. Fails if there is none.
cublasStatus_t propose(const Device& device, Description& d, bool fp32_result, const ProductMemory& memory, int most,
                       Proposals& proposals, int& count) {
  cublasLtMatmulPreferenceOpaque_t preference{};
  cublasStatus_t status = cublasLtMatmulPreferenceInit(&preference);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    if (status != CUBLAS_STATUS_SUCCESS) return;
    status = cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof(value));
  };
  // Partial sums stay fp32. In 16 bits they would be rounded once per part.
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_NONE | CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  if (fp32_result) reductions |= CUBLASLT_REDUCTION_SCHEME_INPLACE;
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(memory.workspace_bytes));
  set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(memory.b));  // exchanged: see the top of this file
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(memory.a));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(memory.d));
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(memory.d));
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(device.handle, &d.operation, &d.left, &d.right, &d.result, &d.result,
                                            &preference, most, proposals.data(), &count);
  }
  return status == CUBLAS_STATUS_SUCCESS && count == 0 ? CUBLAS_STATUS_NOT_SUPPORTED : status;
}

cublasStatus_t queue(const Device& device, Description& d, const cublasLtMatmulAlgo_t& algorithm,
                     const ProductMemory& memory, CUstream_st* stream) {
  return cublasLtMatmul(device.handle, &d.operation, memory.alpha, memory.b, &d.left, memory.a, &d.right, memory.beta,
                        memory.d, &d.result, memory.d, &d.result, &algorithm, memory.workspace,
                        static_cast<std::size_t>(memory.workspace_bytes), stream);
}

bool applies(const Device& device, Description& d, const cublasLtMatmulAlgo_t& algorithm, const ProductMemory& memory) {
  cublasLtMatmulHeuristicResult_t check{};
  const cublasStatus_t status =
      cublasLtMatmulAlgoCheck(device.handle, &d.operation, &d.left, &d.right, &d.result, &d.result, &algorithm, &check);
  return status == CUBLAS_STATUS_SUCCESS && check.workspaceSize <= static_cast<std::size_t>(memory.workspace_bytes);
}

bool capturing(CUstream_st* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

// Mean time in ms of back-to-back launches, which use the memories in turn; negative if the algorithm fails.
float time_algorithm(const Device& device, Description& d, const cublasLtMatmulAlgo_t& algorithm, int runs,
                     std::span<const ProductMemory> memories, cudaEvent_t begin, cudaEvent_t end, CUstream_st* stream) {
  for (int run = 0; run <= runs; ++run) {
    if (run == 1) cudaEventRecord(begin, stream);  // the first run loads the kernel
    const ProductMemory& memory = memories[static_cast<std::size_t>(run) % memories.size()];
    if (queue(device, d, algorithm, memory, stream) != CUBLAS_STATUS_SUCCESS) return -1;
  }
  cudaEventRecord(end, stream);
  float ms = 0;
  if (cudaEventSynchronize(end) != cudaSuccess || cudaEventElapsedTime(&ms, begin, end) != cudaSuccess) return -1;
  return ms / static_cast<float>(runs);
}

int runs_of(const Product& p) {
  const double flops = 2 * static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.inner);
  return flops > kLongFlops ? 1 : kTimedRuns;
}

}  // namespace

int multiply(const Product& product, const Product& kind, const ProductMemory& memory, CUstream_st* stream) {
  const std::lock_guard lock(mutex);
  Device* device = nullptr;
  const int error = current_device(device);
  if (error != 0) return error;
  Description description;
  cublasStatus_t status = describe(product, memory, description);
  if (status != CUBLAS_STATUS_SUCCESS) return code_of(status);
  const auto kept = device->kept.find(kind);
  const bool known = kept != device->kept.end() && wide(memory);
  const bool checked = known && product == kind && kept->second.workspace_bytes == memory.workspace_bytes;
  if (known && (checked || applies(*device, description, kept->second.algorithm, memory))) {
    return code_of(queue(*device, description, kept->second.algorithm, memory, stream));
  }
  Proposals proposals;
  int count = 0;
  status = propose(*device, description, product.result == Storage::kFp32, memory, 1, proposals, count);
  if (status != CUBLAS_STATUS_SUCCESS) return code_of(status);
  if (wide(memory)) device->kept.try_emplace(kind, Kept{.algorithm = proposals[0].algo});
  return code_of(queue(*device, description, proposals[0].algo, memory, stream));
}

bool algorithm_found(const Product& kind) { return found_algorithm(kind).has_value(); }

std::optional<ProductAlgorithm> found_algorithm(const Product& kind) {
  const std::lock_guard lock(mutex);
  Device* device = nullptr;
  if (current_device(device) != 0) return std::nullopt;
  const auto kept = device->kept.find(kind);
  if (kept == device->kept.end() || !kept->second.searched) return std::nullopt;
  return std::bit_cast<ProductAlgorithm>(kept->second.algorithm);
}

int keep_algorithm(const Product& kind, const ProductAlgorithm& algorithm, std::int64_t workspace_bytes) {
  const std::lock_guard lock(mutex);
  Device* device = nullptr;
  const int error = current_device(device);
  if (error != 0) return error;
  Description description;
  const ProductMemory memory{.workspace_bytes = workspace_bytes};
  const auto algo = std::bit_cast<cublasLtMatmulAlgo_t>(algorithm);
  const cublasStatus_t status = describe(kind, memory, description);
  if (status != CUBLAS_STATUS_SUCCESS) return code_of(status);
  if (!applies(*device, description, algo, memory)) return code_of(CUBLAS_STATUS_NOT_SUPPORTED);
  device->kept[kind] = {.algorithm = algo, .searched = true, .workspace_bytes = workspace_bytes};
  return 0;
}

void forget_algorithm(const Product& kind) {
  const std::lock_guard lock(mutex);
  Device* device = nullptr;
  if (current_device(device) == 0) device->kept.erase(kind);
}

std::size_t cublaslt_version() { return cublasLtGetVersion(); }

int find_algorithm(const Product& timed, const Product& kind, std::span<const ProductMemory> memories,
                   CUstream_st* stream) {
  const ProductMemory& memory = memories.front();
  if (algorithm_found(kind) || capturing(stream) || !wide(memory)) return 0;
  const std::lock_guard lock(mutex);
  Device* device = nullptr;
  const int error = current_device(device);
  if (error != 0) return error;
  Description whole, part;
  cublasStatus_t status = describe(kind, memory, whole);
  if (status == CUBLAS_STATUS_SUCCESS) status = describe(timed, memory, part);
  Proposals proposals;
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = propose(*device, whole, kind.result == Storage::kFp32, memory, kProposals, proposals, count);
  if (status != CUBLAS_STATUS_SUCCESS) return code_of(status);
  Kept& kept = device->kept[kind] = {.algorithm = proposals[0].algo, .searched = true};
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = -1;
  bool from_first = false;
  for (int i = 0; i < count; ++i) {
    const auto& proposal = proposals[static_cast<std::size_t>(i)];
    if (proposal.state != CUBLAS_STATUS_SUCCESS || !applies(*device, part, proposal.algo, memory)) continue;
    const float ms = time_algorithm(*device, part, proposal.algo, runs_of(timed), memories, begin, end, stream);
    if (ms < 0 || (best >= 0 && ms >= (from_first ? kFaster : 1) * best)) continue;
    best = ms;
    from_first = i == 0;
    kept.algorithm = proposal.algo;
    if (timed == kind) kept.workspace_bytes = memory.workspace_bytes;
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return 0;
}

}  // namespace headroom::kernels
