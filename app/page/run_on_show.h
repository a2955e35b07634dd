// The runs of a page: one that can be looked at, what one showed of a setting, and those at a border.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/schema.h"

namespace headroom::app::page {

// A run that can be looked at.
struct RunOnShow {
  enum class From : unsigned char { kPage, kEarlierStart, kReader, kSweep };

  std::shared_ptr<const record::Recording> recording;
  std::shared_ptr<record::Ledger> ledger;  // shared with a run A that is still this one
  From from = From::kPage;
  std::string name;      // its file's: of a stored one without .hrec, of the reader's once it is kept
  bool offered = false;  // of the reader's: take_unkept() had it
  std::string where;     // "H200", "CPU"; the reader's: "you, 12:04", or "you, 23 Nov"
  std::string label;     // "Optimizer AdamW, 8-bit moments; Llama 3.2 1B, bf16, batch 4, 1,024 tokens"; may be empty

  // "H200: Llama 3.2 1B, bf16, batch 4, 1,024 tokens"
  std::string words() const { return label.empty() ? where : where + ": " + label; }
};

// What a run showed of one value of a setting, all others being those that are set.
struct RunMark {
  enum class Kind : unsigned char { kRan, kFits, kOutOfMemory };

  double value = 0;
  Kind kind = Kind::kRan;  // the others: under the limit of the card in question
};

// The border being tried: the settings before, the batches that are left, and the largest that ran.
struct Trial {
  record::Params before;
  std::vector<std::int64_t> left;
  bool began = false;
  std::int64_t ran = 0;
};

}  // namespace headroom::app::page
