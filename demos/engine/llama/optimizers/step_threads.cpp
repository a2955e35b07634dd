// Runs parts on PyTorch's thread pool.
#include "demos/engine/llama/optimizers/step_threads.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <omp.h>

#include <ATen/Parallel.h>

namespace headroom::llama {

namespace {

// at::set_num_threads would also change every thread that starts later.
void be_alone() {
  (void)at::get_num_threads();  // first, since a thread's first call sets the number
  omp_set_num_threads(1);
}

}  // namespace

struct StepThreads::Work {
  Part part;
  std::function<void()> then;
  std::atomic<std::int64_t> left;
};

StepThreads::StepThreads(int threads) : pool_(std::clamp(threads, 1, kMost), /*numa_node_id=*/-1, be_alone) {}

void StepThreads::share(std::int64_t parts, Part part, std::function<void()> then) {
  const auto work = std::make_shared<Work>(std::move(part), std::move(then), parts);
  for (std::int64_t i = 0; i < parts; ++i) {
    pool_.runTaskWithID([this, work, i](std::size_t thread) { take(thread, *work, i); });
  }
}

void StepThreads::take(std::size_t thread, Work& work, std::int64_t part) {
  if (failed_) return;
  try {
    work.part(thread, part);
    if (--work.left == 0 && work.then) work.then();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!trouble_) trouble_ = std::current_exception();
    failed_ = true;
  }
}

void StepThreads::wait() {
  pool_.waitWorkComplete();
  const std::lock_guard lock(mutex_);
  if (trouble_) std::rethrow_exception(trouble_);
}

}  // namespace headroom::llama
