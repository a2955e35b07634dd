// Checkpoints by path: loaded values, and a sentence for every defect.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "demos/engine/experiments/train_step_run.h"
#include "demos/engine/llama/model/model.h"
#include "demos/experiments/info/train_step_model.h"
#include "demos/llama/files/hugging_face.h"
#include "tests/llama/allocation_log.h"
#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/llama/step_fixture.h"
#include "tests/support/catch.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using nlohmann::json;

std::string bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

at::Tensor values(std::size_t number, const std::vector<std::int64_t>& shape) {
  at::manual_seed(number + 1);
  return at::randn(shape) * 0.05;
}

std::vector<TensorBytes> tensors_of(const llama::Config& config, at::ScalarType type = at::kFloat) {
  const char* const dtype = type == at::kFloat ? "F32" : type == at::kHalf ? "F16" : "BF16";
  std::vector<TensorBytes> all;
  for (const llama::WeightShape& weight : llama::weight_shapes(config))
    all.push_back({weight.name, dtype, weight.shape, bytes_of(values(all.size(), weight.shape).to(type))});
  return all;
}

void write_checkpoint(const std::filesystem::path& folder, const llama::Config& config,
                      const std::vector<TensorBytes>& tensors) {
  write_config(folder, config);
  write_bytes(folder / "model.safetensors", safetensors(tensors));
}

void write_shards(const std::filesystem::path& folder, const llama::Config& config) {
  write_config(folder, config);
  const std::vector<TensorBytes> all = tensors_of(config);
  const auto middle = all.begin() + 5;
  json map;
  for (const TensorBytes& tensor : all) map[tensor.name] = &tensor - all.data() < 5 ? "a.safetensors" : "b.safetensors";
  write_bytes(folder / "a.safetensors", safetensors({all.begin(), middle}));
  write_bytes(folder / "b.safetensors", safetensors({middle, all.end()}));
  write_bytes(folder / "model.safetensors.index.json",
              json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
}

llama::Model loaded(const std::filesystem::path& folder, const llama::Config& config,
                    at::ScalarType type = at::kFloat) {
  auto found = llama::find_weights(folder, config);
  if (!found.ok()) FAIL(found.error().message);
  return llama::make_model(config, {}, {.type = type}, /*seq=*/8, /*seed=*/0, /*cancel=*/nullptr,
                           {.files = &found.value()});
}

void check_values(const llama::Model& model, at::ScalarType stored, at::ScalarType type) {
  const std::vector<llama::Parameter> all = llama::parameters(model);
  REQUIRE(all.size() == llama::weight_shapes(model.config).size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    CHECK(all[i].name == llama::weight_shapes(model.config)[i].name);
    CHECK(all[i].tensor.scalar_type() == type);
    CHECK(all[i].tensor.equal(values(i, all[i].tensor.sizes().vec()).to(stored).to(type)));
  }
}

struct Changes {
  std::function<void(std::vector<TensorBytes>&)> tensors = [](auto&) {};
  std::function<void(json&)> header = [](json&) {};
  std::function<void(std::string&)> file = [](std::string&) {};
};

std::string refusal(const Changes& changes) {
  const TemporaryFolder folder;
  write_config(folder.path(), kSmall);
  std::vector<TensorBytes> tensors = tensors_of(kSmall);
  changes.tensors(tensors);
  json header = header_of(tensors);
  changes.header(header);
  std::string file = safetensors(header.dump(), tensors);
  changes.file(file);
  write_bytes(folder.path() / "model.safetensors", file);
  const auto found = llama::find_weights(folder.path(), kSmall);
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().kind == record::ErrorKind::kBadInput);
  const std::string message = found.error().message;
  CHECK_THAT(message, ContainsSubstring(folder.path().string()));
  CHECK(message.back() == '.');
  CHECK(message.find(". ") == std::string::npos);  // one sentence
  return message;
}

std::string shard_refusal(const std::function<void(const std::filesystem::path&, json&)>& change) {
  const TemporaryFolder folder;
  write_shards(folder.path(), kSmall);
  json index = json::parse(std::ifstream(folder.path() / "model.safetensors.index.json"));
  change(folder.path(), index);
  write_bytes(folder.path() / "model.safetensors.index.json", index.dump());
  const auto found = llama::find_weights(folder.path(), kSmall);
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().kind == record::ErrorKind::kBadInput);
  return found.error().message;
}

const std::string kQ = "model.layers.1.self_attn.q_proj.weight";

}  // namespace

