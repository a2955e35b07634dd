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

// A number format of ids, named as numpy names it; all are little-endian.
struct IdType {
  std::string_view name;
  std::size_t width;  // bytes of an id
  bool has_sign;
};
inline constexpr std::array kIdTypes{IdType{"uint8", 1, false},  IdType{"uint16", 2, false}, IdType{"uint32", 4, false},
                                     IdType{"uint64", 8, false}, IdType{"int16", 2, true},   IdType{"int32", 4, true},
                                     IdType{"int64", 8, true}};
// In place of a name: the file decides.
inline constexpr std::string_view kAnyIdType = "auto";

// By its name: .npy or .bin.
bool is_id_file(const std::filesystem::path& file);

// Where the ids of a file are, and what says their type.
struct IdPlace {
  std::size_t begin = 0, count = 0;  // bytes, ids
  const IdType* type = nullptr;
  std::string source;  // "llm.c's header"; empty: a .npy, which always says it

  std::string words() const;  // "uint16, by llm.c's header"
};

// `data_type`: a name of kIdTypes, which decides where the file does not say its type, or kAnyIdType. The type of a .bin is
// read from, in this order:
//   1. a header: llm.c's, litgpt's ("LITPKDS"), or a .npy under another name;
//   2. the index of Megatron-LM beside it (a.idx beside a.bin, "MMIDIDX");
//   3. `data_type`;
//   4. the ids, as unsigned numbers of the fewest bytes that can name the whole vocabulary, or of twice as many. An id of
//      4 bytes below 65,536 looks like two of 2 bytes, of which the second is 0. So where every second id of a reading is 0
//      and at least 32 of the others are not, ids are wider: text would give that once in 2^32 times. Where every second id
//      is 0 and fewer others are not, both readings fit, and a sentence asks. So it does for bytes that are all characters,
//      and that by twos are ids, too.
// Refused with a sentence: other types and shapes, a `data_type` that the file contradicts, a size that is no whole number of
// ids, and a .bin whose ids do not say their type.
record::Result<IdPlace> find_ids(std::span<const std::byte> bytes, const std::filesystem::path& file,
                                 std::int64_t vocabulary, std::string_view data_type);

// The ids there. Refused with a sentence: none, and ids beyond the vocabulary.
record::Result<TokenView> ids_in(std::span<const std::byte> bytes, const std::filesystem::path& file,
                                 std::int64_t vocabulary, std::string_view data_type);

}  // namespace headroom::tokens
