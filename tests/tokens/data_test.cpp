// Files to train on: ids, texts and refusals.
#include "demos/tokens/token_data.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <sys/stat.h>

#include "tests/llama/checkpoints/checkpoint_folder.h"
#include "tests/tokens/fixture.h"

namespace {

using namespace headroom;
using namespace headroom::tests;
using tokens::DataSource;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class Id>
std::string bytes_of(const std::vector<Id>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(Id)};
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, order, shape);
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() & 0xFF) +
         static_cast<char>(header.size() >> 8) + header + data;
}

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

// The refusal, which read() and check() must agree on and which names the file.
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

TEST_CASE("ids are read from .npy files of each integer type") {
  const Folder folder;
  CHECK(ids_of(folder.file("a.npy", npy("<u2", "(4,)", stored<std::uint16_t>()))) == kIds);
  CHECK(ids_of(folder.file("e.npy", npy("|u1", "(2,)", "\x07\x01"))) == std::vector<std::int64_t>{7, 1});
  CHECK(ids_of(folder.file("b.npy", npy("<u4", "(4,)", stored<std::uint32_t>()))) == kIds);
  CHECK(ids_of(folder.file("c.npy", npy("<i4", "(4,)", stored<std::int32_t>()))) == kIds);
  CHECK(ids_of(folder.file("d.npy", npy("<i8", "(4,)", stored<std::int64_t>()))) == kIds);
}

// Pseudorandom ids, some of them 0.
std::vector<std::int64_t> text_like(std::int64_t vocabulary, std::size_t count = 1000) {
  std::vector<std::int64_t> ids;
  std::uint64_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto drawn = static_cast<std::int64_t>(state >> 33);
    ids.push_back(drawn % 20 == 0 ? 0 : drawn % vocabulary);
  }
  return ids;
}

template <class Id>
std::string as(const std::vector<std::int64_t>& ids) {
  return bytes_of(std::vector<Id>(ids.begin(), ids.end()));
}

std::string words_of(const DataSource& source) {
  const std::string content = content_of(source.file);
  return source.words(std::as_bytes(std::span(content)));
}

