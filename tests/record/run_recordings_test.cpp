// Runs of several ranks: in one file, seen by programs that know one rank, truncated, damaged, and in a file per rank.
#include "demos/record/run_recordings.h"

#include "demos/record/file/chunk.h"
#include "demos/record/file/packing.h"
#include "tests/record/same.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

Recording made_rank(std::int32_t rank, std::int32_t ranks = 3, const std::string& run = "a") {
  Recording made = made_recording({.steps = 1 + rank, .every_row = true});
  RunInfo info = made.info();
  info.rank = rank;
  info.ranks = ranks;
  info.clock_start = 1'000 + rank;
  info.provenance[std::string(kRunName)] = run;
  made.set_info(std::move(info));
  return made;
}

RunRecordings made_run() { return {{made_rank(0), made_rank(1), made_rank(2)}}; }

std::vector<std::vector<std::byte>> chunks_of(const Recording& recording) {
  std::vector<std::vector<std::byte>> chunks;
  encode_chunks(recording, [&](std::span<const std::byte> chunk) { chunks.emplace_back(chunk.begin(), chunk.end()); });
  return chunks;
}

// A file with rank 0 and another chunk.
std::vector<std::byte> file_with(const TemporaryFolder& folder, std::span<const std::byte> chunk) {
  REQUIRE(made_rank(0).write(folder / "first.hrec").ok());
  std::vector<std::byte> bytes = read_bytes(folder / "first.hrec");
  bytes.insert(bytes.end(), chunk.begin(), chunk.end());
  return bytes;
}

std::string refusal(const std::filesystem::path& path) {
  const Result<RunRecordings> read = RunRecordings::read(path);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().kind == ErrorKind::kBadInput);
  CHECK(read.error().message.ends_with('.'));
  return read.error().message;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("all ranks of a run survive a round trip in one file") {
  const TemporaryFolder folder;
  const RunRecordings made = made_run();
  REQUIRE(made.write(folder / "run.hrec").ok());
  CHECK(folder.entries() == 1);
  const Result<RunRecordings> read = RunRecordings::read(folder / "run.hrec");
  REQUIRE(read.ok());
  REQUIRE(read.value().ranks.size() == 3);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    CAPTURE(rank);
    check_same(read.value().ranks[rank], made.ranks[rank]);
    CHECK_FALSE(read.value().ranks[rank].truncated());
  }
}

TEST_CASE("a program that knows one rank reads rank 0") {
  const TemporaryFolder folder;
  REQUIRE(made_run().write(folder / "run.hrec").ok());
  const Result<Recording> first = Recording::read(folder / "run.hrec");
  REQUIRE(first.ok());
  check_same(first.value(), made_rank(0));

  Recording growing;  // as older programs: a chunk of another rank is an unknown kind
  for (const auto& chunk : chunks_of(made_rank(0))) REQUIRE(growing.append_chunk(chunk).ok());
  for (const auto& chunk : chunks_of(made_rank(1))) REQUIRE(growing.append_chunk(encode_rank(1, chunk)).ok());
  check_same(growing, made_rank(0));
}

TEST_CASE("a run of one rank is read as one recording, also from format 1.5") {
  const TemporaryFolder folder;
  const Recording made = made_recording();
  REQUIRE(RunRecordings{{made}}.write(folder / "a.hrec").ok());
  REQUIRE(made.write(folder / "b.hrec").ok());
  CHECK(read_bytes(folder / "a.hrec") == read_bytes(folder / "b.hrec"));

  const std::filesystem::path old = HEADROOM_SOURCE_DIR "/assets/recordings/tiny_cpu.hrec";
  REQUIRE(read_bytes(old)[10] == std::byte{5});
  const Result<RunRecordings> read = RunRecordings::read(old);
  REQUIRE(read.ok());
  REQUIRE(read.value().ranks.size() == 1);
  const Recording& first = read.value().ranks.front();
  CHECK_FALSE(first.events().empty());
  CHECK_FALSE(first.truncated());
  CHECK(first.info().rank == 0);
  CHECK(first.info().ranks == 1);
  CHECK(first.info().clock_start == 0);
}