TEST_CASE("a checkpoint's weights load from any stored type") {
  const auto stored = GENERATE(at::kFloat, at::kHalf, at::kBFloat16);
  const auto type = GENERATE(at::kFloat, at::kBFloat16);
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), kSmall, tensors_of(kSmall, stored));
  check_values(loaded(folder.path(), kSmall, type), stored, type);
}

TEST_CASE("biases and norms over heads are loaded, and missing ones are refused") {
  for (const bool qk_norm : {false, true}) {
    llama::Config config = kSmall;
    config.qk_norm = qk_norm;
    config.qkv_bias = config.o_bias = !qk_norm;
    const TemporaryFolder folder;
    std::vector<TensorBytes> tensors = tensors_of(config);
    write_checkpoint(folder.path(), config, tensors);
    const auto read = llama::read_hugging_face_config(folder.path());
    REQUIRE(read.ok());
    check_values(loaded(folder.path(), read.value()), at::kFloat, at::kFloat);
    const std::string part = qk_norm ? "layers.1.self_attn.k_norm.weight" : "layers.1.self_attn.o_proj.bias";
    std::erase_if(tensors, [&](const TensorBytes& tensor) { return tensor.name.ends_with(part); });
    write_checkpoint(folder.path(), config, tensors);
    CHECK_THAT(llama::find_weights(folder.path(), config).error().message,
               ContainsSubstring(part + " is missing in the checkpoint"));
    CHECK_THAT(llama::find_weights(folder.path(), kSmall).error().message, ContainsSubstring("is not part of"));
  }
}

TEST_CASE("tensors may be at odd addresses and in any order") {
  const TemporaryFolder folder;
  write_config(folder.path(), kSmall);
  std::vector<TensorBytes> tensors = tensors_of(kSmall);
  std::swap(tensors.front(), tensors.back());
  std::string header = header_of(tensors).dump();
  header.append((8 - header.size() % 8) % 8 + 1, ' ');  // data begin at an odd byte
  write_bytes(folder.path() / "model.safetensors", safetensors(header, tensors));
  check_values(loaded(folder.path(), kSmall), at::kFloat, at::kFloat);
}

TEST_CASE("a checkpoint may have shards") {
  const TemporaryFolder folder;
  write_shards(folder.path(), kSmall);
  check_values(loaded(folder.path(), kSmall), at::kFloat, at::kFloat);
}

TEST_CASE("a tied head may be missing in the checkpoint and is not read") {
  llama::Config tied = kSmall;
  tied.tie_word_embeddings = true;
  const TemporaryFolder folder;
  std::vector<TensorBytes> tensors = tensors_of(tied);
  write_checkpoint(folder.path(), tied, tensors);
  check_values(loaded(folder.path(), tied), at::kFloat, at::kFloat);
  tensors.push_back({"lm_head.weight", "F32", {256, 16}, tensors.front().bytes});
  write_checkpoint(folder.path(), tied, tensors);
  const llama::Model model = loaded(folder.path(), tied);
  CHECK(model.lm_head_VH.is_same(model.embed_tokens_VH));
  tensors.back().shape = {16, 256};
  write_checkpoint(folder.path(), tied, tensors);
  CHECK_FALSE(llama::find_weights(folder.path(), tied).ok());
}

TEST_CASE("a checkpoint truncated after its header was read is refused with a sentence") {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), kSmall, tensors_of(kSmall));
  const std::filesystem::path file = folder.path() / "model.safetensors";
  const auto found = llama::find_weights(folder.path(), kSmall);
  REQUIRE(found.ok());
  const auto load = [&] {
    (void)llama::make_model(kSmall, {}, {}, /*seq=*/8, /*seed=*/0, /*cancel=*/nullptr, {.files = &found.value()});
  };
  CHECK_NOTHROW(load());
  const bool gone = GENERATE(false, true);
  if (gone)
    std::filesystem::remove(file);
  else
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  CHECK_THROWS_WITH(load(),
                    file.string() + " changed while its weights were being read; start again once it is complete.");
}

