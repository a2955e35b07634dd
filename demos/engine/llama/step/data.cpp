// Reads text and cuts batches from it.
#include "demos/engine/llama/step/data.h"

#include <fstream>
#include <sstream>

#include <c10/util/hash.h>

#include "demos/engine/llama/model/labels.h"
#include "demos/record/text.h"

namespace headroom::llama {

namespace {

// SplitMix64's output function (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195): spreads nearby numbers evenly.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

record::Result<std::string> read_text(const std::filesystem::path& file) {
  const std::string name = "The text " + file.string();
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return record::Error{name + " is not there; check the path."};
  if (!std::filesystem::is_regular_file(file, error)) return record::Error{name + " is not a file; give a text file."};
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  const std::string text = std::move(content).str();
  if (!stream || stream.bad()) return record::Error{name + " cannot be read; check its permissions."};
  if (text.empty()) return record::Error{name + " is empty; give a file with some text in it."};
  if (!record::valid_utf8(text)) return record::Error{name + " is not UTF-8; give a plain text file in UTF-8."};
  return text;
}

std::map<std::string, std::string> text_facts(const std::filesystem::path& file) {
  const record::Result<std::string> text = read_text(file);
  if (!text) return {};
  return {{"text", file.filename().string()}, {"text_sha1", c10::sha1(text.value()).str()}};
}

at::Tensor make_batch(const std::string& text, std::int64_t batch, std::int64_t seq, std::uint64_t seed,
                      std::int64_t step) {
  const record::Scope scope(record::Category::kOther, operators().tokens);
  at::Tensor ids_and_targets = at::empty({2, batch, seq}, at::kLong);
  auto* const ids = ids_and_targets.mutable_data_ptr<std::int64_t>();
  std::int64_t* const targets = ids + batch * seq;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::uint64_t start = mix(mix(seed) + static_cast<std::uint64_t>(step * batch + b)) % text.size();
    for (std::int64_t t = 0; t < seq; ++t) {
      const auto byte = [&](std::int64_t place) {
        return static_cast<unsigned char>(text[(start + static_cast<std::uint64_t>(place)) % text.size()]);
      };
      ids[b * seq + t] = byte(t);
      targets[b * seq + t] = byte(t + 1);
    }
  }
  return ids_and_targets;
}

}  // namespace headroom::llama