TEST_CASE("ranks whose chunks alternate are read, and a truncated file up to the last complete chunk of each rank") {
  const TemporaryFolder folder;
  const RunRecordings made = made_run();
  std::vector<std::vector<std::vector<std::byte>>> chunks;
  for (const Recording& rank : made.ranks) chunks.push_back(chunks_of(rank));
  std::vector<std::byte> bytes = file_header();
  for (std::size_t i = 0; i < chunks[0].size(); ++i)
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const auto chunk =
          rank == 0 ? chunks[rank][i] : encode_rank(static_cast<std::uint16_t>(rank), chunks.at(rank).at(i));
      bytes.insert(bytes.end(), chunk.begin(), chunk.end());
    }
  write_bytes(folder / "run.hrec", bytes);
  const Result<RunRecordings> whole = RunRecordings::read(folder / "run.hrec");
  REQUIRE(whole.ok());
  for (std::size_t rank = 0; rank < 3; ++rank) check_same(whole.value().ranks.at(rank), made.ranks[rank]);

  const std::vector<std::size_t> places = chunk_places(bytes);
  for (std::size_t complete = 1; complete + 1 < places.size(); ++complete) {
    for (const std::size_t cut : {places[complete], places[complete] + 1, places[complete + 1] - 1}) {
      CAPTURE(complete, cut);
      write_bytes(folder / "cut.hrec", std::span(bytes).first(cut));
      const Result<RunRecordings> read = RunRecordings::read(folder / "cut.hrec");
      REQUIRE(read.ok());
      REQUIRE(read.value().ranks.size() == 3);
      for (std::size_t rank = 0; rank < 3; ++rank) {
        CAPTURE(rank);
        const Recording& found = read.value().ranks[rank];
        Recording expected;
        for (std::size_t i = 0; 3 * i + rank < complete; ++i) REQUIRE(expected.append_chunk(chunks[rank][i]).ok());
        CHECK((found.events() == expected.events()));
        CHECK((found.collectives() == expected.collectives()));
        CHECK(found.truncated() == (cut != places[complete] || !expected.outcome()));
        CHECK(found.info().rank == static_cast<std::int32_t>(rank));
        CHECK(found.info().ranks == 3);
      }
    }
  }
}

TEST_CASE("a damaged chunk of another rank is refused") {
  const TemporaryFolder folder;
  const std::vector<std::byte> inner = encode(made_rank(1).info());
  const auto refused = [&](std::span<const std::byte> chunk) {
    write_bytes(folder / "damaged.hrec", file_with(folder, chunk));
    CHECK(Recording::read(folder / "damaged.hrec").ok());
    const std::string message = refusal(folder / "damaged.hrec");
    CHECK(contains(message, "damaged.hrec is damaged at byte "));
    return message;
  };
  const auto envelope = [](std::uint16_t rank, std::span<const std::byte> chunk) {
    Packer out;
    out.fixed16(rank);
    out.append(chunk);
    return seal(ChunkKind::kRank, out.bytes());
  };
  CHECK(envelope(1, inner) == encode_rank(1, inner));
  write_bytes(folder / "right.hrec", file_with(folder, envelope(2, inner)));
  CHECK(RunRecordings::read(folder / "right.hrec").ok());

  CHECK(contains(refused(seal(ChunkKind::kRank, {})), "a rank's chunk is shorter than its number"));
  CHECK(contains(refused(seal(ChunkKind::kRank, std::vector<std::byte>(1))), "shorter than its number"));
  CHECK(contains(refused(envelope(1, {})), "a chunk is shorter than its header"));
  CHECK(contains(refused(envelope(1, std::span(inner).first(kChunkHeaderBytes - 1))), "shorter than its header"));
  CHECK(contains(refused(envelope(1, std::span(inner).first(inner.size() - 1))), "size differs from the size"));
  CHECK(contains(refused(envelope(0, inner)), "the number of a rank is out of range"));
  CHECK(contains(refused(envelope(kMostRanks, inner)), "the number of a rank is out of range"));
  CHECK(contains(refused(envelope(1, encode_rank(2, inner))), "a rank's chunk contains another rank's"));
  for (const std::size_t at : {std::size_t{0}, std::size_t{17}, kChunkHeaderBytes + 5}) {
    std::vector<std::byte> damaged = inner;
    damaged[at] ^= std::byte{0x20};
    CHECK(contains(refused(envelope(1, damaged)), "the checksum of a chunk"));
  }
  CHECK(contains(refused(envelope(1, seal(ChunkKind::kInfo, std::as_bytes(std::span("{}"))))), "cannot be read"));
}