TEST_CASE("a folder of links is a valid checkpoint") {
  const TemporaryFolder folder, store;
  const std::filesystem::path snapshot = folder.path() / "snapshots" / "0123", blobs = folder.path() / "blobs";
  std::filesystem::create_directories(snapshot);
  std::filesystem::create_directories(blobs);
  write_checkpoint(snapshot, kSmall, tensors_of(kSmall));
  const auto move = [&](const std::filesystem::path& from, const std::filesystem::path& to, const std::string& link) {
    for (const char* const name : {"config.json", "model.safetensors"}) {
      std::filesystem::rename(from / name, to / name);
      std::filesystem::remove(snapshot / name);  // a link if it was moved before
      std::filesystem::create_symlink(link + "/" + name, snapshot / name);
    }
  };
  move(snapshot, blobs, "../../blobs");  // as in Hugging Face's cache
  check_values(loaded(snapshot, kSmall), at::kFloat, at::kFloat);
  move(blobs, store.path(), store.path().string());
  check_values(loaded(snapshot, kSmall), at::kFloat, at::kFloat);
}

TEST_CASE("each defect of a safetensors file is named") {
  const auto tensor = [](auto change) { return Changes{.tensors = [change](auto& all) { change(all); }}; };
  const auto header = [](auto change) { return Changes{.header = [change](json& all) { change(all); }}; };
  const auto file = [](auto change) { return Changes{.file = [change](std::string& all) { change(all); }}; };

  CHECK_THAT(refusal(file([](std::string& all) { all.resize(5); })), ContainsSubstring("is truncated: 5 bytes"));
  CHECK_THAT(refusal(file([](std::string& all) { all.resize(100); })), ContainsSubstring("is truncated: its header "
                                                                                         "should have"));
  CHECK_THAT(refusal(file([](std::string& all) { all.resize(all.size() - 1); })),
             ContainsSubstring("Tensor lm_head.weight should be at bytes"));
  CHECK_THAT(refusal(file([](std::string& all) { all += "tail"; })),
             ContainsSubstring("4 bytes that belong to no tensor"));
  CHECK_THAT(refusal(file([](std::string& all) { all.replace(0, 8, length_of(100'000'001)); })),
             ContainsSubstring("100000001 bytes, but the limit is 100000000"));
  CHECK_THAT(refusal(file([](std::string& all) { all[8] = '['; })), ContainsSubstring("not a JSON object"));
  CHECK_THAT(refusal(file([](std::string& all) { all.replace(0, 8, length_of(~std::uint64_t{0})); })),
             ContainsSubstring("but the limit is 100000000"));
  CHECK_THAT(refusal(file([](std::string& all) {
               const std::string twice = R"({"lm_head.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)";
               std::uint64_t length = 0;
               std::copy_n(all.data(), 8, reinterpret_cast<char*>(&length));
               all = length_of(length + twice.size() - 1) + twice + all.substr(9);
             })),
             ContainsSubstring("tensor lm_head.weight twice"));

  CHECK_THAT(refusal(header([](json& all) { all[kQ]["dtype"] = "I8"; })),
             ContainsSubstring("Tensor " + kQ) && ContainsSubstring("stored as I8"));
  CHECK_THAT(refusal(header([](json& all) { all[kQ].erase("shape"); })),
             ContainsSubstring("lacks a dtype, a shape or two data_offsets of tensor " + kQ));
  CHECK_THAT(refusal(header([](json& all) { all[kQ]["shape"] = {-16, 16}; })), ContainsSubstring("lacks a dtype"));
  CHECK_THAT(refusal(header([](json& all) {
               all[kQ]["shape"] = {16, 8};
             })),
             ContainsSubstring("Tensor " + kQ) && ContainsSubstring("does not match its 1024 bytes"));
  // In 64 bits, 4 · (2⁶² + 256) wraps to 1024.
  CHECK_THAT(refusal(header([](json& all) { all[kQ]["shape"] = json::array({(std::int64_t{1} << 62) + 256}); })),
             ContainsSubstring("does not match its 1024 bytes"));
  CHECK_THAT(refusal(header([](json& all) { std::swap(all[kQ]["data_offsets"][0], all[kQ]["data_offsets"][1]); })),
             ContainsSubstring("Tensor " + kQ + " should be at bytes"));
  CHECK_THAT(refusal(header([](json& all) {
               all[kQ]["data_offsets"] = {std::uint64_t{1} << 63, (std::uint64_t{1} << 63) + 1024};
             })),
             ContainsSubstring("lacks a dtype"));
  CHECK_THAT(refusal(header([](json& all) {
               all["model.norm.weight"]["data_offsets"] = all["model.layers.0.input_layernorm.weight"]["data_offsets"];
             })),
             ContainsSubstring("overlap in"));
  CHECK_THAT(refusal(header([](json& all) { all.erase(kQ); })),
             ContainsSubstring("1024 bytes that belong to no tensor, before tensor"));

  CHECK_THAT(refusal(tensor([](auto& all) { all.erase(all.begin() + 3); })),
             ContainsSubstring("is missing in the checkpoint"));
  CHECK_THAT(
      refusal(tensor([](auto& all) {
        all.push_back({"model.bias", "F32", {1}, "1234"});
      })),
      ContainsSubstring("Tensor model.bias") && ContainsSubstring("is not part of the model of its config.json"));
  CHECK_THAT(refusal(tensor([](auto& all) {
               all[1].shape = {4, 4};
             })),
             ContainsSubstring("has shape [4, 4], but the model of its config.json needs [16]"));
}

