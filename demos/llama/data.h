// Real text as training data: bytes are tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <ATen/ATen.h>

#include "demos/record/result.h"

namespace headroom::llama {

// The files' contents one after another. Refuses, with the file's name, one that is missing, a folder, empty, or not
// UTF-8.
record::Result<std::string> read_text(std::span<const std::filesystem::path> files);

// Ids and targets, [2, B, T] int64 on the host: sequences of T bytes from places that seed and step decide, and the
// same moved on by one byte. A text shorter than T + 1 goes round.
at::Tensor make_batch(const std::string& text, std::int64_t batch, std::int64_t seq, std::uint64_t seed,
                      std::int64_t step);

}  // namespace headroom::llama
