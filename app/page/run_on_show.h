// A run that a page can show: recording, ledger and name.
#pragma once

#include <memory>
#include <string>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"

namespace headroom::app::page {

struct RunOnShow {
  enum class From : unsigned char { kPage, kEarlierStart, kReader, kSweep };

  std::shared_ptr<const record::Recording> recording;
  std::shared_ptr<record::Ledger> ledger;  // shared with run A if that is the same run
  From from = From::kPage;
  std::string name;      // file name without .hrec; empty: no file yet
  bool offered = false;  // returned by Runs::take_unkept()
  std::string where;     // "H200", "CPU"; the reader's: "you, 12:04", "you, 23 Nov"
  std::string label;     // "Optimizer AdamW, 8-bit moments; Llama 3.2 1B, bf16, batch 4, 1,024 tokens"; may be empty

  bool is_readers() const { return from == From::kEarlierStart || from == From::kReader; }

  std::string words() const { return label.empty() ? where : where + ": " + label; }
};

// `names_sweep`: a sweep's label begins with "Sweep".
RunOnShow make_run(std::shared_ptr<const record::Recording> recording, RunOnShow::From from = RunOnShow::From::kPage,
                   bool names_sweep = false);

// Updates the run, or replaces it if the recording is another. True if anything changed.
bool follow(RunOnShow& run, const std::shared_ptr<const record::Recording>& recording);

}  // namespace headroom::app::page
