// The thread that asks the planner, and the cache of its answers.
#include "app/common/plan/predictions.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/common/session.h"
#include "demos/experiments/demo.h"
#include "demos/predict/predicted.h"
#include "demos/predict/techniques.h"
#include "demos/predict/time/bound_times.h"

namespace headroom::app {

using namespace std::chrono_literals;
using backend::RunState;
using record::Recording;

namespace {

// Events in all cached answers together: 42 MB. An answer for Llama 3.2 1B has about 20,000 events of 70 bytes.
constexpr std::size_t kMostEvents = 600'000;
constexpr auto kLongestWait = 50ms;
constexpr int kLongestSilence = 20;  // ms between checks for a dropped question

bool is_placed(const Prediction& prediction) {
  return prediction && prediction.recording->info().device == record::DeviceKind::kGpu &&
         prediction.recording != prediction.requests;
}

}  // namespace

record::Params with_every_kind_of_step(record::Params train_step) {
  constexpr std::int64_t kWithGraph = predict::kGraphWarmUpSteps + 1;
  if (train_step.on("cuda_graph") && train_step.integer("steps") < kWithGraph)
    (void)train_step.set("steps", record::ParamValue(kWithGraph));
  return train_step;
}

Predictions::Predictions(MakePlanner make) : make_(std::move(make)), thread_([this] { work(); }) {}

Predictions::~Predictions() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    waiting_.clear();
    current_.reset();
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<const Prediction> Predictions::ask(const void* asker, const PlannedRun& run) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Question& each) { return each.asker == asker; });
  const bool on_its_way = current_ && current_->run == run;
  if (current_ && current_->asker == asker && !on_its_way) current_.reset();
  if (auto found = known(run)) return found;
  if (on_its_way) {
    current_->asker = asker;
    return nullptr;
  }
  waiting_.push_front({asker, run});
  changed_.notify_all();
  return nullptr;
}

std::shared_ptr<const Prediction> Predictions::wait(const PlannedRun& run, const std::function<bool()>& stop) {
  std::shared_ptr<const Prediction> found = ask(&run, run);
  std::unique_lock lock(mutex_);
  while (found == nullptr && !(stop && stop())) {
    changed_.wait_for(lock, kLongestWait);
    found = known(run);
  }
  lock.unlock();
  if (found == nullptr) drop(&run);
  return found;
}

void Predictions::drop(const void* asker) {
  const std::lock_guard lock(mutex_);
  std::erase_if(waiting_, [&](const Question& each) { return each.asker == asker; });
  if (current_ && current_->asker == asker) current_.reset();
}

bool Predictions::poll() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, false);
}

bool Predictions::busy() const {
  const std::lock_guard lock(mutex_);
  return current_ || !waiting_.empty();
}

// Call with the lock held. A refusal is returned only once, because the engine may work next time.
std::shared_ptr<const Prediction> Predictions::known(const PlannedRun& run) {
  const auto found =
      std::find_if(answers_.begin(), answers_.end(), [&](const Answer& each) { return each.run == run; });
  if (found == answers_.end()) return nullptr;
  if (found->prediction == nullptr)
    found->prediction = std::make_shared<const Prediction>(
        Prediction{.requests = found->requests, .recording = predict::under_cap(found->requests), .refusal = {}});
  if (!*found->prediction) {
    const auto refusal = found->prediction;
    answers_.erase(found);
    return refusal;
  }
  answers_.splice(answers_.begin(), answers_, found);
  return answers_.front().prediction;
}

// Call with the lock held. Evicts the least recently used answers.
void Predictions::keep(Answer answer) {
  for (Answer& older : answers_)
    if (older.prediction != nullptr && is_placed(*older.prediction))
      older.requests = std::exchange(older.prediction, nullptr)->requests;
  answers_.push_front(std::move(answer));
  std::size_t events = 0;
  auto oldest = answers_.begin();
  for (; oldest != answers_.end(); ++oldest) {
    const auto& requests = oldest->prediction == nullptr ? oldest->requests : oldest->prediction->requests;
    events += requests == nullptr ? 0 : requests->events().size();
    if (events > kMostEvents && oldest != answers_.begin()) break;
  }
  answers_.erase(oldest, answers_.end());
}

backend::Machine Predictions::machine() const {
  const std::lock_guard lock(mutex_);
  return machine_;
}

std::string Predictions::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

// Called on the thread. Waits until the planner reports its machine or trouble, or a question arrives.
void Predictions::wait_for_greeting() {
  const auto asked = [this] {
    const std::lock_guard lock(mutex_);
    return ends_ || !waiting_.empty();
  };
  while (planner_ != nullptr && !greeted() && !planner_->trouble() && !asked())
    backend::wait_and_poll(*planner_, kLongestSilence);
  note_machine();
  if (planner_ == nullptr) return;
  if (planner_->trouble())
    note_trouble(*planner_->trouble());
  else if (greeted())
    note_trouble({});
}