TEST_CASE("the width of a .bin's ids is found for each vocabulary") {
  const Folder folder;
  for (const std::int64_t vocabulary : {200, 256, 257, 300, 50'257, 65'536, 65'537, 128'256}) {
    CAPTURE(vocabulary);
    const std::vector<std::int64_t> ids = text_like(vocabulary);
    const auto check = [&](const std::string& content, const char* type) {
      const DataSource source = folder.file("a.bin", content, vocabulary);
      CAPTURE(type);
      CHECK(ids_of(source) == ids);
      CHECK(words_of(source) == std::string("ids of a.bin (") + type + ", by the ids)");
    };
    if (vocabulary <= 256) check(as<std::uint8_t>(ids), "uint8");
    if (vocabulary <= 65'536) check(as<std::uint16_t>(ids), "uint16");
    check(as<std::uint32_t>(ids), "uint32");
    check(as<std::int64_t>(ids), "uint64");
  }
}

TEST_CASE("data_type sets the width of a .bin, whether or not its ids decide it") {
  const Folder folder;
  const auto check = [&]<class Id>(Id, const char* type) {
    for (const std::int64_t vocabulary : {300, 128'256}) {
      DataSource source = folder.file("a.bin", stored<Id>(), vocabulary);
      source.data_type = type;
      CAPTURE(type, vocabulary);
      CHECK(ids_of(source) == kIds);
      CHECK(words_of(source) == std::string("ids of a.bin (") + type + ", by data_type)");
    }
  };
  check(std::uint16_t{}, "uint16");
  check(std::int16_t{}, "int16");
  check(std::uint32_t{}, "uint32");
  check(std::int32_t{}, "int32");
  check(std::uint64_t{}, "uint64");
  check(std::int64_t{}, "int64");
  DataSource bytes = folder.file("a.bin", "\x07\x01\x02", 128'256);
  bytes.data_type = "uint8";
  CHECK(ids_of(bytes) == std::vector<std::int64_t>{7, 1, 2});
}

TEST_CASE("a .bin that fits two widths or none is refused with the setting that decides") {
  const Folder folder;
  const auto said = [&](const std::string& content, std::int64_t vocabulary) {
    const std::string message = refusal(folder.file("a.bin", content, vocabulary));
    CHECK(contains(message, "data_type"));
    return message;
  };
  // Too few ids to tell 32 bits from 16 bits with zeros at every second place.
  CHECK(contains(said(stored<std::uint32_t>(), 300), "both as uint16 and as uint32"));
  CHECK(contains(said(stored<std::uint64_t>(), 65'537), "both as uint32 and as uint64"));
  CHECK(contains(said(as<std::uint16_t>({1, 2, 3}), 256), "both as uint8 and as uint16"));
  CHECK(contains(said(std::string(4000, '\0'), 300), "both as uint16 and as uint32"));
  // Characters are 8-bit ids; pairs of characters are 16-bit ids.
  for (const std::string text :
       {"To be, or not to be: that is the question.\n", "Où est la bibliothèque municipale ?\r\n"})
    CHECK(contains(said(text + text, 65'536), "both as uint8 and as uint16"));
  CHECK_FALSE(contains(said("To be, or not to be\n", 300), "both as uint8"));  // 16-bit ids do not fit
  // One id too few, and just enough.
  CHECK(contains(said(as<std::uint32_t>(std::vector<std::int64_t>(31, 7)), 300), "both as uint16 and as uint32"));
  CHECK(ids_of(folder.file("a.bin", as<std::uint32_t>(std::vector<std::int64_t>(32, 7)), 300)).size() == 32);
  // A vocabulary beyond 16 bits; ids of another model.
  CHECK(contains(said(as<std::uint16_t>(text_like(50'257)), 128'256), "as uint32, but the model's vocabulary"));
  CHECK(contains(said(as<std::uint16_t>(text_like(60'000)), 50'257), "as uint16, but the model's vocabulary"));
  CHECK(contains(said(stored<std::uint16_t>(), 299), "id 299 at place 1 as uint16"));
}

TEST_CASE("a .bin of another layout is refused even if all ids are valid") {
  const Folder folder;
  const auto said = [&](const std::string& content, std::int64_t vocabulary) {
    return refusal(folder.file("a.bin", content, vocabulary));
  };
  // int32 with -1 for ignored tokens; as uint16, -1 is twice 65,535.
  std::vector<std::int64_t> labels = text_like(65'536);
  for (std::size_t i = 0; i < labels.size(); i += 20) labels[i] = -1;
  CHECK(contains(said(as<std::int32_t>(labels), 65'536), "zeros in nearly every second place as uint16"));
  // Big-endian.
  std::string swapped = as<std::uint16_t>(text_like(256));
  for (std::size_t i = 0; i + 1 < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
  CHECK(contains(said(swapped, 256), "zeros in nearly every second place as uint8"));
  // Containers named .bin.
  CHECK(contains(said("PK\x03\x04 and more", 300), "zip archive"));
  CHECK(contains(said("PAR1 and more ..", 300), "Parquet"));
}

TEST_CASE("a .bin whose size is not a whole number of ids is refused") {
  const Folder folder;
  const auto said = [&](const std::string& content, std::int64_t vocabulary) {
    return refusal(folder.file("a.bin", content, vocabulary));
  };
  CHECK(contains(said(as<std::uint16_t>(text_like(300)) + "x", 300),
                 "2001 bytes of ids, which is not a whole number of uint16"));
  CHECK(contains(said(as<std::uint32_t>(text_like(128'256)) + "xx", 128'256), "not a whole number of uint32"));
  // 32-bit ids truncated to whole 16-bit ids.
  CHECK(contains(said(as<std::uint32_t>(text_like(300)).substr(0, 3998), 300), "not a whole number of uint32"));
  CHECK(ids_of(folder.file("a.bin", as<std::uint8_t>(text_like(256, 999)), 256)).size() == 999);
  DataSource typed = folder.file("a.bin", "12345", 300);
  typed.data_type = "uint16";
  CHECK(contains(refusal(typed), "not a whole number of uint16"));
}

TEST_CASE("headers and indexes of other programs decide the type of ids") {
  const Folder folder;
  const auto litgpt = [](std::uint8_t code) {
    return "LITPKDS" + bytes_of(std::vector<std::uint64_t>{1}) + static_cast<char>(code) +
           bytes_of(std::vector<std::uint64_t>{4});
  };
  const DataSource packed = folder.file("a.bin", litgpt(4) + stored<std::int32_t>());
  CHECK(ids_of(packed) == kIds);
  CHECK(words_of(packed) == "ids of a.bin (int32, by litgpt's header)");
  CHECK(ids_of(folder.file("a.bin", litgpt(8) + stored<std::uint16_t>())) == kIds);
  CHECK(contains(refusal(folder.file("a.bin", litgpt(6) + stored<std::int32_t>())), "does not contain whole numbers"));

  write_bytes(folder.path() / "b.idx",
              std::string("MMIDIDX\0\0", 9) + bytes_of(std::vector<std::uint64_t>{1}) + '\x04' + "and more");
  const DataSource indexed = folder.file("b.bin", stored<std::int32_t>());
  CHECK(ids_of(indexed) == kIds);
  CHECK(words_of(indexed) == "ids of b.bin (int32, by b.idx)");

  const DataSource renamed = folder.file("c.bin", npy("<i8", "(4,)", stored<std::int64_t>()));
  CHECK(ids_of(renamed) == kIds);
}

TEST_CASE("a data_type that contradicts the file is refused") {
  const Folder folder;
  const auto said = [](DataSource source, const char* type) {
    source.data_type = type;
    return refusal(source);
  };
  const DataSource array = folder.file("a.npy", npy("<u2", "(4,)", stored<std::uint16_t>()));
  CHECK(contains(said(array, "uint32"), "has uint16 ids, but data_type is uint32"));
  CHECK(said(array, "uint16").empty());
  const DataSource headed = folder.file("b.bin", llmc(20240520, 1, 4, stored<std::uint16_t>()));
  CHECK(contains(said(headed, "int64"), "has uint16 ids by llm.c's header, but data_type is int64"));
  CHECK(contains(said(folder.file("a.txt", "words"), "uint16"), "is text; remove data_type"));
}

TEST_CASE("the header of llm.c decides the width of ids") {
  const Folder folder;
  CHECK(ids_of(folder.file("a.bin", llmc(20240520, 1, 4, stored<std::uint16_t>()), 100'000)) == kIds);
  const DataSource wide = folder.file("b.bin", llmc(20240801, 7, 4, stored<std::uint32_t>()), 300);
  CHECK(ids_of(wide) == kIds);
  CHECK(words_of(wide) == "ids of b.bin (uint32, by llm.c's header)");
  CHECK(contains(refusal(folder.file("e.bin", llmc(20240520, 3, 4, stored<std::uint16_t>()))), "in version 3"));
  CHECK(
      contains(refusal(folder.file("c.bin", llmc(20240520, 1, 5, stored<std::uint16_t>()))), "its header says 5 ids"));
  CHECK(contains(refusal(folder.file("d.bin", llmc(20240520, 1, 0, ""))), "has no ids"));
}

TEST_CASE("an array that is not one row of ids is refused with the cure") {
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
  CHECK(contains(said(npy("<u2", "(4,)", data).substr(0, 40)), "ends inside its header"));
  CHECK(contains(said("some words"), "not a .npy file"));
  CHECK(contains(said(npy("<i8", "(1,)", bytes_of(std::vector<std::int64_t>{-1}))), "id -1 at place 0"));
  CHECK(contains(said(npy("<i4", "(1,)", bytes_of(std::vector<std::int32_t>{-100}))), "id -100 at place 0"));
  CHECK(contains(said(npy("<u2", "(4,)", bytes_of(std::vector<std::uint16_t>{1, 2, 300, 4}))), "id 300 at place 2"));
}

TEST_CASE("a text is read as bytes or as the tokenizer's ids") {
  const Folder folder;
  DataSource text = folder.file("a.txt", "caf\xC3\xA9 \xF0\x9F\xA6\x99");
  CHECK(ids_of(text) == std::vector<std::int64_t>{'c', 'a', 'f', 0xC3, 0xA9, ' ', 0xF0, 0x9F, 0xA6, 0x99});
  CHECK(words_of(text) == "bytes of a.txt");
  text.tokenizer = kTokenFixtures / "gpt2.json";
  text.vocabulary = 1000;
  const auto expected = tokens::encode(tokens::read_tokenizer(text.tokenizer).value(), content_of(text.file));
  CHECK(ids_of(text) == std::vector<std::int64_t>(expected.begin(), expected.end()));
  CHECK(words_of(text) == "gpt2.json of " + kTokenFixtures.string());
  text.vocabulary = 400;
  CHECK(contains(refusal(text), "the model's vocabulary has 400 tokens"));
  const DataSource ids = folder.file("b.npy", npy("<u2", "(4,)", stored<std::uint16_t>()));
  CHECK(words_of(ids) == "ids of b.npy (uint16)");
}

TEST_CASE("a text to train on must exist, not be empty and be UTF-8") {
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
  CHECK(contains(refusal(folder.file("ids.npz", "PK\x03\x04\xFF")), "zip archive"));
  CHECK(contains(refusal(folder.file("ids.npz", "PK\x03\x04\xFF")), "numpy.save("));
  CHECK(contains(refusal(folder.file("rows.parquet", "PAR1\xFF")), "Parquet file"));
  const auto kind = [&](const std::string& content) { return refusal(folder.file("a.txt", content + "\xFF")); };
  CHECK(contains(kind("ARROW1"), "Arrow file"));
  CHECK(contains(kind(std::string("\xFF\xFF\xFF\xFF\x10\0\0\0", 8)), "Arrow stream"));
  CHECK(contains(kind("\x89HDF"), "HDF5 file"));
  CHECK(contains(kind(std::string("\x1F\x8B\x08\0", 4)), "compressed by gzip"));
  CHECK(contains(kind("\x28\xB5\x2F\xFD"), "compressed by zstd"));
  CHECK(contains(kind("\x80\x02\x8A\x0A"), "pickle"));
  CHECK(contains(kind("\x80\x04\x95"), "pickle"));
}
