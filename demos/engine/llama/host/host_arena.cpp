// Allocates by mmap and locks by cudaHostRegister, or allocates by cudaMallocManaged. PyTorch's allocator of
// page-locked memory would round sizes up to powers of two: 18 MiB to 32 MiB.
#include "demos/engine/llama/host/host_arena.h"

#include <sys/mman.h>

#include <cuda_runtime_api.h>

#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

using record::Bytes;

void* made_up_address() {
  static std::atomic<std::uintptr_t> next{1};
  constexpr std::uintptr_t kPage = 4096;
  return reinterpret_cast<void*>(next.fetch_add(1, std::memory_order_relaxed) * kPage);
}

HostArena::PageLock cuda_lock() {
  return {.lock =
              [](void* block, std::size_t bytes) {
                if (cudaHostRegister(block, bytes, cudaHostRegisterDefault) == cudaSuccess) return true;
                (void)cudaGetLastError();  // else the next launch would report the error
                return false;
              },
          .unlock = [](void* block) { (void)cudaHostUnregister(block); }};
}

std::string full_sentence(Bytes wanted, Bytes most) {
  const std::string what = "This run's data on the host need " + record::format_bytes(wanted);
  return most == 0 ? what + " more, but the system refused the allocation."
                   : what + " of memory, but this machine has only " + record::format_bytes(most) + ".";
}

}  // namespace

struct HostArena::Block {
  void* data = nullptr;
  std::size_t bytes = 0;
  bool mapped = false;
  void (*unlock)(void*) = nullptr;
  std::shared_ptr<std::atomic<Bytes>> taken;
};

void HostArena::free_block(void* context) {
  const auto* block = static_cast<Block*>(context);
  record::host_freed(block->data);
  if (block->unlock != nullptr) block->unlock(block->data);
  if (block->mapped) munmap(block->data, block->bytes);
  *block->taken -= static_cast<Bytes>(block->bytes);
  delete block;
}

HostArena::HostArena(at::Device device, Bytes most)
    : HostArena(device, most, device.is_cuda() ? cuda_lock() : PageLock{}) {}

HostArena::HostArena(at::Device device, Bytes most, PageLock lock)
    : device_(device), most_(most), lock_(std::move(lock)) {}

void HostArena::map(Block& block, HostPages pages) {
  const auto bytes = static_cast<Bytes>(block.bytes);
  const Bytes left = most_ - (other_ ? other_() : 0);
  if (most_ != 0 && *taken_ + bytes > left) throw HostMemoryFull(full_sentence(*taken_ + bytes, left));
  if (pages == HostPages::kManaged && device_.is_cuda()) {
    if (cudaMallocManaged(&block.data, block.bytes) != cudaSuccess) {
      (void)cudaGetLastError();
      throw HostMemoryFull(full_sentence(bytes, 0));
    }
    block.unlock = [](void* managed) { (void)cudaFree(managed); };
    return;
  }
  block.data = mmap(nullptr, block.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, /*fd=*/-1, 0);
  if (block.data == MAP_FAILED) throw HostMemoryFull(full_sentence(bytes, 0));
  block.mapped = true;
  (void)madvise(block.data, block.bytes, MADV_HUGEPAGE);  // fewer page faults; failure is harmless
  if (pages != HostPages::kLocked || !lock_.lock || !trouble_.empty()) return;
  if (lock_.lock(block.data, block.bytes)) {
    block.unlock = lock_.unlock;
  } else {
    trouble_ =
        "Host memory is too small for page-locked buffers, so copies use pageable memory: they are slower and do not "
        "overlap with the device's work.";
  }
}

at::Tensor HostArena::empty(at::IntArrayRef sizes, at::ScalarType type, HostPages pages) {
  const Bytes bytes = c10::multiply_integers(sizes) * static_cast<Bytes>(c10::elementSize(type));
  auto block = std::make_unique<Block>(Block{.bytes = static_cast<std::size_t>(bytes), .taken = taken_});
  if (device_.is_meta()) {
    block->data = made_up_address();
  } else {
    map(*block, pages);
  }
  *taken_ += bytes;
  record::host_allocated(block->data, bytes);
  const bool meta = device_.is_meta();
  const bool managed = pages == HostPages::kManaged && device_.is_cuda();
  const at::Device where = meta ? at::Device(at::kMeta) : managed ? device_ : at::Device(at::kCPU);
  void* const data = meta ? nullptr : block->data;
  c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes),
                       c10::DataPtr(data, block.release(), &free_block, where), /*allocator=*/nullptr,
                       /*resizable=*/false);
  const c10::DispatchKeySet keys(meta      ? c10::DispatchKey::Meta
                                 : managed ? c10::DispatchKey::CUDA
                                           : c10::DispatchKey::CPU);
  at::Tensor tensor =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), keys, c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

}  // namespace headroom::llama
