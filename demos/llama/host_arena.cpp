// Host memory by mmap, locked for CUDA by cudaHostRegister. PyTorch's own locked allocator rounds a block up to a power
// of two: 18 MiB would take 32.
#include "demos/llama/host_arena.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include <cuda_runtime_api.h>

#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

using record::Bytes;

struct Block {
  void* data = nullptr;
  std::size_t bytes = 0;
  void (*unlock)(void*) = nullptr;  // null: not locked
};

void free_block(void* context) {
  const auto* block = static_cast<Block*>(context);
  record::host_freed(block->data);
  if (block->unlock != nullptr) block->unlock(block->data);
  munmap(block->data, block->bytes);
  delete block;
}

// Blocks on meta have addresses that nobody reads, and that no other block has.
void* made_up_address() {
  static std::atomic<std::uintptr_t> next{1};
  constexpr std::uintptr_t kPage = 4096;
  return reinterpret_cast<void*>(next.fetch_add(1, std::memory_order_relaxed) * kPage);
}

void free_made_up(void* address) { record::host_freed(address); }

HostArena::PageLock cuda_lock() {
  return {.lock =
              [](void* block, std::size_t bytes) {
                if (cudaHostRegister(block, bytes, cudaHostRegisterDefault) == cudaSuccess) return true;
                (void)cudaGetLastError();  // or the next launch would report it
                return false;
              },
          .unlock = [](void* block) { (void)cudaHostUnregister(block); }};
}

std::string full_sentence(Bytes wanted, Bytes most) {
  const std::string what = "What this run keeps on the host needs " + record::format_bytes(wanted);
  return most == 0 ? what + " more, and the system has refused it."
                   : what + " of memory, and this machine can give " + record::format_bytes(most) + ".";
}

}  // namespace

HostArena::HostArena(at::Device device, Bytes most)
    : HostArena(device, most, device.is_cuda() ? cuda_lock() : PageLock{}) {}

HostArena::HostArena(at::Device device, Bytes most, PageLock lock)
    : device_(device), most_(most), lock_(std::move(lock)) {}

at::Tensor HostArena::empty(at::IntArrayRef sizes, at::ScalarType type, HostPages pages) {
  const Bytes bytes = c10::multiply_integers(sizes) * static_cast<Bytes>(c10::elementSize(type));
  const auto wrap = [&](void* data, void* context, c10::DeleterFnPtr deleter, at::Device where) {
    c10::Storage storage(c10::Storage::use_byte_size_t(), static_cast<std::size_t>(bytes),
                         c10::DataPtr(data, context, deleter, where), /*allocator=*/nullptr, /*resizable=*/false);
    const c10::DispatchKey key = where.is_meta() ? c10::DispatchKey::Meta : c10::DispatchKey::CPU;
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key),
                                                                 c10::scalarTypeToTypeMeta(type));
    tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    return tensor;
  };
  if (device_.is_meta()) {
    void* const address = made_up_address();
    record::host_allocated(address, bytes);
    bytes_ += bytes;
    return wrap(nullptr, address, &free_made_up, at::kMeta);
  }
  if (most_ != 0 && bytes_ + bytes > most_) throw HostMemoryFull(full_sentence(bytes_ + bytes, most_));
  void* const data = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                          /*fd=*/-1, 0);
  if (data == MAP_FAILED) throw HostMemoryFull(full_sentence(bytes, 0));
  (void)madvise(data, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);  // fewer page faults; a refusal costs nothing
  auto* const block = new Block{.data = data, .bytes = static_cast<std::size_t>(bytes)};
  if (pages == HostPages::kLocked && lock_.lock && trouble_.empty()) {
    if (lock_.lock(data, block->bytes)) {
      block->unlock = lock_.unlock;
    } else {
      trouble_ = "Host memory is too small for page-locked buffers: copies go through ordinary pages, slower and not "
                 "beside the device's work.";
    }
  }
  record::host_allocated(data, bytes);
  bytes_ += bytes;
  return wrap(data, block, &free_block, at::kCPU);
}

}  // namespace headroom::llama
