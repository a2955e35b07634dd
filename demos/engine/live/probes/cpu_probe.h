// Replaces LibTorch's CPU allocator: records every allocation and free, counts live bytes, and enforces limits.
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
  // Becomes LibTorch's CPU allocator, with 2 MiB pages for big tensors if the system has them. Call once per process,
  // before any tensor exists; never removed.
  static CpuProbe& install(EventSink& sink);

  void start() override;
  void stop() override;
  void relabel(const void* data, record::Category category) override;

  // An allocation that exceeds either limit fails with c10::OutOfMemoryError; otherwise Linux would overcommit and kill
  // a process later. 0: no limit.
  void set_limits(record::Bytes cap, record::Bytes machine);

  record::Bytes live_bytes() const;
  // Peak since reset_peak().
  record::Bytes peak_bytes() const;
  void reset_peak();

  c10::DataPtr allocate(std::size_t bytes) override;
  c10::DeleterFnPtr raw_deleter() const override;
  void copy_data(void* destination, const void* source, std::size_t bytes) const override;

 private:
  explicit CpuProbe(EventSink& sink) : sink_(sink) {}

  // Reserves the bytes or throws, since two threads may allocate at once when only one allocation fits.
  void set_aside(record::Bytes bytes);
  void born(void* data, record::Bytes bytes) noexcept;
  void died(void* data) noexcept;
  static void free(void* data);

  EventSink& sink_;
  mutable SpinLock lock_;  // OpenMP workers allocate in attention's backward pass
  StorageTable storages_;
  record::Bytes live_ = 0;   // live bytes according to the events
  record::Bytes taken_ = 0;  // live_ plus allocations in progress
  record::Bytes peak_ = 0;
  record::Bytes cap_ = 0;
  record::Bytes machine_ = 0;
  bool recording_ = false;
};

}  // namespace headroom::live
