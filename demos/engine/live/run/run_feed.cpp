// The queue from worker to link.
#include "demos/engine/live/run/run_feed.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

namespace headroom::live {

RunFeed::RunFeed() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

RunFeed::~RunFeed() { ::close(wake_); }

void RunFeed::begin(std::uint64_t run) {
  std::lock_guard guard(mutex_);
  news_ = {};
  news_.run = run;
}

void RunFeed::add(record::RunInfo info) {
  std::lock_guard guard(mutex_);
  news_.info = std::move(info);
}

void RunFeed::add(const std::vector<record::Nanoseconds>& device_times) {
  std::lock_guard guard(mutex_);
  news_.device_times.insert(news_.device_times.end(), device_times.begin(), device_times.end());
}

void RunFeed::add(record::KernelReport report) {
  std::lock_guard guard(mutex_);
  news_.kernel_report = std::move(report);
}

void RunFeed::add_dropped(std::uint64_t spans) {
  std::lock_guard guard(mutex_);
  news_.dropped_spans += spans;
}

void RunFeed::add(protocol::Progress progress) {
  std::lock_guard guard(mutex_);
  news_.progress = std::move(progress);
}

void RunFeed::finish(record::Outcome outcome) {
  std::unique_lock guard(mutex_);
  news_.outcome = std::move(outcome);
  finishing_ = true;
  const std::uint64_t one = 1;
  // If the counter is too full to write, the descriptor is readable anyway.
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
  taken_.wait(guard, [this] { return !finishing_ || closed_; });
}

RunNews RunFeed::take() {
  std::lock_guard guard(mutex_);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t read = ::read(wake_, &count, sizeof count);
  RunNews news = std::move(news_);
  news_ = {};
  news_.run = news.run;
  return news;
}

void RunFeed::finish_taken() {
  {
    std::lock_guard guard(mutex_);
    finishing_ = false;
  }
  taken_.notify_all();
}

void RunFeed::close() {
  {
    std::lock_guard guard(mutex_);
    closed_ = true;
  }
  taken_.notify_all();
}

}  // namespace headroom::live
