#include "lessons/panels/address_map.h"

#include <array>

#include <nlohmann/json.hpp>

namespace headroom::lessons {
namespace {

using nlohmann::json;

std::string key_of(PieceKind kind) {
  constexpr std::array<const char*, 4> kKeys{"block", "free", "not_reserved", "asked_for"};
  return kKeys[static_cast<std::size_t>(kind)];
}

json json_of(const AddressRow& row) {
  json pieces = json::array();
  for (const AddressPiece& piece : row.pieces) {
    pieces.push_back({{"kind", key_of(piece.kind)}, {"begin", piece.begin}, {"end", piece.end}});
    if (piece.kind != PieceKind::kBlock) continue;
    pieces.back()["category"] = record::key_of(piece.category);
    pieces.back()["requested_bytes"] = piece.requested;
  }
  return {{"label", row.label}, {"seams", row.seams}, {"pieces", std::move(pieces)}};
}

json json_of(const AddressSum& sum) {
  json written{{"kind", key_of(sum.kind)}, {"label", sum.label}, {"bytes", sum.bytes}};
  if (sum.kind == PieceKind::kBlock) written["category"] = record::key_of(sum.category);
  return written;
}

}  // namespace

FileTable AddressMap::table() const {
  FileTable table{.columns = headings({"row", "piece", "begin_bytes", "bytes", "category", "requested_bytes", "what"})};
  for (const AddressRow& row : rows)
    for (const AddressPiece& piece : row.pieces) {
      const bool block = piece.kind == PieceKind::kBlock;
      table.rows.push_back({row.label, Word{key_of(piece.kind)}, piece.begin, piece.end - piece.begin,
                            block ? Word{std::string(record::key_of(piece.category))} : Word{},
                            block ? Cell(piece.requested) : Cell(), piece.tip});
    }
  return table;
}

void AddressMap::add_to(json& figure) const {
  json all = json::array(), totals = json::array();
  for (const AddressRow& row : rows) all.push_back(json_of(row));
  for (const AddressSum& sum : sums) totals.push_back(json_of(sum));
  figure["addresses"] = {{"title", title}, {"rows", std::move(all)}, {"sums", std::move(totals)}};
}

std::vector<std::string> AddressMap::sentences() const { return texts_of(sums, &AddressSum::label, {title}); }

}  // namespace headroom::lessons
