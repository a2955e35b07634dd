// Lock for a few instructions in an allocator's hook, where a sleeping mutex would cost too much.
#pragma once

#include <atomic>
#include <thread>

namespace headroom::live {

class SpinLock {
 public:
  void lock() noexcept {
    int spins = 0;
    while (held_.test_and_set(std::memory_order_acquire)) {
      // The holder may have lost its core, and spinning could keep the holder off it.
      if (++spins % 64 == 0) std::this_thread::yield();
    }
  }
  void unlock() noexcept { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

}  // namespace headroom::live
