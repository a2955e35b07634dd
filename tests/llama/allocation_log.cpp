// Logging allocators for CPU and meta.
#include "tests/llama/allocation_log.h"

#include <map>
#include <mutex>

#include <ATen/Parallel.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>

#include "demos/engine/llama/model/cpu_operators.h"

namespace headroom::tests {

namespace {

struct Log {
  struct Live {
    std::int64_t storage;
    record::Bytes bytes;
  };
  std::mutex mutex;
  bool on = false;
  LoggedDevice device = LoggedDevice::kCpu;
  std::int64_t next = 0;
  int marks = 0;
  int until_refusal = 0;  // allocations up to the refused one; 0: none is refused
  std::map<const void*, Live> live;
  std::vector<Allocation> events;

  void add(Allocation::Kind kind, const Live& storage, record::Tag tag) {
    events.push_back({.kind = kind,
                      .storage = storage.storage,
                      .bytes = storage.bytes,
                      .tag = tag,
                      .in_parallel = at::in_parallel_region()});
  }
  void born(const void* key, std::size_t bytes, LoggedDevice where) {
    const std::lock_guard lock(mutex);
    Live storage{.storage = -1, .bytes = static_cast<record::Bytes>(bytes)};
    if (on && device == where) {
      storage.storage = next++;
      add(Allocation::Kind::kAlloc, storage, record::current_tag());
    }
    live[key] = storage;
  }
  bool refuses() {
    const std::lock_guard lock(mutex);
    return until_refusal > 0 && --until_refusal == 0;
  }
  void died(const void* key, LoggedDevice where) {
    const std::lock_guard lock(mutex);
    const auto found = live.find(key);
    if (found == live.end()) return;
    if (on && device == where) add(Allocation::Kind::kFree, found->second, record::current_tag());
    live.erase(found);
  }
  void relabelled(const void* key, record::Category category) {
    const std::lock_guard lock(mutex);
    const auto found = live.find(key);
    if (!on || found == live.end()) return;
    record::Tag tag = record::current_tag();
    tag.category = category;
    add(Allocation::Kind::kRelabel, found->second, tag);
  }
};

Log& the_log() {
  static auto* const log = new Log;  // tensors may outlive static objects
  return *log;
}

struct CpuAllocator final : c10::Allocator {
  static void free(void* data) {
    if (data == nullptr) return;
    the_log().died(data, LoggedDevice::kCpu);
    c10::free_cpu(data);
  }
  c10::DataPtr allocate(std::size_t bytes) override {
    if (the_log().refuses()) C10_THROW_ERROR(OutOfMemoryError, "refused by the test");
    void* const data = c10::alloc_cpu(bytes);
    if (data != nullptr) the_log().born(data, bytes, LoggedDevice::kCpu);
    return {data, data, &free, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

struct MetaAllocator final : c10::Allocator {
  static void free(void* context) {
    the_log().died(context, LoggedDevice::kMeta);
    delete static_cast<char*>(context);
  }
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, &c10::detail::deleteNothing, c10::Device(c10::kMeta)};
    char* const context = new char;  // only a unique address
    the_log().born(context, bytes, LoggedDevice::kMeta);
    return {nullptr, context, &free, c10::Device(c10::kMeta)};
  }
  void copy_data(void*, const void*, std::size_t) const override {}
};

struct Listener final : record::ScopeListener {
  void on_mark(const record::Tag&, std::int32_t) override { ++the_log().marks; }
  void on_relabel(const void* data, record::Category category) override { the_log().relabelled(data, category); }
};

}  // namespace

std::string to_string(const Allocation& a) {
  static constexpr const char* kKinds[] = {"alloc", "free", "relabel"};
  return std::string(kKinds[static_cast<int>(a.kind)]) + " #" + std::to_string(a.storage) + " " +
         std::to_string(a.bytes) + " B " + std::string(record::key_of(a.tag.category)) + " " +
         std::string(record::key_of(a.tag.phase)) + " layer " + std::to_string(a.tag.layer) + " " +
         std::string(record::operator_name(a.tag.op));
}

void install_allocation_log() {
  static const bool installed = [] {
    llama::turn_off_onednn();
    constexpr std::uint8_t kAbovePyTorch = 10;
    c10::SetCPUAllocator(new CpuAllocator, kAbovePyTorch);
    c10::SetAllocator(c10::kMeta, new MetaAllocator, kAbovePyTorch);
    record::set_scope_listener(new Listener);
    return true;
  }();
  static_cast<void>(installed);
}

void start_log(LoggedDevice device) {
  install_allocation_log();
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  for (auto& [key, storage] : log.live) storage.storage = -1;
  log.events.clear();
  log.next = 0;
  log.marks = 0;
  log.device = device;
  log.on = true;
}

std::vector<Allocation> stop_log() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.on = false;
  log.until_refusal = 0;
  return std::move(log.events);
}

std::vector<Allocation> threads_at_once(const std::vector<Allocation>& log) {
  std::vector<Allocation> result, ended;
  for (const Allocation& a : log) {
    if (a.in_parallel && a.kind == Allocation::Kind::kFree) {
      ended.push_back(a);
      continue;
    }
    if (!a.in_parallel) {
      result.insert(result.end(), ended.begin(), ended.end());
      ended.clear();
    }
    result.push_back(a);
  }
  result.insert(result.end(), ended.begin(), ended.end());
  return result;
}

void refuse_allocation(int nth) {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.until_refusal = nth;
}

std::vector<Allocation> kept(const std::vector<Allocation>& log) {
  std::map<std::int64_t, Allocation> alive;
  for (const Allocation& a : log) {
    if (a.tag.phase == record::Phase::kLoss) break;
    if (a.kind == Allocation::Kind::kFree) alive.erase(a.storage);
    if (a.kind == Allocation::Kind::kAlloc) alive[a.storage] = a;
  }
  std::vector<Allocation> result;
  for (const auto& [storage, allocation] : alive) result.push_back(allocation);
  return result;
}

record::Bytes kept_by(const std::vector<Allocation>& log, const std::string& op) {
  record::Bytes bytes = 0;
  for (const Allocation& a : kept(log)) bytes += record::operator_name(a.tag.op) == op ? a.bytes : 0;
  return bytes;
}

int marks_heard() { return the_log().marks; }

record::ByCategory peak_by_category(const std::vector<Allocation>& log) {
  std::map<std::int64_t, record::Category> category;
  for (const Allocation& a : log) {
    if (a.kind != Allocation::Kind::kFree && a.storage >= 0) category[a.storage] = a.tag.category;
  }
  record::ByCategory live{}, peak{};
  for (const Allocation& a : log) {
    if (a.kind == Allocation::Kind::kRelabel || a.storage < 0) continue;
    const bool born = a.kind == Allocation::Kind::kAlloc;
    live[static_cast<std::size_t>(category[a.storage])] += born ? a.bytes : -a.bytes;
    if (sum(live) > sum(peak)) peak = live;
  }
  return peak;
}

record::Bytes sum(const record::ByCategory& bytes) {
  record::Bytes total = 0;
  for (const record::Bytes b : bytes) total += b;
  return total;
}

}  // namespace headroom::tests
