// LibTorch's CPU allocator under our eyes: every allocation and free, live totals, and limits that really fail.
#pragma once

#include <cstddef>

#include <c10/core/Allocator.h>

#include "demos/engine/live/probes/event_sink.h"
#include "demos/engine/live/probes/probe.h"
#include "demos/engine/live/probes/spin_lock.h"
#include "demos/engine/live/probes/storage_table.h"

namespace headroom::live {

class CpuProbe final : public c10::Allocator, public Probe {
 public:
  // Becomes LibTorch's CPU allocator, with pages of 2 MiB for big tensors if the system has them. Once per process,
  // before any tensor exists; never removed.
  static CpuProbe& install(EventSink& sink);

  void start() override;
  void stop() override;
  void relabel(const void* data, record::Category category) override;

  // An allocation that would bring the live bytes above the cap, or above what the machine can give, fails with
  // c10::OutOfMemoryError: Linux overcommits and would OOM-kill a process later. 0: no limit.
  void set_limits(record::Bytes cap, record::Bytes machine);

  record::Bytes live_bytes() const;
  // The most live bytes since the last call of reset_peak().
  record::Bytes peak_bytes() const;
  void reset_peak();

  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, std::size_t bytes) const override;

 private:
  explicit CpuProbe(EventSink& sink) : sink_(sink) {}

  // Sets the bytes aside, or throws: two threads may ask at once, and only one of them fits.
  void set_aside(record::Bytes bytes);
  void born(void* data, record::Bytes bytes) noexcept;
  void died(void* data) noexcept;
  static void free(void* data);

  EventSink& sink_;
  mutable SpinLock lock_;  // OpenMP workers allocate inside the backward of attention
  StorageTable storages_;
  record::Bytes live_ = 0;   // what the events add up to
  record::Bytes taken_ = 0;  // live_ and what was set aside for allocations that are being made
  record::Bytes peak_ = 0;
  record::Bytes cap_ = 0;
  record::Bytes machine_ = 0;
  bool recording_ = false;
};

}  // namespace headroom::live
