// Repeats a micro-batch's events with new storages.
#include "demos/predict/allocator/more_micro_batches.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "demos/llama/operators.h"
#include "demos/predict/allocator/births.h"
#include "demos/predict/allocator/placed.h"

namespace headroom::predict {

using record::Bytes;
using record::EventKind;
using record::Mark;
using record::MemEvent;

namespace {

constexpr std::int64_t kAllAlike = 2, kLastDiffers = 3;
constexpr std::int64_t kLeastCompared = 3;  // needed to compare the second micro-batch with the third

std::int64_t micro_batches_of(const record::RunInfo& settings) {
  const auto found = settings.params.find(std::string(kMicroBatches));
  std::int64_t count = 1;
  if (found != settings.params.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
  return count;
}

// Micro-batches per step; 1 without steps.
std::int64_t micro_batches_in(const record::Recording& run) {
  std::int64_t most = 0;
  for (const Mark& mark : run.marks()) most = std::max<std::int64_t>(most, mark.micro_batch);
  return most + 1;
}

// One micro-batch of a step, training or evaluation.
struct Part {
  std::uint16_t micro_batch = 0;
  std::size_t first_mark = 0, end_mark = 0;
  std::uint64_t first_event = 0, last_mark_event = 0;
  std::uint64_t end_event = 0;  // the next mark, or the end of the recording
};

std::vector<Part> parts_of(const record::Recording& run) {
  const std::vector<Mark>& marks = run.marks();
  std::vector<Part> parts;
  for (std::size_t i = 0; i < marks.size();) {
    std::size_t end = i + 1;
    while (end < marks.size() && marks[end].micro_batch == marks[i].micro_batch && marks[end].step == marks[i].step)
      ++end;
    parts.push_back({.micro_batch = marks[i].micro_batch,
                     .first_mark = i,
                     .end_mark = end,
                     .first_event = marks[i].event_index,
                     .last_mark_event = marks[end - 1].event_index,
                     .end_event = end < marks.size() ? marks[end].event_index : run.events().size()});
    i = end;
  }
  return parts;
}

// A second micro-batch, to be repeated: events [first_event, end_event).
struct Repeated {
  Part part;
  Successors successors;  // of earlier storages that the part frees
};

// Checks that a part restores the memory it found.
class Balance {
 public:
  explicit Balance(const Births& before) : before_(before), alive_(before) {}

  void take(const MemEvent& event) {
    if (event.kind == EventKind::kAlloc) left_.insert(event.storage);
    if (event.kind == EventKind::kFree && left_.erase(event.storage) == 0 && before_.contains(event.storage)) ++freed_;
    predict::take(event, alive_);
  }
  std::optional<Successors> balanced() const {
    return freed_ == left_.size() ? successors(before_, alive_) : std::nullopt;
  }
  Births alive() && { return std::move(alive_); }

 private:
  const Births before_;
  Births alive_;
  std::unordered_set<std::uint64_t> left_;  // live storages that the part allocated
  std::size_t freed_ = 0;                   // earlier storages that the part freed
};

// nullopt if a second micro-batch cannot be repeated.
std::optional<std::vector<Repeated>> repeated_parts(const record::Recording& run) {
  const std::vector<MemEvent>& events = run.events();
  const std::vector<Part> parts = parts_of(run);
  std::vector<Repeated> all;
  Births alive;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Part part = parts[i];
    if (part.micro_batch != 1) continue;
    for (; next < part.first_event; ++next) take(events[next], alive);
    Balance balance(alive);
    // A step's last micro-batch ends where its loss is freed, every other one at the next mark.
    const bool last = i + 1 == parts.size() || parts[i + 1].micro_batch != 2;
    const std::uint64_t least = last ? part.last_mark_event : part.end_event;
    for (; next < least; ++next) balance.take(events[next]);
    std::optional<Successors> found = balance.balanced();
    for (; !found && next < part.end_event; found = balance.balanced()) balance.take(events[next++]);
    if (!found) return std::nullopt;
    part.end_event = next;
    all.push_back({part, *std::move(found)});
    alive = std::move(balance).alive();
  }
  return all;
}

class MicroBatchRepeater {
 public:
  MicroBatchRepeater(const record::Recording& few, std::int64_t added) : few_(few), added_(added), result_(few.info()) {
    result_.append_operators(0, few.operators());
  }

