// Files of token ids: NumPy's .npy, and .bin with or without a header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/result.h"
#include "demos/tokens/token_view.h"

namespace headroom::tokens {

// A number format of ids, by numpy's name; little-endian.
struct IdType {
  std::string_view name;
  std::size_t width;  // bytes per id
  bool has_sign;
};
inline constexpr std::array kIdTypes{IdType{"uint8", 1, false},  IdType{"uint16", 2, false}, IdType{"uint32", 4, false},
                                     IdType{"uint64", 8, false}, IdType{"int16", 2, true},   IdType{"int32", 4, true},
                                     IdType{"int64", 8, true}};
// The file decides the type.
inline constexpr std::string_view kAnyIdType = "auto";

bool is_id_file(const std::filesystem::path& file);

struct IdPlace {
  std::size_t begin = 0, count = 0;  // `begin` in bytes, `count` in ids
  const IdType* type = nullptr;
  std::string source;  // "llm.c's header"; empty for a .npy

  std::string words() const;  // "uint16, by llm.c's header"
};

// Finds the ids. The type of a .bin comes from the first of:
//   1. a header: llm.c's, litgpt's ("LITPKDS"), or a .npy under another name;
//   2. Megatron-LM's index next to it (a.idx for a.bin, "MMIDIDX");
//   3. `data_type`, a name in kIdTypes;
//   4. the ids: the narrowest unsigned type for the vocabulary, or one of twice the width.
// A 4-byte id below 65,536 looks like two 2-byte ids, the second of which is 0. So if every second id is 0 and at least
// 32 of the others are not, the ids are wider; text would look like this in one of 2^32 cases. If fewer than 32 are not
// 0, both types fit, and the error asks for data_type. It also asks if all bytes are characters and pairs of them are
// valid ids. Refuses other types and shapes, a `data_type` that contradicts the file, and a partial id at the end.
record::Result<IdPlace> find_ids(std::span<const std::byte> bytes, const std::filesystem::path& file,
                                 std::int64_t vocabulary, std::string_view data_type);

// Refuses an empty file and ids beyond the vocabulary.
record::Result<TokenView> ids_in(std::span<const std::byte> bytes, const std::filesystem::path& file,
                                 std::int64_t vocabulary, std::string_view data_type);

}  // namespace headroom::tokens
