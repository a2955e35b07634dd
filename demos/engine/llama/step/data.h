// Real text as training data.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <ATen/ATen.h>

#include "demos/tokens/token_data.h"

namespace headroom::llama {

// What a recording says of the data that a run trains on: "text", the file's name, "tokens", what its ids are, and of a
// text "text_sha1", its hash as `sha1sum` prints it; a file of ids may be larger than memory. Empty for a file that cannot
// be read.
std::map<std::string, std::string> data_facts(const tokens::DataSource& source);

// Ids and targets, [2, B, T] int64 on the host: sequences of T tokens from places that seed and step decide, and the
// same moved on by one token. Fewer than T + 1 tokens go round.
at::Tensor make_batch(tokens::TokenView data, std::int64_t batch, std::int64_t seq, std::uint64_t seed,
                      std::int64_t step);

// The same with sequences that begin at even distances, the first at the first token and the last at the end.
at::Tensor make_even_batch(tokens::TokenView data, std::int64_t batch, std::int64_t seq);

}  // namespace headroom::llama