  record::Recording run(const std::vector<Repeated>& all) {
    for (const Repeated& repeated : all) {
      const Part& part = repeated.part;
      write(part.first_event, part.first_mark);
      later_ = 0;
      write(part.end_event, part.end_mark);
      for (std::int64_t nth = 1; nth <= added_; ++nth) write_again(repeated, nth);
      delay_ += added_ * duration_of(part);
      later_ = added_;
    }
    write(few_.events().size(), few_.marks().size());
    result_.append(events_);
    result_.append(marks_);
    if (few_.outcome()) result_.set_outcome(*few_.outcome());
    return std::move(result_);
  }

 private:
  // Copies the source up to these indices.
  void write(std::uint64_t end_event, std::size_t end_mark) {
    const std::uint64_t shift = events_.size() - next_event_;
    for (; next_mark_ < end_mark; ++next_mark_) add(few_.marks()[next_mark_], delay_, shift, later_);
    for (; next_event_ < end_event; ++next_event_) {
      const MemEvent& event = few_.events()[next_event_];
      add(event, delay_, later_, name_of(event));
    }
  }

  void write_again(const Repeated& repeated, std::int64_t nth) {
    const Part& part = repeated.part;
    Successors freed;  // maps freed storages of the source to their current numbers
    for (const auto& [old, successor] : repeated.successors) freed[old] = names_.at(successor);
    const record::Nanoseconds delay = delay_ + nth * duration_of(part);
    const std::uint64_t shift = events_.size() - part.first_event;
    for (std::size_t i = part.first_mark; i < part.end_mark; ++i) add(few_.marks()[i], delay, shift, nth);
    for (std::uint64_t i = part.first_event; i < part.end_event; ++i) {
      const MemEvent& event = few_.events()[i];
      const auto old = freed.find(event.storage);
      add(event, delay, nth, old != freed.end() ? old->second : name_of(event));
    }
  }

  record::Nanoseconds duration_of(const Part& part) const {
    return part.end_event == part.first_event
               ? 0
               : few_.events()[part.end_event - 1].time - few_.events()[part.first_event].time;
  }

  std::uint64_t name_of(const MemEvent& event) {
    std::uint64_t& name = names_[event.storage];
    if (name == 0 || event.kind == EventKind::kAlloc) name = ++named_;
    return name;
  }
  void add(MemEvent event, record::Nanoseconds delay, std::int64_t later, std::uint64_t name) {
    event.time += delay;
    if (event.micro_batch > 0) event.micro_batch = static_cast<std::uint16_t>(event.micro_batch + later);
    event.storage = name;
    events_.push_back(event);
  }
  void add(Mark mark, record::Nanoseconds delay, std::uint64_t shift, std::int64_t later) {
    mark.host_time += delay;
    if (mark.device_time != record::kPending) mark.device_time += delay;
    mark.event_index += shift;
    if (mark.micro_batch > 0) mark.micro_batch = static_cast<std::uint16_t>(mark.micro_batch + later);
    marks_.push_back(mark);
  }

  const record::Recording& few_;
  std::int64_t added_;
  record::Recording result_;
  std::vector<MemEvent> events_;
  std::vector<Mark> marks_;
  std::unordered_map<std::uint64_t, std::uint64_t> names_;  // maps the source's storages to their current numbers
  std::uint64_t named_ = 0;
  std::uint64_t next_event_ = 0;
  std::size_t next_mark_ = 0;
  record::Nanoseconds delay_ = 0;
  std::int64_t later_ = 0;  // micro-batches inserted after the second one
};

// True if the allocator treats part `b` like `a` (same places and blocks, no segment changes), and therefore all later
// parts, too.
class Alike {
 public:
  explicit Alike(const record::Recording& run) : run_(run) {
    for (const record::Placement& place : run.placements()) places_[place.storage] = {place.segment, place.offset};
  }

