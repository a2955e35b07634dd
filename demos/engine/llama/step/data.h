// Real text as training data: bytes are tokens.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include <ATen/ATen.h>

#include "demos/record/result.h"

namespace headroom::llama {

// The file's content. Refuses, with its name, a file that is missing, a folder, empty, or not UTF-8.
record::Result<std::string> read_text(const std::filesystem::path& file);

// What a recording says of the text that a run trains on: "text", the file's name, and "text_sha1", its hash as
// `sha1sum` prints it. Empty for a file that cannot be read.
std::map<std::string, std::string> text_facts(const std::filesystem::path& file);

// Ids and targets, [2, B, T] int64 on the host: sequences of T bytes from places that seed and step decide, and the
// same moved on by one byte. A text shorter than T + 1 goes round.
at::Tensor make_batch(const std::string& text, std::int64_t batch, std::int64_t seq, std::uint64_t seed,
                      std::int64_t step);

}  // namespace headroom::llama
