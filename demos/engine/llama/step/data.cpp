// Cuts batches, and describes the data.
#include "demos/engine/llama/step/data.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include <c10/util/hash.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/record/mixed64.h"
#include "demos/tokens/id_file.h"
#include "demos/tokens/mapped_file.h"

namespace headroom::llama {

namespace {

// SplitMix64's output function: spreads nearby numbers evenly.
std::uint64_t mix(std::uint64_t x) { return record::mixed64(x + 0x9e3779b97f4a7c15u); }

// The place of this rank's sample b among those of all ranks.
std::int64_t place_of(std::int64_t b, std::int64_t batch, const BatchPart& part) {
  const std::int64_t samples = batch / part.micro_batches;
  return (b / samples * part.ranks + part.rank) * samples + b % samples;
}

// `start` returns the first token of a sample of all ranks' samples.
template <class Start>
at::Tensor cut(tokens::TokenView data, std::int64_t batch, std::int64_t seq, const BatchPart& part, Start start) {
  const record::Scope scope(record::Category::kOther, number_of(Op::kTokens));
  at::Tensor ids_and_targets = at::empty({2, batch, seq}, at::kLong);
  auto* const ids = ids_and_targets.mutable_data_ptr<std::int64_t>();
  std::int64_t* const targets = ids + batch * seq;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::uint64_t first = start(place_of(b, batch, part));
    for (std::int64_t t = 0; t < seq; ++t) {
      const auto token = [&](std::int64_t place) {
        return data[(first + static_cast<std::uint64_t>(place)) % data.size()];
      };
      ids[b * seq + t] = token(t);
      targets[b * seq + t] = token(t + 1);
    }
  }
  return ids_and_targets;
}

}  // namespace

std::map<std::string, std::string> data_facts(const tokens::DataSource& source) {
  const auto file = tokens::MappedFile::open(source.file);
  if (!file) return {};
  const std::span<const std::byte> bytes = file.value().bytes();
  std::map<std::string, std::string> facts{{"text", source.file.filename().string()}, {"tokens", source.words(bytes)}};
  if (!tokens::is_id_file(source.file))
    facts["text_sha1"] = c10::sha1({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).str();
  return facts;
}

at::Tensor make_batch(tokens::TokenView data, std::int64_t batch, std::int64_t seq, std::uint64_t seed,
                      std::int64_t step, const BatchPart& part) {
  return cut(data, batch, seq, part, [&](std::int64_t b) {
    return mix(mix(seed) + static_cast<std::uint64_t>(step * batch * part.ranks + b)) % data.size();
  });
}

at::Tensor make_even_batch(tokens::TokenView data, std::int64_t batch, std::int64_t seq, const BatchPart& part) {
  const std::int64_t last = static_cast<std::int64_t>(data.size()) - seq - 1, all = batch * part.ranks;
  return cut(data, batch, seq, part, [&](std::int64_t b) {
    return all == 1 ? std::uint64_t{0} : static_cast<std::uint64_t>(std::max<std::int64_t>(0, last) * b / (all - 1));
  });
}

at::Tensor upload(const at::Tensor& host_tokens, at::Device device) {
  const record::Scope scope(record::Category::kOther, number_of(Op::kTokens));
  // The driver copies pageable memory before this returns; the host does not wait for the device.
  return host_tokens.to(device, /*non_blocking=*/true);
}

}  // namespace headroom::llama
