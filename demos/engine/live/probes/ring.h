// Bounded ring between the allocator's hooks and the link thread. Drops and counts events when full.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "demos/record/rows/mem_event.h"

namespace headroom::live {

// One producer at a time (under EventSink's lock) and one consumer. A push copies 64 bytes and calls nothing.
class EventRing {
 public:
  // 1,048,576 events of 64 B: 64 MiB, of which only written pages take memory.
  static constexpr std::size_t kDefaultCapacity = std::size_t{1} << 20;

  explicit EventRing(std::size_t capacity = kDefaultCapacity) : capacity_(capacity), slots_(allocate(capacity)) {}

  std::size_t capacity() const { return capacity_; }

  // False if the ring is full and the event is lost.
  bool push(const record::MemEvent& event) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) == capacity_) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return false;
    }
    std::construct_at(slots_.get() + head % capacity_, event);
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // Appends events; returns their number.
  std::size_t drain(std::vector<record::MemEvent>& out, std::size_t at_most) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t waiting = head_.load(std::memory_order_acquire) - tail;
    const std::size_t count = waiting < at_most ? static_cast<std::size_t>(waiting) : at_most;
    for (std::size_t i = 0; i < count; ++i) out.push_back(slots_.get()[(tail + i) % capacity_]);
    tail_.store(tail + count, std::memory_order_release);
    return count;
  }

  std::size_t waiting() const {
    return static_cast<std::size_t>(head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_acquire));
  }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  // Raw memory: constructing a million events would touch every page.
  struct Release {
    std::size_t capacity;
    void operator()(record::MemEvent* slots) const { std::allocator<record::MemEvent>().deallocate(slots, capacity); }
  };
  static std::unique_ptr<record::MemEvent[], Release> allocate(std::size_t capacity) {
    return {std::allocator<record::MemEvent>().allocate(capacity), Release{capacity}};
  }

  std::size_t capacity_;
  std::unique_ptr<record::MemEvent[], Release> slots_;
  // Separate cache lines for producer and consumer.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  alignas(64) std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace headroom::live
