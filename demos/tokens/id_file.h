// Files of token ids: NumPy's .npy, and .bin without a header (nanoGPT) or with llm.c's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "demos/record/result.h"
#include "demos/tokens/token_view.h"

namespace headroom::tokens {

// By its name: .npy or .bin.
bool is_id_file(const std::filesystem::path& file);

// The ids in the bytes of such a file. A .npy has one dimension of uint16, uint32, int32 or int64, little-endian. A .bin
// without llm.c's header has uint16, or uint32 for a vocabulary of more than 65,536: no 16 bits could name all of it.
// Refused with a sentence: other types and shapes, a length that does not divide, and ids beyond the vocabulary.
record::Result<TokenView> ids_in(std::span<const std::byte> bytes, const std::filesystem::path& file,
                                 std::int64_t vocabulary);

}  // namespace headroom::tokens
