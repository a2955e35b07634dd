// Reads pieces ahead, and writes them in the background.
#include "demos/engine/llama/host/state_file.h"

#include <algorithm>

#include "demos/engine/llama/model/labels.h"
#include "demos/record/scope.h"

namespace headroom::llama {

using record::Bytes;

template <class Body>
StateFile::Work StateFile::timed(Body body) {
  return std::async(std::launch::async, [body] {
    const Time begin = std::chrono::steady_clock::now();
    body();
    return Interval{begin, std::chrono::steady_clock::now()};
  });
}

StateFile::StateFile(std::unique_ptr<DirectFile> file, Bytes piece, HostArena& arena) : file_(std::move(file)) {
  const record::Scope scope(
      record::Tag{.category = record::Category::kOptimizerState, .op = number_of(Op::kFileBuffer)});
  for (Slot& each : slots_) each.memory = arena.empty({room(piece)}, at::kByte, HostPages::kPageable);
}

StateFile::~StateFile() = default;  // futures of std::async wait for their threads

Bytes StateFile::room(Bytes bytes) {
  return (bytes + DirectFile::kBlock - 1) / DirectFile::kBlock * DirectFile::kBlock;
}

void StateFile::end(Work& work, Bytes bytes, Direction& direction) {
  if (!work.valid()) return;
  const Interval done = work.get();
  const auto alone = done.end - std::max(done.begin, direction.until);
  direction.since_look.time += std::max<record::Nanoseconds>(0, std::chrono::nanoseconds(alone).count());
  direction.since_look.bytes += bytes;
  direction.until = std::max(direction.until, done.end);
}

void StateFile::ahead(Bytes offset, Bytes bytes) {
  Slot& next = slot(asked_++);
  end(next.writing, next.bytes, written_);
  next.offset = offset;
  next.bytes = room(bytes);
  next.reading = timed([file = file_.get(), offset, data = next.memory.mutable_data_ptr(), size = next.bytes] {
    file->read(offset, data, size);
  });
}

at::Tensor StateFile::take() {
  Slot& current = slot(taken_);
  end(current.reading, current.bytes, read_);
  return current.memory;
}

void StateFile::put_back() {
  Slot& current = slot(taken_++);
  current.writing = timed([file = file_.get(), offset = current.offset, data = current.memory.const_data_ptr(),
                           size = current.bytes] { file->write(offset, data, size); });
}

void StateFile::finish() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {  // oldest first
    Slot& each = slot(taken_ + static_cast<std::int64_t>(i));
    end(each.writing, each.bytes, written_);
  }
}

}  // namespace headroom::llama
