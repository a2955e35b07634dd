#include "lessons/steps/paired_events.h"

#include <algorithm>

#include <fmt/format.h>

#include "lessons/names.h"

namespace headroom::lessons {
namespace {

using record::MemEvent;
using record::Storage;

// An allocation or free, with the labels of its storage.
struct Step {
  std::uint64_t event = 0;
  const Storage* storage = nullptr;
  bool born = false;
};

std::vector<Step> steps_in(const EventRange& range) {
  std::vector<Step> all(range.last - range.first);
  const auto note = [&](std::uint64_t event, const Storage& storage, bool born) {
    if (event >= range.first && event < range.last) all[event - range.first] = {event, &storage, born};
  };
  for (const Storage& storage : range.run.storages()) {
    note(storage.born, storage, true);
    note(storage.died, storage, false);
  }
  std::erase_if(all, [](const Step& each) { return each.storage == nullptr; });
  return all;
}

record::ByCategory kinds_before(const EventRange& range) {
  return range.first == 0 ? record::ByCategory{} : range.run.at(range.first - 1).by_category;
}

bool partners(const EventRange& a, const Step& of_a, const EventRange& b, const Step& of_b) {
  const Storage &x = *of_a.storage, &y = *of_b.storage;
  const MemEvent &in_a = a.run.recording().events()[of_a.event], &in_b = b.run.recording().events()[of_b.event];
  return of_a.born == of_b.born && x.requested == y.requested && x.block == y.block && x.category == y.category &&
         in_a.phase == in_b.phase && in_a.layer == in_b.layer &&
         a.run.recording().op_name(x.op) == b.run.recording().op_name(y.op);
}

}  // namespace

PairedEvents::PairedEvents(const EventRange& run, const EventRange& other)
    : same_before_(kinds_before(run) == kinds_before(other)), other_end_(other.last) {
  const std::vector<Step> ours = steps_in(run), theirs = steps_in(other);
  const std::size_t most = std::min(ours.size(), theirs.size());
  std::size_t i = 0;
  for (; i < most && partners(run, ours[i], other, theirs[i]); ++i) {
    run_.push_back(ours[i].event);
    other_.push_back(theirs[i].event);
  }
  if (i == ours.size() && i == theirs.size()) return;
  parting_.emplace();
  if (i < ours.size()) parting_->run = ours[i].event;
  if (i < theirs.size()) parting_->other = other_end_ = theirs[i].event;
}

std::uint64_t PairedEvents::other_from(std::uint64_t event) const {
  const auto found = std::ranges::lower_bound(run_, event);
  return found == run_.end() ? other_end_ : other_[static_cast<std::size_t>(found - run_.begin())];
}

namespace {

std::string event_words(const record::Ledger& run, std::optional<std::uint64_t> event, bool exact) {
  if (!event) return "no further event";
  const std::vector<Step> steps = steps_in({run, *event, *event + 1});
  const MemEvent& at = run.recording().events()[*event];
  const Storage& storage = *steps.front().storage;
  std::string words = steps.front().born ? "allocate " : "free ";
  words += exact ? record::format_count(storage.requested) + " B" : record::format_bytes(storage.requested);
  if (exact && storage.block != storage.requested)
    words += fmt::format(" in a block of {} B", record::format_count(storage.block));
  words += fmt::format(", {}, {}", record::label_of(storage.category), record::label_of(at.phase));
  for (const std::string& more : {layers_text(at.layer, at.layer), operation_name(run.recording().op_name(storage.op))})
    if (!more.empty()) words += ", " + more;
  return words;
}

}  // namespace

PartingWords parting_words(const Parting& parting, const record::Ledger& run, const record::Ledger& other,
                           EventBytes bytes) {
  const auto words = [&](bool exact) {
    return PartingWords{event_words(run, parting.run, exact), event_words(other, parting.other, exact)};
  };
  const PartingWords rounded = words(false);
  return bytes == EventBytes::kExact || rounded.run == rounded.other ? words(true) : rounded;
}

}  // namespace headroom::lessons
