// Panel: memory by its addresses, rows of bytes with what is in them, and what all of it adds up to.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "demos/record/units.h"

namespace headroom::lessons {

enum class PieceKind : std::uint8_t {
  kBlock,  // holds a tensor
  kFree,   // reserved, and nothing in it
  kLeft,   // of the limit, not reserved yet
  kAsked,  // a request that found no room
};

struct AddressPiece {
  PieceKind kind = PieceKind::kBlock;
  record::Bytes begin = 0, end = 0;                      // from the row's begin
  record::Category category = record::Category::kOther;  // of a block
  record::Bytes requested = 0;                           // of a block: less than it takes, by rounding
  std::string tip;
};

// Segments side by side, with a seam between them.
struct AddressRow {
  std::string label;                 // "3.91 GiB", "14 segments"
  std::vector<record::Bytes> seams;  // where the second and later segments begin
  std::vector<AddressPiece> pieces;  // by address
};

// What a sample means, with the bytes of all such pieces: "free 1.62 GiB in 37 pieces, the largest 0.81 GiB".
struct AddressSum {
  PieceKind kind = PieceKind::kBlock;
  record::Category category = record::Category::kOther;  // of blocks
  std::string label;
  record::Bytes bytes = 0;
};

struct AddressMap {
  std::string title;
  record::Bytes width = 1;  // of the longest row
  std::vector<AddressRow> rows;
  std::vector<AddressSum> sums;
};

std::string_view key_of(PieceKind kind);  // "block", in files

}  // namespace headroom::lessons
