// Checkpoint folders found in practice: which load, and which are refused. Without torch.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "demos/llama/files/hugging_face.h"
#include "demos/llama/not_finite.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using nlohmann::json;
using tests::TemporaryFolder;
using tests::TensorBytes;

constexpr llama::Config kTied{.id = "custom",
                              .hidden_size = 16,
                              .intermediate_size = 24,
                              .num_layers = 1,
                              .num_heads = 2,
                              .num_kv_heads = 1,
                              .head_dim = 8,
                              .vocab_size = 256,
                              .tie_word_embeddings = true,
                              .rope_theta = 10000};

std::vector<TensorBytes> tensors_of(const llama::Config& config) {
  std::vector<TensorBytes> all;
  for (const llama::WeightShape& weight : llama::weight_shapes(config)) {
    std::size_t bytes = 2;
    for (const std::int64_t length : weight.shape) bytes *= static_cast<std::size_t>(length);
    all.push_back({weight.name, "BF16", weight.shape, std::string(bytes, static_cast<char>('a' + all.size()))});
  }
  return all;
}

void write_checkpoint(const std::filesystem::path& folder, const std::vector<TensorBytes>& tensors) {
  tests::write_bytes(folder / "config.json", tests::config_json(kTied).dump());
  tests::write_bytes(folder / "model.safetensors", tests::safetensors(tensors));
}

std::string message_of(const record::Status& status) { return status.ok() ? "" : status.error().message; }

std::string config_refusal(const std::function<void(json&)>& change) {
  const TemporaryFolder folder;
  json object = tests::config_json(kTied);
  change(object);
  tests::write_bytes(folder.path() / "config.json", object.dump());
  const auto config = llama::read_hugging_face_config(folder.path());
  return config.ok() ? "" : config.error().message;
}

}  // namespace

TEST_CASE("a stored tied head must equal the embedding") {
  for (const bool same : {true, false}) {
    const TemporaryFolder folder;
    std::vector<TensorBytes> tensors = tensors_of(kTied);
    REQUIRE(tensors.front().name == "model.embed_tokens.weight");
    TensorBytes head = tensors.front();
    head.name = "lm_head.weight";
    if (!same) head.bytes.back() = '?';
    tensors.push_back(head);
    write_checkpoint(folder.path(), tensors);
    const auto weights = llama::find_weights(folder.path(), kTied);
    REQUIRE(weights.ok());
    const std::string message = message_of(llama::check_tied_head(weights.value(), kTied));
    INFO(message);
    CHECK(message.empty() == same);
    if (same) continue;
    CHECK(message.find("stores an lm_head.weight that differs from its embedding") != std::string::npos);
    CHECK(message.find((folder.path() / "model.safetensors").string()) == 0);
  }
}

TEST_CASE("rotary embedding tables in old checkpoints are ignored") {
  const TemporaryFolder folder;
  std::vector<TensorBytes> tensors = tensors_of(kTied);
  tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {4}, std::string(16, 'f')});
  write_checkpoint(folder.path(), tensors);
  CHECK(llama::find_weights(folder.path(), kTied).ok());
}

TEST_CASE("a refusal of config.json states the found and the allowed value") {
  const auto says = [](const std::function<void(json&)>& change, const std::string& part) {
    const std::string message = config_refusal(change);
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
    CHECK(message.find(". ") == std::string::npos);  // one sentence
  };
  CHECK(config_refusal([](json& c) { c["attention_dropout"] = 0.0; }).empty());
  says([](json& c) { c["attention_dropout"] = 0.1; }, "no attention_dropout that our model supports");
  says([](json& c) { c["attention_dropout"] = 0.1; }, "the file has 0.1, but it must be 0");
  says(
      [](json& c) {
        c["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};
      },
      R"(the file has {"factor":4.0,"type":"linear"}, but it must be rope_type default, or llama3)");
  says([](json& c) { c["hidden_act"] = "gelu"; }, R"(the file has "gelu", but it must be "silu")");
  says([](json& c) { c.erase("hidden_size"); }, "the file has nothing, but it must be a whole number");
}

TEST_CASE("a folder that is not a checkpoint is refused with what it is") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::filesystem::path& path) {
    const auto config = llama::read_hugging_face_config(path);
    REQUIRE_FALSE(config.ok());
    INFO(config.error().message);
    CHECK(config.error().kind == record::ErrorKind::kBadInput);
    return config.error().message;
  };
  CHECK(refusal(folder.path() / "none").find("is not a folder: it does not exist") != std::string::npos);
  tests::write_bytes(folder.path() / "file", "text");
  CHECK(refusal(folder.path() / "file").find("is not a folder but a file") != std::string::npos);
  const auto entry = folder.path() / "models--meta--llama", revision = entry / "snapshots" / "0e9e39f";
  std::filesystem::create_directories(revision);
  CHECK(refusal(entry).find("use the folder of a revision inside it, " + revision.string() + ".") != std::string::npos);
  const auto weights = [&] { return llama::find_weights(revision, kTied).error().message; };
  CHECK(weights().find("model.safetensors is missing, and so is model.safetensors.index.json") != std::string::npos);
  tests::write_bytes(revision / "pytorch_model.bin", "pickled");
  CHECK(weights().find("are only in pytorch_model.bin") != std::string::npos);
}

TEST_CASE("the first non-finite number is found at any place, and finite numbers are not reported") {
  using llama::StoredType;
  const auto found = [](auto least, auto most, StoredType stored, StoredType as) {
    using Bits = decltype(least);
    const Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
    for (const std::size_t count : {1u, 3u, 4u, 4097u}) {
      std::vector<Bits> values(count, static_cast<Bits>(most | sign));
      const auto bytes = std::as_bytes(std::span(values));
      CHECK_FALSE(llama::first_not_finite(bytes, stored, as));
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        values[at] = static_cast<Bits>(least | (at % 2 == 0 ? sign : 0));
        CHECK(llama::first_not_finite(bytes, stored, as) == at);
        values[at] = most;
      }
    }
  };
  using U16 = std::uint16_t;
  using U32 = std::uint32_t;
  found(U16{0x7f80}, U16{0x7f7f}, StoredType::kBf16, StoredType::kF32);
  found(U16{0x4780}, U16{0x477f}, StoredType::kBf16, StoredType::kF16);
  found(U16{0x7c00}, U16{0x7bff}, StoredType::kF16, StoredType::kBf16);
  found(U32{0x7f800000}, U32{0x7f7fffff}, StoredType::kF32, StoredType::kF32);
  found(U32{0x477ff000}, U32{0x477fefff}, StoredType::kF32, StoredType::kF16);
  found(U32{0x7f7f8000}, U32{0x7f7f7fff}, StoredType::kF32, StoredType::kBf16);
  const std::vector<std::int64_t> whole{-1, 0x7ff0000000000000};
  CHECK_FALSE(llama::first_not_finite(std::as_bytes(std::span(whole)), StoredType::kI64, StoredType::kI64));
}
