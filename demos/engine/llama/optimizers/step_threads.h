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

// A free thread takes the next part, also of later work. With a parallel loop per piece all threads would wait for the
// slowest one, 160 times per step of the 1B model, and OpenMP, whose two teams would have more threads than cores,
// would put threads to sleep after each loop.
class StepThreads {
 public:
  static constexpr int kMost = 32;

  // `threads`: 1 to kMost; larger numbers are clamped.
  explicit StepThreads(int threads);
  // Drops parts that have not begun.
  ~StepThreads() = default;

  using Part = std::function<void(std::size_t thread, std::int64_t part)>;
  // Returns at once. Runs parts [0, parts) FIFO after earlier work, one thread per part, without PyTorch's intra-op
  // parallelism; `thread` is below kMost. The thread that finishes last calls `then`, which may share more work. After
  // a part has thrown, no other part begins.
  void share(std::int64_t parts, Part part, std::function<void()> then = {});
  // Waits for all parts; throws what a part threw. Must not be called from a part.
  void wait();

 private:
  struct Work;
  void take(std::size_t thread, Work& work, std::int64_t part);

  std::mutex mutex_;
  std::exception_ptr trouble_;
  std::atomic<bool> failed_ = false;
  c10::ThreadPool pool_;  // destroyed first
};

}  // namespace headroom::llama