// A greeting from a dead process does not count.
bool Predictions::greeted() const { return !planner_->devices().empty() && (!dead_ || process() != *dead_); }

std::string Predictions::process() const { return record::fact_of(planner_->facts(), "pid"); }

void Predictions::note_machine() {
  if (planner_ == nullptr || planner_->devices().empty()) return;
  const std::lock_guard lock(mutex_);
  machine_ = {planner_->devices(), planner_->facts()};
}

void Predictions::note_trouble(std::string sentence) {
  const std::lock_guard lock(mutex_);
  if (sentence == trouble_) return;
  trouble_ = std::move(sentence);
  news_ = true;
}

void Predictions::work() {
  planner_ = make_();  // loads for a second, so it starts before the first question
  while (true) {
    wait_for_greeting();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (ends_) return;
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    const Question question = *current_;
    lock.unlock();
    std::shared_ptr<const Prediction> prediction = answer(question);
    note_machine();
    lock.lock();
    current_.reset();
    if (prediction == nullptr) continue;
    keep({question.run, std::move(prediction)});
    news_ = true;
    changed_.notify_all();
  }
}

bool Predictions::dropped(const Question& question) const {
  const std::lock_guard lock(mutex_);
  return !current_ || !(current_->run == question.run);
}

// Returns null if the question was dropped.
std::shared_ptr<const Prediction> Predictions::answer(const Question& question) {
  const PlannedRun& run = question.run;
  if (experiments::trains(run.demo)) return answer_step(question);
  const Traced traced = trace(question, run.params);
  if (traced.recording == nullptr) return refusal_of(traced);
  return std::make_shared<const Prediction>(Prediction{traced.recording, traced.recording, {}});
}

std::shared_ptr<const Prediction> Predictions::answer_step(const Question& question) {
  const PlannedRun& run = question.run;
  const predict::PredictOptions options{.few_micro_batches = run.few_micro_batches, .card = predict::bound_card()};
  // The second round traces everything. It runs only if the first round's steps differ.
  for (const record::Params& settings : {predict::traced_settings(run.params), run.params}) {
    const Traced traced = trace(question, settings);
    if (traced.recording == nullptr) return refusal_of(traced);
    if (auto step = predict::predicted(*traced.recording, settings, run.params, options))
      return std::make_shared<const Prediction>(Prediction{std::move(step->requests), std::move(step->recording), {}});
  }
  return nullptr;
}

std::shared_ptr<const Prediction> Predictions::refusal_of(const Traced& traced) {
  if (traced.refusal.empty()) return nullptr;
  return std::make_shared<const Prediction>(Prediction{nullptr, nullptr, traced.refusal});
}

// Retries once with a new planner if the first one dies, for whatever reason.
Predictions::Traced Predictions::trace(const Question& question, const record::Params& params) {
  Traced traced = ask_planner(question, params);
  if (traced.lost) {
    if (planner_ != nullptr) dead_ = process();
    const bool fresh = planner_ != nullptr && !planner_->trouble();
    note_trouble(traced.refusal + (fresh ? " A new one is being started." : ""));
    traced = ask_planner(question, params);
  }
  const bool answered = traced.recording != nullptr || !traced.refusal.empty();
  if (answered) note_trouble(traced.lost ? traced.refusal : std::string());
  return traced;
}

Predictions::Traced Predictions::ask_planner(const Question& question, const record::Params& params) {
  const auto refused = [](std::string sentence, bool lost) {
    return Traced{nullptr, sentence.empty() ? "The engine did not answer." : std::move(sentence), lost};
  };
  if (planner_ == nullptr) planner_ = make_();
  if (planner_ == nullptr) return refused("There is no engine to predict with.", true);
  if (const record::Status started = planner_->start(run_request(question.run.demo, params)); !started)
    return refused(started.error().message, true);
  while (planner_->state() != RunState::kFinished) {
    if (dropped(question)) return {};
    if (const auto& trouble = planner_->trouble(); trouble && !trouble->empty()) {
      const std::string sentence = *trouble;
      planner_.reset();
      return refused(sentence, true);
    }
    backend::wait_and_poll(*planner_, kLongestSilence);
  }
  const std::shared_ptr<const Recording> traced = planner_->recording();
  const auto& outcome = traced->outcome();
  if (!outcome) return refused("The engine ended before it answered.", true);
  const bool known =
      outcome->kind == record::OutcomeKind::kCompleted || outcome->kind == record::OutcomeKind::kOutOfMemory;
  return known ? Traced{traced, {}} : refused(outcome->message, outcome->kind == record::OutcomeKind::kEngineLost);
}

}  // namespace headroom::app
