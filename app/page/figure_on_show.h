// The figure that a page shows: its settings, view and data.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "app/page/question.h"
#include "app/page/runs.h"
#include "app/page/timeline_view.h"
#include "demos/record/schema.h"
#include "lessons/figure.h"
#include "lessons/pages/page.h"

namespace headroom::app::page {

class FigureOnShow {
 public:
  static constexpr int kFewColumns = 64;  // enough for words and peaks, without drawing

  explicit FigureOnShow(const lessons::Page& page);

  const std::vector<const lessons::Figure*>& all() const { return figures_; }
  int tab() const { return tab_; }
  void show_tab(int index);
  const lessons::Figure& shown() const { return *figures_[at()]; }
  bool draws_runs() const { return shown().basis == lessons::Basis::kRun; }
  bool draws_ladder() const { return shown().basis == lessons::Basis::kLadder; }
  std::optional<int> tab_of(lessons::Basis basis) const;

  const record::Params& params() const { return params_[at()]; }
  const record::Params& params_of(int tab) const { return params_[static_cast<std::size_t>(tab)]; }
  // Settings for predictions: the axis shows phases, because predicted events have no times.
  const record::Params& params_of_prediction() const { return prediction_params_[at()]; }
  record::Status set_param(std::string_view key, std::string_view value);
  void reset_params();

  TimelineView& view() { return views_[at()]; }
  const TimelineView& view() const { return views_[at()]; }
  void reset_views();
  void show_whole(const lessons::FigureData& figure);  // this figure's axis becomes the full range
  // Moves to the next (+1) or previous (−1) change of the stack.
  void step_cursor(int direction);
  // Selects the next (+1) or previous (−1) of the found kernels.
  void find_next(int direction);
  // Index of the selected kernel among the found ones; if none is selected, the number of found kernels.
  std::size_t found_at() const;
  // While the mouse holds a control (`on`), the axis can only grow.
  void hold_axis(bool on);
  const std::optional<double>& held_room() const { return held_room_; }  // the axis must reach at least this value

  std::size_t frame() const;  // from 1; 0: not animated
  std::size_t frames() const { return data_.head.frames; }
  void show_frame(std::size_t number);
  bool plays() const { return next_frame_at_.has_value(); }
  void play(bool on, double now);  // starts over after the last frame
  bool advance(double now);        // true if anything changed

  const lessons::FigureData& data() const { return data_; }
  // While the answer is hidden: the figure as it will be, to keep its room; else null.
  const lessons::FigureData* answered() const { return answered_ ? &*answered_ : nullptr; }
  bool draws_timeline() const { return lessons::panel_of<lessons::Timeline>(data_) != nullptr; }
  // True if nothing changed since note_built(). `sources`: revision of the inputs.
  bool is_built(int sources, int columns, const Question& question) const;
  bool built_open() const { return built_.question == Question::State::kOpen; }
  // Adds the view to `input`.
  void build(lessons::FigureInput input);
  // Call it with build()'s input when more than cursor and zoom changed.
  void keep_room(lessons::FigureInput input);
  // Replaces an empty figure by the figure of `run`, unless the latter is also empty.
  void build_instead(lessons::FigureInput input, const RunOnShow& run);
  // The run of build_instead(), or null. Valid until the runs change.
  const RunOnShow* until_run() const { return until_run_; }
  // True if more than cursor and zoom changed since the last call.
  bool note_built(int sources, int columns, const Question& question);
  void mark_recorded();
  // Changes with each build; data_revision() ignores cursor and zoom.
  int revision() const { return revision_; }
  int data_revision() const { return data_revision_; }

  struct Measured {
    double length = 0;         // axis units
    record::Bytes change = 0;  // change of live bytes over the range
    record::Bytes peak = 0;
  };
  // Empty: no marked range or no timeline. `input` needs only few columns.
  std::optional<Measured> measured(const lessons::FigureInput& input);

 private:
  struct Built {
    int sources = 0, changes = -1, columns = 0;
    TimelineView view;
    std::optional<double> guess;
    Question::State question = Question::State::kNone;
  };
  struct MeasuredAt {
    int revision = 0;
    TimelineView::Range range;
    Measured numbers;
  };

  std::size_t at() const { return static_cast<std::size_t>(tab_); }
  lessons::FigureInput with_view(lessons::FigureInput input) const;
  lessons::FigureData with_a_moment(lessons::FigureInput input) const;

  std::vector<const lessons::Figure*> figures_;
  int tab_ = 0;
  std::vector<record::Params> params_, prediction_params_;  // by tab
  std::vector<TimelineView> views_;                         // by tab
  std::optional<double> held_room_;
  std::optional<double> next_frame_at_;  // seconds
  lessons::FigureData data_;
  std::optional<lessons::FigureData> answered_;
  const RunOnShow* until_run_ = nullptr;
  Built built_;
  int changes_ = 0;
  std::optional<MeasuredAt> measured_;
  int revision_ = 0, data_revision_ = 0;
};

}  // namespace headroom::app::page
