// Converts moments to events.
#include "demos/predict/forms/form_recording.h"

#include <array>
#include <optional>
#include <vector>

namespace headroom::predict {

using record::Bytes;
using record::EventKind;
using record::MemEvent;

namespace {

struct Held {
  std::uint64_t storage = 0;
  Bytes bytes = 0;
};

class Writing {
 public:
  explicit Writing(record::Recording& run) : run_(run) {}

  void mark(std::int32_t step, record::Phase phase) {
    phase_ = phase;
    run_.append(record::Mark{.device_time = 0, .event_index = run_.events().size(), .step = step, .phase = phase});
  }

  // Frees before allocating, so that no intermediate total exceeds both the old and the new.
  void reach(const record::ByCategory& bytes) {
    for (std::size_t c = 0; c < bytes.size(); ++c)
      while (total(c) > bytes[c]) free_last(c);
    for (std::size_t c = 0; c < bytes.size(); ++c)
      if (total(c) < bytes[c]) allocate(c, bytes[c] - total(c));
  }

 private:
  Bytes total(std::size_t category) const {
    Bytes sum = 0;
    for (const Held& held : held_[category]) sum += held.bytes;
    return sum;
  }
  void allocate(std::size_t category, Bytes bytes) {
    held_[category].push_back({next_++, bytes});
    add(EventKind::kAlloc, category);
  }
  void free_last(std::size_t category) {
    add(EventKind::kFree, category);
    held_[category].pop_back();
  }
  void add(EventKind kind, std::size_t category) {
    const Held& held = held_[category].back();
    run_.append(MemEvent{.storage = held.storage,
                         .requested = held.bytes,
                         .block = held.bytes,
                         .kind = kind,
                         .device = record::DeviceKind::kGpu,
                         .category = static_cast<record::Category>(category),
                         .phase = phase_});
  }

  record::Recording& run_;
  record::Phase phase_{};
  std::array<std::vector<Held>, std::tuple_size_v<record::ByCategory>> held_;
  std::uint64_t next_ = 1;
};

// In the forward pass, all layers add the same bytes.
void forward(Writing& writing, const ClosedForm::Moment& at_loss, const StepSettings& step) {
  record::ByCategory bytes = at_loss.bytes;
  const auto of = [&](record::Category category) -> Bytes& { return bytes[static_cast<std::size_t>(category)]; };
  of(record::Category::kLogits) = 0;
  if (step.micro_batches == 1) of(record::Category::kGradients) = 0;  // otherwise, earlier micro-batches left them
  const Bytes activations = of(record::Category::kActivations);
  for (std::int64_t layer = 1; layer <= step.model.num_layers; ++layer) {
    of(record::Category::kActivations) = activations / step.model.num_layers * layer;
    writing.reach(bytes);
  }
}

}  // namespace

record::Recording recording_of(const ClosedForm& form, const record::Params& train_step) {
  record::Recording run(record::RunInfo{.demo = "train_step",
                                        .params = train_step.to_map(),
                                        .device = record::DeviceKind::kGpu,
                                        .source = record::Source::kFormula});
  Writing writing(run);
  writing.mark(-1, record::Phase::kSetup);
  if (!form.moments.empty()) {  // bytes live before the step
    record::ByCategory resident{};
    for (const auto category : {record::Category::kWeights, record::Category::kOptimizerState}) {
      const auto c = static_cast<std::size_t>(category);
      resident[c] = form.moments.front().bytes[c];
    }
    writing.reach(resident);
  }
  writing.mark(0, record::Phase::kForward);
  if (!form.moments.empty()) forward(writing, form.moments.front(), step_settings(train_step));
  std::optional<record::Phase> phase;
  for (const ClosedForm::Moment& moment : form.moments) {
    if (phase != moment.phase) writing.mark(0, moment.phase);
    phase = moment.phase;
    writing.reach(moment.bytes);
  }
  writing.mark(-1, record::Phase::kSetup);
  run.set_outcome({.kind = record::OutcomeKind::kCompleted});
  return run;
}

}  // namespace headroom::predict
