// Thread tags, the operator table and the listener.
#include "demos/record/scope.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>

namespace headroom::record {
namespace {

// A bit field of the packed word.
struct Field {
  unsigned shift, bits;
  constexpr std::uint64_t mask() const { return ((std::uint64_t{1} << bits) - 1) << shift; }
  template <class Value>  // a number or an enumerator
  constexpr std::uint64_t put(Value value) const {
    return (static_cast<std::uint64_t>(value) << shift) & mask();
  }
  constexpr std::uint64_t get(std::uint64_t word) const { return (word & mask()) >> shift; }
};

constexpr Field kPhaseField{0, 4}, kCategoryField{4, 4}, kLayerField{8, 12}, kMicroBatchField{20, 12}, kOpField{32, 16},
    kStreamField{48, 8};
constexpr std::uint64_t kSet = std::uint64_t{1} << 56;     // the thread has its own tag
constexpr std::uint64_t kMarked = std::uint64_t{1} << 57;  // it stays after the last Scope, because the thread's mark
                                                           // needs it
constexpr std::uint64_t kWholeTag = kSet - 1;
// Tag of threads without a tag of their own while there is no worker.
constexpr std::uint64_t kNoTag = kCategoryField.put(Category::kOther) | kLayerField.put(kNoLayer);

constinit thread_local std::atomic<std::uint64_t> own_word{0};
constinit thread_local std::int32_t current_step = -1;
// The worker's tag, which only the worker writes; `worker` is its own_word's address.
constinit std::atomic<std::uint64_t> worker_word{0};
constinit std::atomic<const void*> worker{nullptr};
constinit std::atomic<ScopeListener*> listener{nullptr};

std::uint64_t read_word() {
  const std::uint64_t own = own_word.load(std::memory_order_relaxed);
  if ((own & kSet) != 0) return own;
  const std::uint64_t borrowed = worker_word.load(std::memory_order_relaxed);
  return (borrowed & kSet) != 0 ? borrowed & kWholeTag : kNoTag;
}

void write_word(std::uint64_t word) {
  own_word.store(word, std::memory_order_relaxed);
  if (worker.load(std::memory_order_relaxed) == &own_word) worker_word.store(word, std::memory_order_relaxed);
}

// A borrowed word becomes the thread's own. Returns the previous word.
std::uint64_t replace(std::uint64_t mask, std::uint64_t bits) {
  const std::uint64_t before = read_word();
  write_word((before & ~mask) | bits | kSet);
  return before;
}

struct OperatorTable {
  std::mutex mutex;
  std::deque<std::string> names{""};  // a deque, so that names never move
  std::unordered_map<std::string_view, std::uint16_t> numbers{{"", kNoOperator}};
};

OperatorTable& operators() {
  static OperatorTable table;
  return table;
}

void tell(const Tag& tag) {
  if (ScopeListener* const heard = listener.load(std::memory_order_acquire)) heard->on_mark(tag, current_step);
}

}  // namespace

std::uint64_t Tag::pack() const {
  return kPhaseField.put(phase) | kCategoryField.put(category) | kLayerField.put(layer) |
         kMicroBatchField.put(micro_batch) | kOpField.put(op) | kStreamField.put(stream) | kSet;
}

Tag Tag::unpack(std::uint64_t word) {
  return {.phase = static_cast<Phase>(kPhaseField.get(word)),
          .category = static_cast<Category>(kCategoryField.get(word)),
          .layer = static_cast<std::uint16_t>(kLayerField.get(word)),
          .micro_batch = static_cast<std::uint16_t>(kMicroBatchField.get(word)),
          .op = static_cast<std::uint16_t>(kOpField.get(word)),
          .stream = static_cast<std::uint8_t>(kStreamField.get(word))};
}

Tag current_tag() { return Tag::unpack(read_word()); }

void become_worker_thread() {
  const std::uint64_t own = own_word.load(std::memory_order_relaxed);
  worker.store(&own_word, std::memory_order_relaxed);
  write_word(((own & kSet) != 0 ? own : kNoTag | kSet) | kMarked);
}

std::uint16_t intern_operator(std::string_view name) {
  OperatorTable& table = operators();
  const std::lock_guard lock(table.mutex);
  if (const auto found = table.numbers.find(name); found != table.numbers.end()) return found->second;
  if (table.names.size() > 0xffff) throw std::length_error("more than 65,535 operator names");
  const auto number = static_cast<std::uint16_t>(table.names.size());
  table.numbers.emplace(table.names.emplace_back(name), number);
  return number;
}

std::string_view operator_name(std::uint16_t op) {
  OperatorTable& table = operators();
  const std::lock_guard lock(table.mutex);
  return op < table.names.size() ? std::string_view(table.names[op]) : std::string_view();
}

std::uint16_t operator_count() {
  OperatorTable& table = operators();
  const std::lock_guard lock(table.mutex);
  return static_cast<std::uint16_t>(table.names.size() - 1);
}

Scope::Scope(Category category) : mask_(kCategoryField.mask()), before_(replace(mask_, kCategoryField.put(category))) {}

Scope::Scope(Phase phase) : mask_(kPhaseField.mask()), before_(replace(mask_, kPhaseField.put(phase))) {}

Scope::Scope(std::uint16_t op) : mask_(kOpField.mask()), before_(replace(mask_, kOpField.put(op))) {}

Scope::Scope(Category category, std::uint16_t op)
    : mask_(kCategoryField.mask() | kOpField.mask()),
      before_(replace(mask_, kCategoryField.put(category) | kOpField.put(op))) {}

Scope::Scope(Stream stream) : mask_(kStreamField.mask()), before_(replace(mask_, kStreamField.put(stream))) {}

Scope::Scope(const Tag& tag) : mask_(kWholeTag), before_(replace(mask_, tag.pack())) {}

Scope::~Scope() {
  const std::uint64_t now = own_word.load(std::memory_order_relaxed);
  const bool keeps_tag = (before_ & kSet) != 0 || (now & kMarked) != 0;
  write_word(keeps_tag ? (now & ~mask_) | (before_ & mask_) : 0);
}

ScopeListener* set_scope_listener(ScopeListener* heard) { return listener.exchange(heard, std::memory_order_acq_rel); }

void mark(Phase phase, std::uint16_t layer, std::uint16_t micro_batch) {
  replace(kPhaseField.mask() | kLayerField.mask() | kMicroBatchField.mask(),
          kPhaseField.put(phase) | kLayerField.put(layer) | kMicroBatchField.put(micro_batch) | kMarked);
  tell(current_tag());
}

void mark_step(std::int32_t step) {
  current_step = step;
  mark(Phase::kSetup);
}

void relabel(const void* data, Category category) {
  if (ScopeListener* const heard = listener.load(std::memory_order_acquire)) heard->on_relabel(data, category);
}

void host_allocated(const void* block, Bytes bytes) {
  if (ScopeListener* const heard = listener.load(std::memory_order_acquire)) heard->on_host_alloc(block, bytes);
}

void host_freed(const void* block) {
  if (ScopeListener* const heard = listener.load(std::memory_order_acquire)) heard->on_host_free(block);
}

}  // namespace headroom::record
