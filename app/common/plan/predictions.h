// Predicts training steps on a separate thread: settings in, predicted recordings out.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "demos/backend/backend.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::app {

struct Prediction {
  // The requests to the allocator, the same under any limit: the planner's trace and, for a GPU, the requests of its
  // libraries. Null if refused.
  std::shared_ptr<const record::Recording> requests;
  // `requests` under the settings' cap; for a GPU, placed in blocks and segments.
  std::shared_ptr<const record::Recording> recording;
  std::string refusal;

  explicit operator bool() const { return recording != nullptr; }
};

struct PlannedRun {
  std::string demo;
  record::Params params;
  // Simulates only a few micro-batches of each step (predict/more_micro_batches.h) to save events, but answers with the
  // totals of all micro-batches.
  bool few_micro_batches = false;

  bool operator==(const PlannedRun&) const = default;
};

// Raises `steps` until each kind of step occurs: the fourth step captures a CUDA graph and has the highest peak.
record::Params with_every_kind_of_step(record::Params train_step);

// Answers the newest question first and caches answers. Call from one thread.
class Predictions {
 public:
  using MakePlanner = std::function<std::unique_ptr<backend::Backend>()>;
  // `make` runs on the answering thread, at once and again after the planner fails.
  explicit Predictions(MakePlanner make);
  ~Predictions();
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;

  // Null until the answer arrives. Drops the same asker's open question.
  std::shared_ptr<const Prediction> ask(const void* asker, const PlannedRun& run);
  // Calls `stop` 20 times per second and returns null once `stop` returns true.
  std::shared_ptr<const Prediction> wait(const PlannedRun& run, const std::function<bool()>& stop = {});
  void drop(const void* asker);

  // True if answers have arrived since the last call.
  bool poll();
  bool busy() const;
  backend::Machine machine() const;  // empty until the planner reports it
  // Why the planner cannot answer now.
  std::string trouble() const;

 private:
  struct Question {
    const void* asker = nullptr;
    PlannedRun run;
  };
  // Older answers for a GPU keep only `requests` and are placed again on demand, which halves the memory.
  struct Answer {
    PlannedRun run;
    std::shared_ptr<const Prediction> prediction;
    std::shared_ptr<const record::Recording> requests;
  };

  // If recording and refusal are empty, the question was dropped.
  struct Traced {
    std::shared_ptr<const record::Recording> recording;
    std::string refusal;
    bool lost = false;  // the planner died or does not start
  };

  void work();
  void wait_for_greeting();
  bool greeted() const;
  std::string process() const;
  void note_machine();
  void note_trouble(std::string sentence);
  std::shared_ptr<const Prediction> answer(const Question& question);
  std::shared_ptr<const Prediction> answer_step(const Question& question);
  Traced trace(const Question& question, const record::Params& params);
  Traced ask_planner(const Question& question, const record::Params& params);
  static std::shared_ptr<const Prediction> refusal_of(const Traced& traced);
  bool dropped(const Question& question) const;
  std::shared_ptr<const Prediction> known(const PlannedRun& run);
  void keep(Answer answer);

  MakePlanner make_;
  // Used by the thread only:
  std::unique_ptr<backend::Backend> planner_;
  std::optional<std::string> dead_;  // pid of the last process that died, from facts()

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::list<Question> waiting_;      // newest first
  std::optional<Question> current_;  // empty: none, or dropped
  std::list<Answer> answers_;        // most recently used first
  backend::Machine machine_;
  std::string trouble_;
  bool news_ = false, ends_ = false;
  std::thread thread_;  // the last member, because it uses all others
};

}  // namespace headroom::app
