// Tests that texts get Hugging Face's ids.
#include "demos/tokens/tokenizer.h"

#include <atomic>
#include <string>
#include <vector>

#include "demos/tokens/normal_form.h"
#include "demos/tokens/utf8.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/tokens/fixture.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;
using tokens::TokenId;

tokens::TokenizerParts fixture(const std::string& name) {
  auto tokenizer = tokens::read_tokenizer(kTokenFixtures / (name + ".json"));
  if (!tokenizer) FAIL(tokenizer.error().message);
  return std::move(tokenizer).value();
}

json document(const std::string& name) { return json::parse(content_of(kTokenFixtures / (name + ".json"))); }

std::string refusal_of(const std::string& content) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "tokenizer.json";
  write_bytes(file, content);
  const auto tokenizer = tokens::read_tokenizer(file);
  if (tokenizer) return "";
  CHECK(tokenizer.error().kind == record::ErrorKind::kBadInput);
  CHECK(tokenizer.error().message.starts_with(file.string()));
  return tokenizer.error().message;
}
std::string refusal(const json& document) { return refusal_of(document.dump()); }

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a mixed text has Hugging Face's ids") {
  const std::string text = content_of(kTokenFixtures / "mixed.txt");
  REQUIRE(text.size() > 20'000);
  for (const auto& [name, expected] : expected_tokens()["tokenizers"].items()) {
    CAPTURE(name);
    const std::vector<TokenId> ids = tokens::encode(fixture(name), text);
    CHECK(ids.size() == expected["count"].get<std::size_t>());
    CHECK(hash_of(ids) == expected["hash"].get<std::string>());
  }
}

TEST_CASE("short difficult texts have Hugging Face's ids") {
  const auto& cases = expected_tokens()["cases"];
  for (const auto& [name, expected] : expected_tokens()["tokenizers"].items()) {
    const tokens::TokenizerParts tokenizer = fixture(name);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      CAPTURE(name, i, cases[i]);
      CHECK(tokens::encode(tokenizer, cases[i].get<std::string>()) == expected["cases"][i].get<std::vector<TokenId>>());
    }
  }
}

TEST_CASE("normal form C of every character, alone and next to others, equals Hugging Face's") {
  std::uint64_t hash = fnv("");
  for (char32_t c = 0; c < 0x40000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    for (const char32_t each : std::u32string{c, U'|', c, 0x323, 0x301, U'|', U'e', c, 0x327, U'|', 0xAC00, c})
      tokens::append(text, each);
    const std::string composed = tokens::composed(text);
    if (tokens::surely_composed(text)) CHECK(composed == text);
    hash = fnv(composed, hash);
  }
  CHECK(fmt::format("{:016x}", hash) == expected_tokens()["normal_form"].get<std::string>());
}

TEST_CASE("a long word is tokenized in negligible time") {
  const tokens::TokenizerParts tokenizer = fixture("gpt2");
  const std::vector<TokenId> ids = tokens::encode(tokenizer, std::string(1 << 20, 'a'));
  CHECK(ids.size() > 1000);
  CHECK(tokens::encode(tokenizer, std::string(1 << 20, ' ')).size() > 1000);
}

TEST_CASE("a cancelled tokenization returns fewer ids") {
  const std::atomic<bool> cancel = true;
  CHECK(tokens::encode(fixture("gpt2"), content_of(kTokenFixtures / "mixed.txt"), &cancel).size() < 100);
}

TEST_CASE("tokenizers of another kind are refused by name") {
  json other = document("gpt2");
  for (const char* type : {"Unigram", "WordPiece", "WordLevel"}) {
    other["model"]["type"] = type;
    CHECK(has_part(refusal(other), fmt::format("is a {} tokenizer, but only byte-level BPE is supported", type)));
  }
  const auto changed = [](const char* pointer, const json& value) {
    json one = document("qwen2");
    one[json::json_pointer(pointer)] = value;
    return refusal(one);
  };
  CHECK(has_part(changed("/model/byte_fallback", true), "SentencePiece"));
  CHECK(has_part(changed("/model/end_of_word_suffix", "</w>"), "end_of_word_suffix"));
  CHECK(has_part(changed("/model/dropout", 0.1), "dropout"));
  CHECK(has_part(changed("/normalizer", {{"type", "NFKC"}}), "the normalizer NFKC"));
  CHECK(has_part(changed("/pre_tokenizer", {{"type", "Metaspace"}}), "the pre-tokenizer Metaspace"));
  CHECK(has_part(changed("/pre_tokenizer", nullptr), "no pre-tokenizer ByteLevel"));
  CHECK(has_part(changed("/pre_tokenizer/pretokenizers/0/behavior", "MergedWithNext"), "MergedWithNext"));
  const std::vector<std::pair<const char*, const char*>> patterns{
      {"\\w+", "has \\w"},     {"[a[b]]", "a set inside a set"}, {"\\p{Han}", "has \\p{Han}"},
      {"a{1,2}+", "has {…}+"}, {"(", "does not compile"},        {"a*", "can match the empty string"}};
  for (const auto& [pattern, said] : patterns)
    CHECK(has_part(changed("/pre_tokenizer/pretokenizers/0/pattern/Regex", pattern), said));
  json fewer = document("gpt2");
  fewer["model"]["vocab"].erase("!");
  CHECK(has_part(refusal(fewer), "no token for byte 0x21"));
}

TEST_CASE("a damaged tokenizer.json is refused with the place") {
  CHECK(has_part(refusal_of("{"), "not a JSON object"));
  json broken = document("gpt2");
  broken["model"]["merges"][3] = "nowhere to";
  CHECK(has_part(refusal(broken), "merge 3"));
  broken = document("gpt2");
  broken["model"]["vocab"]["!"] = -1;
  CHECK(has_part(refusal(broken), "no id"));
  broken = document("gpt2");
  broken["added_tokens"][0] = {{"content", "<new>"}};
  CHECK(has_part(refusal(broken), "<new>"));
  broken = document("gpt2");
  broken["model"].erase("merges");
  CHECK(has_part(refusal(broken), "no merges"));
  CHECK(refusal(document("gpt2")) == "");
}
