// A lock for the few instructions inside an allocator's hook, where a mutex that sleeps would cost more than it guards.
#pragma once

#include <atomic>
#include <thread>

namespace headroom::live {

class SpinLock {
 public:
  void lock() noexcept {
    int spins = 0;
    while (held_.test_and_set(std::memory_order_acquire)) {
      // The holder may have lost its core: with fewer cores than threads, spinning on would only keep it away.
      if (++spins % 64 == 0) std::this_thread::yield();
    }
  }
  void unlock() noexcept { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

}  // namespace headroom::live
