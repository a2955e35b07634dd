// What training steps will take, worked out beside the caller's thread: settings in, predicted recordings out.
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
  // As the planner traced it, on a GPU with what its libraries request: what the allocator is asked for under any limit.
  // Null: refused.
  std::shared_ptr<const record::Recording> requests;
  // On a GPU with blocks and segments, under the settings' cap; otherwise the same as `requests`.
  std::shared_ptr<const record::Recording> recording;
  std::string refusal;  // one sentence; empty: none

  explicit operator bool() const { return recording != nullptr; }
};

// What is asked about.
struct PlannedRun {
  std::string demo;
  record::Params params;
  // The answer has few of each step's micro-batches (predict/more_micro_batches.h) and the totals of all. Plans read no
  // more, and all 64 micro-batches of a step have 64 times the events.
  bool few_micro_batches = false;

  bool operator==(const PlannedRun&) const = default;
};

// The settings of a training step with at least so many steps that each kind is among them: the fourth records a CUDA
// graph, and takes the most.
record::Params with_every_kind_of_step(record::Params train_step);

// Answers questions, the newest first, and keeps the answers. All calls from one thread.
class Predictions {
 public:
  using MakePlanner = std::function<std::unique_ptr<backend::Backend>()>;
  // `make` is called at once, in the thread of the answers, and again after the planner has failed.
  explicit Predictions(MakePlanner make);
  ~Predictions();  // drops what is asked
  Predictions(const Predictions&) = delete;
  Predictions& operator=(const Predictions&) = delete;

  // The answer; null: it is on its way. What the same asker asked before is dropped where it has not been answered.
  std::shared_ptr<const Prediction> ask(const void* asker, const PlannedRun& run);
  // The same, waiting for it. `stop` is asked 20 times a second; null once it says so.
  std::shared_ptr<const Prediction> wait(const PlannedRun& run, const std::function<bool()>& stop = {});
  void drop(const void* asker);  // what it asked, if there is no answer yet

  // Whether answers have come since the last call.
  bool poll();
  bool busy() const;                 // some answer is on its way
  backend::Machine machine() const;  // as the planner said it; empty: not yet
  // Why there are no answers now, in one sentence: the planner does not start, or it has died and a fresh one is not
  // there yet. Empty: there are.
  std::string trouble() const;

 private:
  struct Question {
    const void* asker = nullptr;
    PlannedRun run;
  };
  // Older ones of a GPU have their requests alone, of which the recording is made again: half the memory.
  struct Answer {
    PlannedRun run;
    std::shared_ptr<const Prediction> prediction;  // null: `requests` is there
    std::shared_ptr<const record::Recording> requests;
  };

  // What the planner says; neither: the question was dropped.
  struct Traced {
    std::shared_ptr<const record::Recording> recording;
    std::string refusal;
    bool lost = false;  // the refusal is not about the question: the planner died, or does not start
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
  static std::shared_ptr<const Prediction> prediction_of(Traced traced, bool few_micro_batches = false);
  bool dropped(const Question& question) const;
  std::shared_ptr<const Prediction> known(const PlannedRun& run);
  void keep(Answer answer);

  MakePlanner make_;
  // Of the thread:
  std::unique_ptr<backend::Backend> planner_;
  std::optional<std::string> dead_;  // the process that died last, as facts() names it

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::list<Question> waiting_;      // the newest first
  std::optional<Question> current_;  // being answered; nothing: none, or it was dropped
  std::list<Answer> answers_;        // the one that was asked for last first
  backend::Machine machine_;
  std::string trouble_;
  bool news_ = false, ends_ = false;
  std::thread thread_;  // last: it uses all of these
};

}  // namespace headroom::app
