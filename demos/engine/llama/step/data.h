// Training batches from real text.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <ATen/ATen.h>

#include "demos/tokens/token_data.h"

namespace headroom::llama {

// Provenance of a run's data: "text", the file's name; "tokens", what its ids are; for a text also "text_sha1", as by
// `sha1sum` (not for a file of ids, which may be larger than memory). Empty if the file cannot be read.
std::map<std::string, std::string> data_facts(const tokens::DataSource& source);

// The samples of one of several ranks: its part of each micro-batch.
struct BatchPart {
  std::int64_t rank = 0, ranks = 1;
  std::int64_t micro_batches = 1;
};

// Ids and targets, [2, B, T] int64 on the host: sequences of T tokens from positions given by seed and step, and the
// same sequences shifted by one token. The data wraps around. `batch`: of this rank, over all micro-batches.
at::Tensor make_batch(tokens::TokenView data, std::int64_t batch, std::int64_t seq, std::uint64_t seed,
                      std::int64_t step, const BatchPart& part = {});

// Sequences that begin at equal distances, from the first token to the end.
at::Tensor make_even_batch(tokens::TokenView data, std::int64_t batch, std::int64_t seq, const BatchPart& part = {});

// Ids and targets on `device`; the same tensor if they are there already.
at::Tensor upload(const at::Tensor& host_tokens, at::Device device);

}  // namespace headroom::llama
