// Chapters arrange pages; a page is text, a question, a demo to run and the figures that it draws.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "lessons/figure.h"

namespace headroom::lessons {

// The page's one question, answered by dragging a marker on the figure. The words stand in the page's text
// (```predict, ```reveal, ```because); the number is measured, never written down.
struct Prediction {
  std::string_view figure;   // id of the figure that carries the marker
  double low = 0, high = 0;  // the marker's range before anything is known
  // The right answer from a finished run; negative: this run cannot answer (cancelled before its peak).
  double (*answer)(const record::Ledger& run);
  AxisUnit unit = AxisUnit::kBytes;  // of all these numbers; also kBytesPerSecond, kPercent
};

// A setting of the page's demo.
struct Setting {
  std::string_view key, value;
};

// What most pages have to work with.
inline constexpr std::array<std::string_view, 1> kSettingsOnly{"settings"};

struct Page {
  std::string_view id;                           // "where_memory_goes"
  std::string_view title;                        // "Where the memory goes in one training step"
  std::string_view text;                         // file under assets/text
  std::string_view demo;                         // "train_step"
  std::span<const std::string_view> figures;     // the first is the large one
  std::span<const std::string_view> recordings;  // under assets/recordings, without .hrec; the first shows at once
  const Prediction* prediction = nullptr;
  std::span<const Setting> settings = {};           // what the page begins with, where it is not the demo's default
  std::span<const std::string_view> switches = {};  // keys of the settings that stand first
  std::string_view command = {};  // what makes the page's recording; such a page has no settings and no Run of one step
  std::span<const std::string_view> widgets = kSettingsOnly;  // ids
  std::span<const std::string_view> bases =
      {};  // of the recordings: what others of their model and shape are compared with
};

struct Chapter {
  std::string_view id;
  std::string_view title;
  std::span<const Page* const> pages;
};

std::span<const Chapter* const> chapters();  // in display order; numbers start at 1
const Page* find_page(std::string_view id);  // null: unknown

}  // namespace headroom::lessons
