// Threads that step weights on the CPU while another thread drives a device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include <c10/core/thread_pool.h>

namespace headroom::llama {

// Each takes the next part as soon as it is free, also of work that was asked for later. A parallel loop for every piece
// of weights would let all of them wait at its end for the slowest one, 160 times per step of the 1B model;
// and beside the main thread's own loops it would make two OpenMP teams of more threads than there are cores, which
// OpenMP puts to sleep after each loop.
class StepThreads {
 public:
  static constexpr int kMost = 32;

  // `threads`: 1 to kMost, more count as kMost.
  explicit StepThreads(int threads);
  // Parts that have not begun are dropped.
  ~StepThreads() = default;

  using Part = std::function<void(std::size_t thread, std::int64_t part)>;
  // Returns at once. Runs parts [0, parts) FIFO after earlier work, one thread per part, with PyTorch's intra-op
  // parallelism off; `thread` is below kMost. The thread of the last part goes on with `then`, which may share more.
  // No further part runs after one has thrown.
  void share(std::int64_t parts, Part part, std::function<void()> then = {});
  // Until nothing is left; throws what a part threw. Not from a part.
  void wait();

 private:
  struct Work;
  void take(std::size_t thread, Work& work, std::int64_t part);

  std::mutex mutex_;
  std::exception_ptr trouble_;
  std::atomic<bool> failed_ = false;
  c10::ThreadPool pool_;  // ends first
};

}  // namespace headroom::llama
