// Reading ahead and writing behind.
#include "demos/llama/state_file.h"

#include <chrono>

#include "demos/record/scope.h"

namespace headroom::llama {

namespace {

using record::Bytes;
using record::Nanoseconds;

template <class Body>
std::future<Nanoseconds> timed(Body body) {
  return std::async(std::launch::async, [body] {
    const auto begun = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begun).count();
  });
}

}  // namespace

StateFile::StateFile(std::unique_ptr<DirectFile> file, Bytes piece, HostArena& arena) : file_(std::move(file)) {
  static const std::uint16_t op = record::intern_operator("adamw.file_buffer");
  const record::Scope scope(record::Tag{.category = record::Category::kOptimizerState, .op = op});
  for (Slot& each : slots_) each.memory = arena.empty({room(piece)}, at::kByte, HostPages::kPageable);
}

StateFile::~StateFile() = default;  // a future of std::async waits for its thread

Bytes StateFile::room(Bytes bytes) {
  return (bytes + DirectFile::kBlock - 1) / DirectFile::kBlock * DirectFile::kBlock;
}

void StateFile::end(Work& work, Bytes bytes, FileTraffic& traffic) {
  if (!work.valid()) return;
  traffic.time += work.get();
  traffic.bytes += bytes;
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
  for (Slot& each : slots_) end(each.writing, each.bytes, written_);
}

}  // namespace headroom::llama
