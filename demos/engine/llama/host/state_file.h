// Optimizer state in a file. Three pieces are in memory: one is read, one stepped, one written. Rajbhandari et al. 2021
// (ZeRO-Infinity), arXiv:2104.07857, section 6.3.
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

// Bytes moved since the last query, and the time in which any transfer was active.
struct FileTraffic {
  record::Bytes bytes = 0;
  record::Nanoseconds time = 0;
};

class StateFile {
 public:
  // `piece`: bytes of the largest piece. `file`: null on meta.
  StateFile(std::unique_ptr<DirectFile> file, record::Bytes piece, HostArena& arena);
  ~StateFile();

  // Bytes that a piece takes in the file, in whole blocks. Pieces are consecutive; a new file is all zeros.
  static record::Bytes room(record::Bytes bytes);

  // Called piece by piece on the worker thread: ahead() begins a read, take() waits for it, put_back() begins the
  // write. At most two pieces are ahead of the last put_back(). All three throw what DirectFile throws.
  void ahead(record::Bytes offset, record::Bytes bytes);
  at::Tensor take();  // uint8 [bytes], valid until put_back()
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
  using Work = std::future<Interval>;
  struct Slot {
    at::Tensor memory;
    record::Bytes offset = 0, bytes = 0;
    Work reading, writing;
  };
  struct Direction {
    FileTraffic since_look;
    Time until;  // end of the counted time
  };
  template <class Body>
  static Work timed(Body body);
  // Waits for `work` and counts it. Call in the order in which transfers began.
  static void end(Work& work, record::Bytes bytes, Direction& direction);
  Slot& slot(std::int64_t number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  std::unique_ptr<DirectFile> file_;
  std::array<Slot, 3> slots_;
  std::int64_t asked_ = 0, taken_ = 0;
  Direction read_, written_;
};

}  // namespace headroom::llama
