// Optimizer state in a file, of which a few pieces at a time are in memory: one is read while the one before it is
// stepped and the one before that is written. Rajbhandari et al. 2021 (ZeRO-Infinity), arXiv:2104.07857, section 6.3.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>

#include <ATen/ATen.h>

#include "demos/engine/llama/host/direct_file.h"
#include "demos/engine/llama/host/host_arena.h"

namespace headroom::llama {

// What has gone through the file since the last look, and for how long something was on its way: two pieces at the same
// time count once.
struct FileTraffic {
  record::Bytes bytes = 0;
  record::Nanoseconds time = 0;
};

class StateFile {
 public:
  // `piece`: bytes of the largest one. `file` is null on meta, where there is nothing to read.
  StateFile(std::unique_ptr<DirectFile> file, record::Bytes piece, HostArena& arena);
  ~StateFile();

  // A piece's bytes in the file, whole blocks. Pieces are one after the other; a new file is all zeros.
  static record::Bytes room(record::Bytes bytes);

  // From the worker's thread, piece after piece: take() waits for the piece that ahead() began to read, and put_back()
  // begins to write it. At most two are ahead of the last put_back(). They throw what DirectFile throws.
  void ahead(record::Bytes offset, record::Bytes bytes);
  at::Tensor take();  // uint8 [bytes], of this class, until put_back()
  void put_back();
  // Waits for all writes.
  void finish();

  bool direct() const { return file_ != nullptr && file_->direct(); }
  FileTraffic take_read() { return std::exchange(read_.since_look, {}); }
  FileTraffic take_written() { return std::exchange(written_.since_look, {}); }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Interval {
    Time begin, end;
  };
  using Work = std::future<Interval>;  // when it was done
  struct Slot {
    at::Tensor memory;
    record::Bytes offset = 0, bytes = 0;
    Work reading, writing;
  };
  struct Direction {
    FileTraffic since_look;
    Time until;  // the end of what has been counted
  };
  template <class Body>
  static Work timed(Body body);
  // Waits. In the order in which the work began.
  static void end(Work& work, record::Bytes bytes, Direction& direction);
  Slot& slot(std::int64_t number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  std::unique_ptr<DirectFile> file_;
  std::array<Slot, 3> slots_;
  std::int64_t asked_ = 0, taken_ = 0;
  Direction read_, written_;
};

}  // namespace headroom::llama
