// A timeline's zoom, cursor, measured range and kernel, in axis units. No drawing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace headroom::app::page {

class TimelineView {
 public:
  struct Range {
    double begin = 0, end = 0;

    bool operator==(const Range&) const = default;
    double length() const { return end - begin; }
  };

  // Drops a zoom outside the new range.
  void set_full(Range full);
  const Range& full() const { return full_; }
  bool zoomed() const { return visible_.has_value(); }
  Range visible() const { return visible_.value_or(full_); }
  const std::optional<Range>& zoom_range() const { return visible_; }

  // factor < 1 zooms in; `at` keeps its place on the screen.
  void zoom(double at, double factor);
  void pan(double distance);
  void show(Range range);
  void fit_all() { visible_.reset(); }
  // Shows the measured range, else everything.
  void fit();

  // The cursor stays when the mouse leaves the figure.
  void set_cursor(std::optional<double> x) { cursor_ = x; }
  const std::optional<double>& cursor() const { return cursor_; }

  void set_measure(std::optional<Range> range) { measure_ = range; }
  const std::optional<Range>& measure() const { return measure_; }

  // Index of the selected kernel in the recording.
  void select(std::optional<std::size_t> kernel) { kernel_ = kernel; }
  const std::optional<std::size_t>& kernel() const { return kernel_; }
  // Part of a kernel name to find.
  void find(std::string name) { find_ = std::move(name); }
  const std::string& find() const { return find_; }

  // Call for another axis or run.
  void reset();

  bool operator==(const TimelineView&) const = default;

 private:
  Range full_{0, 1};
  std::optional<Range> visible_;
  std::optional<double> cursor_;
  std::optional<Range> measure_;
  std::optional<std::size_t> kernel_;
  std::string find_;
};

}  // namespace headroom::app::page
