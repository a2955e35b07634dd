// Panel: memory by address, in rows of pieces, with sums of the pieces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demos/record/units.h"
#include "lessons/panels/file_table.h"

namespace headroom::lessons {

enum class PieceKind : std::uint8_t {
  kBlock,
  kFree,   // reserved but empty
  kLeft,   // within the limit, not reserved yet
  kAsked,  // a failed request
};

struct AddressPiece {
  PieceKind kind = PieceKind::kBlock;
  record::Bytes begin = 0, end = 0;  // relative to the row
  record::Category category = record::Category::kOther;
  record::Bytes requested = 0;  // a block's bytes before rounding
  std::string tip;
};

// A row of segments side by side.
struct AddressRow {
  std::string label;
  std::vector<record::Bytes> seams;  // where all segments but the first begin
  std::vector<AddressPiece> pieces;  // by address
};

// The sum of pieces that look alike: "free 1.62 GiB in 37 pieces, the largest 0.81 GiB".
struct AddressSum {
  PieceKind kind = PieceKind::kBlock;
  record::Category category = record::Category::kOther;
  std::string label;
  record::Bytes bytes = 0;
};

struct AddressMap {
  std::string title;
  record::Bytes width = 1;  // length of the longest row
  std::vector<AddressRow> rows;
  std::vector<AddressSum> sums;

  FileTable table() const;
  void add_to(nlohmann::json& figure) const;
  std::vector<std::string> sentences() const;
};

}  // namespace headroom::lessons