  bool operator()(const Part& a, const Part& b) const {
    const std::vector<MemEvent>& events = run_.events();
    std::uint64_t second = b.first_event;
    for (std::uint64_t first = a.first_event; first < a.end_event; ++first) {
      if (is_segment(events[first])) continue;
      if (second >= b.end_event || !same(events[first], events[second])) return false;
      ++second;
    }
    return true;
  }

 private:
  static bool is_segment(const MemEvent& event) {
    return event.kind == EventKind::kSegmentAlloc || event.kind == EventKind::kSegmentFree;
  }
  bool same(const MemEvent& a, const MemEvent& b) const {
    if (a.kind != b.kind || a.requested != b.requested || a.block != b.block) return false;
    return a.kind != EventKind::kAlloc || place_of(a) == place_of(b);
  }
  std::pair<std::uint64_t, Bytes> place_of(const MemEvent& event) const {
    const auto found = places_.find(event.storage);
    return found == places_.end() ? std::pair<std::uint64_t, Bytes>() : found->second;  // host memory
  }

  const record::Recording& run_;
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, Bytes>> places_;
};

// True if every step's last or next-to-last micro-batch is placed like its predecessor. A run that ends within a step
// would end there even if it had more micro-batches.
bool all_alike(const record::Recording& run, std::int64_t count) {
  const std::vector<Part> parts = parts_of(run);
  const Alike alike(run);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].micro_batch + 1 != count) continue;
    const bool last_is = alike(parts[i - 1], parts[i]);
    if (!last_is && (count == kLeastCompared || !alike(parts[i - 2], parts[i - 1]))) return false;
  }
  return true;
}

}  // namespace

std::int64_t traced_micro_batches(const StepSettings& step) {
  const bool hands_over = step.offload.state != StateOffload::kOff;
  return std::min(step.micro_batches, hands_over ? kLastDiffers : kAllAlike);
}

std::optional<record::Recording> few_micro_batches(const record::Recording& trace, const record::RunInfo& settings) {
  const std::int64_t traced = micro_batches_in(trace), all = micro_batches_of(settings);
  if (traced < kAllAlike || !repeated_parts(trace)) return std::nullopt;
  const auto& names = trace.operators();
  const auto tokens =
      static_cast<std::uint16_t>(std::ranges::find(names, llama::name_of(llama::Op::kTokens)) - names.begin());
  record::Recording few(settings);
  few.append_operators(0, names);
  std::vector<MemEvent> events = trace.events();
  std::unordered_set<std::uint64_t> of_tokens;
  for (MemEvent& event : events) {
    if (event.kind == EventKind::kAlloc && event.op == tokens) of_tokens.insert(event.storage);
    if (!of_tokens.contains(event.storage)) continue;
    event.requested = event.requested / traced * all;
    event.block = event.block / traced * all;
    if (event.kind == EventKind::kFree) of_tokens.erase(event.storage);
  }
  few.append(events);
  few.append(trace.marks());
  if (trace.outcome()) few.set_outcome(*trace.outcome());
  return few;
}

record::Recording with_micro_batches(record::Recording few, std::int64_t count) {
  const std::int64_t in_it = micro_batches_in(few), wanted = count == 0 ? micro_batches_of(few.info()) : count;
  if (wanted <= in_it || in_it < kAllAlike) return few;
  return MicroBatchRepeater(few, wanted - in_it).run(repeated_parts(few).value());
}

record::Recording placed_until_alike(const record::Recording& few, Bytes limit) {
  const std::int64_t all = micro_batches_of(few.info());
  if (micro_batches_in(few) >= all) return placed(few, limit);
  for (std::int64_t count = std::min(all, kLeastCompared);; count = std::min(all, 2 * count)) {
    record::Recording run = placed(with_micro_batches(few, count), limit);
    if (count == all || all_alike(run, count)) return run;
  }
}

}  // namespace headroom::predict