TEST_CASE("a shard must be a file of the folder with the index's tensors") {
  const auto renamed = [](const char* name) {
    return [name](const std::filesystem::path&, json& index) { index["weight_map"]["lm_head.weight"] = name; };
  };
  CHECK_THAT(shard_refusal(renamed("../b.safetensors")), ContainsSubstring("is outside its folder"));
  CHECK_THAT(shard_refusal(renamed("sub/../../b.safetensors")), ContainsSubstring("is outside its folder"));
  CHECK_THAT(shard_refusal(renamed("/etc/hostname")),
             ContainsSubstring("the shard \"/etc/hostname\", which is outside"));
  CHECK_THAT(shard_refusal(renamed("")), ContainsSubstring("is outside its folder"));
  CHECK_THAT(shard_refusal(renamed("c.safetensors")), ContainsSubstring("c.safetensors is missing"));
  CHECK_THAT(shard_refusal(renamed("a.safetensors")), ContainsSubstring("does not list it there"));
  CHECK_THAT(shard_refusal([](const auto&, json& index) { index["weight_map"]["more"] = "a.safetensors"; }),
             ContainsSubstring("Tensor more is not in"));
  CHECK_THAT(shard_refusal([](const auto&, json& index) { index["weight_map"].erase("lm_head.weight"); }),
             ContainsSubstring("Tensor lm_head.weight is in"));
  CHECK_THAT(shard_refusal([](const auto&, json& index) { index.erase("weight_map"); }),
             ContainsSubstring("no weight_map"));
  CHECK_THAT(shard_refusal([&](const std::filesystem::path& folder, json&) {
               std::filesystem::remove(folder / "b.safetensors");
               std::filesystem::create_symlink("/nowhere/at/all", folder / "b.safetensors");
             }),
             ContainsSubstring("b.safetensors is a broken link to /nowhere/at/all; download the file again"));
}

TEST_CASE("a pipe in place of a file is refused at once") {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "config.json").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  auto read = std::async(std::launch::async, [&] {
    return std::pair(llama::read_hugging_face_config(folder.path()).ok(), llama::read_safetensors_header(pipe).ok());
  });
  CHECK(read.wait_for(std::chrono::minutes(5)) == std::future_status::ready);
  // Releases a blocked reader.
  while (read.wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
    close(open(pipe.c_str(), O_WRONLY | O_NONBLOCK));
  CHECK(read.get() == std::pair(false, false));
}

TEST_CASE("a run trains a checkpoint, planned to the byte without reading it") {
  install_allocation_log();
  at::set_num_threads(1);
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), kSmall, tensors_of(kSmall, at::kBFloat16));
  const Settings settings{"model=custom", "batch=2", "seq=16", "weights=" + folder.path().string()};
  const auto events = [&](const RunPlace& place) {
    std::unique_ptr<TrainStepRun> run;
    std::vector<Allocation> all = log_of(place, [&] { run = make_run(settings, place); });
    if (!place.device.is_meta()) {
      run->step(0);
      const double first = run->loss();
      for (int i = 1; i < 8; ++i) run->step(0);
      CHECK(run->loss() < first);
    }
    CHECK(run->num_parameters() == llama::num_parameters(kSmall));
    return all;
  };
  const auto real = events(kCpu), planned = events(kPlanForCpu);
  check_equal(real, planned);
}

TEST_CASE("a run refuses the checkpoint of another model") {
  const TemporaryFolder folder;
  write_checkpoint(folder.path(), kSmall, tensors_of(kSmall));
  const auto refused = experiments::train_step_model(
      predict::step_settings(params({"model=tiny", "weights=" + folder.path().string()})));
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, ContainsSubstring("has hidden_size 16, but model=tiny has 256"));
  CHECK(refused.error().kind == record::ErrorKind::kBadInput);
}