TEST_CASE("any changed byte of a file with several ranks is refused in a sentence or harmless") {
  const TemporaryFolder folder;
  std::vector<std::byte> bytes = file_header();
  const auto add = [&](const std::vector<std::byte>& chunk) { bytes.insert(bytes.end(), chunk.begin(), chunk.end()); };
  add(encode(made_rank(0).info()));
  for (const std::uint16_t rank : {1, 2}) {
    add(encode_rank(rank, encode(made_rank(rank).info())));
    add(encode_rank(rank, encode_rows(made_rank(rank).collectives())));
  }
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (const std::byte change : {std::byte{0x01}, std::byte{0x80}}) {
      std::vector<std::byte> changed = bytes;
      changed[at] ^= change;
      write_bytes(folder / "changed.hrec", changed);
      const Result<RunRecordings> read = RunRecordings::read(folder / "changed.hrec");
      if (read.ok())
        ++accepted;
      else
        CHECK(read.error().message.ends_with('.'));
    }
  CHECK(accepted == 4);  // changes of the minor version's two bytes
}

TEST_CASE("files of single ranks are found from any of them") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("run.hrec", "run", "a.rank1.hrec");
  const std::filesystem::path path = folder / name;
  if (name == "run.hrec") CHECK(part_path(path, 2).filename() == "run.rank2.hrec");
  for (std::int32_t rank = 0; rank < 3; ++rank) REQUIRE(made_rank(rank).write(part_path(path, rank)).ok());
  CHECK(folder.entries() == 3);
  for (std::int32_t opened = 0; opened < 3; ++opened) {
    CAPTURE(name, opened);
    const Result<RunRecordings> read = RunRecordings::read(part_path(path, opened));
    INFO((read ? "" : read.error().message));
    REQUIRE(read.ok());
    REQUIRE(read.value().ranks.size() == 3);
    for (std::int32_t rank = 0; rank < 3; ++rank)
      check_same(read.value().ranks[static_cast<std::size_t>(rank)], made_rank(rank));
  }
}

TEST_CASE("a rank whose file is missing is empty and truncated") {
  const TemporaryFolder folder;
  REQUIRE(made_rank(0).write(folder / "run.hrec").ok());
  REQUIRE(made_rank(2).write(folder / "run.rank2.hrec").ok());
  const Result<RunRecordings> read = RunRecordings::read(folder / "run.hrec");
  REQUIRE(read.ok());
  REQUIRE(read.value().ranks.size() == 3);
  const Recording& missing = read.value().ranks[1];
  CHECK(missing.truncated());
  CHECK(missing.events().empty());
  CHECK(missing.info().rank == 1);
  CHECK(missing.info().demo == "train_step");
  CHECK(missing.info().source == Source::kRecorded);
  check_same(read.value().ranks[2], made_rank(2));

  REQUIRE(made_rank(2).write(folder / "renamed.hrec").ok());
  const Result<RunRecordings> alone = RunRecordings::read(folder / "renamed.hrec");
  REQUIRE(alone.ok());
  check_same(alone.value().ranks.at(2), made_rank(2));
  CHECK(alone.value().ranks[0].truncated());
}

TEST_CASE("a part of another run is refused with its name and the cure") {
  const TemporaryFolder folder;
  REQUIRE(made_rank(0).write(folder / "run.hrec").ok());
  REQUIRE(made_rank(2).write(folder / "run.rank2.hrec").ok());
  for (const Recording& other : {made_rank(1, 3, "b"), made_rank(1, 4), made_rank(2), made_rank(1, 3, "")}) {
    REQUIRE(other.write(folder / "run.rank1.hrec").ok());
    const std::string message = refusal(folder / "run.hrec");
    CHECK(contains(message, "run.rank1.hrec is not rank 1 of the run in "));
    CHECK(contains(message, "run.hrec; move one of the two files to another folder."));
    CHECK(Recording::read(folder / "run.hrec").ok());
  }
  write_bytes(folder / "run.rank1.hrec", {});
  CHECK(contains(refusal(folder / "run.hrec"), "run.rank1.hrec is empty"));
}
