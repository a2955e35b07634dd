// Files to train on: ids, texts, and what of them is refused.
#include "demos/tokens/token_data.h"

#include <cstdint>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "tests/llama/checkpoint_folder.h"
#include "tests/tokens/fixture.h"

namespace {

using namespace headroom;
using namespace headroom::test;
using tokens::DataSource;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class Id>
std::string bytes_of(const std::vector<Id>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(Id)};
}

// As numpy.save() writes it.
std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 0xFF) +
         static_cast<char>(header.size() >> 8) + header + data;
}

// llm.c's header before ids.
std::string llmc(std::int32_t magic, std::int32_t version, std::int32_t count, const std::string& data) {
  std::vector<std::int32_t> header(256);
  header[0] = magic, header[1] = version, header[2] = count;
  return bytes_of(header) + data;
}

class Folder : public TemporaryFolder {
 public:
  DataSource file(const std::string& name, const std::string& content, std::int64_t vocabulary = 300) const {
    write_bytes(path() / name, content);
    return {.file = path() / name, .tokenizer = {}, .vocabulary = vocabulary};
  }
};

std::vector<std::int64_t> ids_of(const DataSource& source) {
  const auto data = tokens::TokenData::read(source, nullptr);
  if (!data) FAIL(data.error().message);
  CHECK(tokens::check(source).ok());
  const tokens::TokenView view = data.value().view();
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < view.size(); ++i) ids.push_back(view[i]);
  return ids;
}

// Of check() as well, with the file's name.
std::string refusal(const DataSource& source) {
  const auto data = tokens::TokenData::read(source, nullptr);
  const record::Status checked = tokens::check(source);
  if (data || checked) return "";
  CHECK(data.error().message == checked.error().message);
  CHECK(contains(checked.error().message, source.tokenizer.empty() ? source.file.string() : source.tokenizer.string()));
  return checked.error().message;
}

const std::vector<std::int64_t> kIds{0, 299, 7, 256};

template <class Id>
std::string stored() {
  return bytes_of(std::vector<Id>(kIds.begin(), kIds.end()));
}

}  // namespace

TEST_CASE("ids are read from .npy of each integer type") {
  const Folder folder;
  CHECK(ids_of(folder.file("a.npy", npy("<u2", "(4,)", stored<std::uint16_t>()))) == kIds);
  CHECK(ids_of(folder.file("b.npy", npy("<u4", "(4,)", stored<std::uint32_t>()))) == kIds);
  CHECK(ids_of(folder.file("c.npy", npy("<i4", "(4,)", stored<std::int32_t>()))) == kIds);
  CHECK(ids_of(folder.file("d.npy", npy("<i8", "(4,)", stored<std::int64_t>()))) == kIds);
}

TEST_CASE("ids of a .bin have 16 bits, or 32 where the vocabulary needs them") {
  const Folder folder;
  CHECK(ids_of(folder.file("a.bin", stored<std::uint16_t>(), 65'536)) == kIds);
  CHECK(ids_of(folder.file("b.bin", stored<std::uint32_t>(), 65'537)) == kIds);
  CHECK(contains(refusal(folder.file("c.bin", stored<std::uint16_t>() + "x", 300)),
                 "9 bytes, which are no whole ids of 2"));
  CHECK(contains(refusal(folder.file("d.bin", stored<std::uint32_t>() + "xx", 65'537)), "no whole ids of 4"));
  CHECK(contains(refusal(folder.file("e.bin", stored<std::uint16_t>(), 299)), "id 299 at place 1, and the model's"));
}

TEST_CASE("the header of llm.c says how wide its ids are") {
  const Folder folder;
  CHECK(ids_of(folder.file("a.bin", llmc(20240520, 1, 4, stored<std::uint16_t>()), 100'000)) == kIds);
  CHECK(ids_of(folder.file("b.bin", llmc(20240801, 7, 4, stored<std::uint32_t>()), 300)) == kIds);
  CHECK(
      contains(refusal(folder.file("c.bin", llmc(20240520, 1, 5, stored<std::uint16_t>()))), "its header says 5 ids"));
  CHECK(contains(refusal(folder.file("d.bin", llmc(20240520, 1, 0, ""))), "has no ids"));
}

TEST_CASE("another array than one row of ids is refused with what to write") {
  const Folder folder;
  const auto said = [&](const std::string& content) { return refusal(folder.file("a.npy", content)); };
  const std::string data = stored<std::uint16_t>();
  CHECK(contains(said(npy("<f4", "(2,)", data)), "has type '<f4'"));
  CHECK(contains(said(npy(">u2", "(4,)", data)), "big-endian"));
  CHECK(contains(said(npy("<u2", "(2, 2)", data)), "shape (2, 2)"));
  CHECK(contains(said(npy("<u2", "()", data)), "shape ()"));
  CHECK(contains(said(npy("<u2", "(4,)", data, "True")), "Fortran"));
  CHECK(contains(said(npy("<u2", "(5,)", data)), "says 5 ids"));
  CHECK(contains(said(npy("<u2", "(0,)", "")), "has no ids"));
  CHECK(contains(said(npy("<u2", "(4,)", data).substr(0, 40)), "cut in its header"));
  CHECK(contains(said("some words"), "no .npy file"));
  CHECK(contains(said(npy("<i8", "(1,)", bytes_of(std::vector<std::int64_t>{-1}))), "id -1 at place 0"));
  CHECK(contains(said(npy("<u2", "(4,)", bytes_of(std::vector<std::uint16_t>{1, 2, 300, 4}))), "id 300 at place 2"));
}

TEST_CASE("a text is its bytes, or what the tokenizer makes of it") {
  const Folder folder;
  DataSource text = folder.file("a.txt", "caf\xC3\xA9 \xF0\x9F\xA6\x99");
  CHECK(ids_of(text) == std::vector<std::int64_t>{'c', 'a', 'f', 0xC3, 0xA9, ' ', 0xF0, 0x9F, 0xA6, 0x99});
  CHECK(text.words() == "bytes of a.txt");
  text.tokenizer = kTokenFixtures / "gpt2.json";
  text.vocabulary = 1000;
  const auto expected = tokens::encode(tokens::read_tokenizer(text.tokenizer).value(), content_of(text.file));
  CHECK(ids_of(text) == std::vector<std::int64_t>(expected.begin(), expected.end()));
  CHECK(text.words() == "gpt2.json of " + kTokenFixtures.string());
  text.vocabulary = 400;
  CHECK(contains(refusal(text), "the model's vocabulary has 400 tokens"));
  const DataSource ids = folder.file("b.npy", npy("<u2", "(4,)", stored<std::uint16_t>()));
  CHECK(ids.words() == "ids of b.npy");
}

TEST_CASE("a text to train on is there, not empty and UTF-8") {
  const Folder folder;
  const auto refused = [&](const std::string& name) {
    return refusal({.file = folder.path() / name, .tokenizer = {}, .vocabulary = 300});
  };
  CHECK(contains(refused("missing.txt"), "no data file"));
  CHECK(contains(refused(""), "is a folder"));
  REQUIRE(mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  CHECK(contains(refused("pipe"), "is a pipe"));
  CHECK(contains(refusal(folder.file("empty.txt", "")), "is empty"));
  CHECK(contains(refusal(folder.file("empty.npy", "")), "is empty"));
  CHECK(contains(refusal(folder.file("latin1.txt", "good\ncaf\xE9\n")), "line 2"));
  CHECK(contains(refusal(folder.file("cut.txt", "good\ncaf\xC3")), "line 2"));
}
