// Files written and read: whole, growing, cut off, of other versions, and of other programs.
#include <cmath>
#include <limits>

#include "demos/record/file/chunk.h"
#include "demos/record/file/packing.h"
#include "demos/record/recording.h"
#include "tests/record/same.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

std::string refusal(const std::filesystem::path& path) {
  const Result<Recording> result = Recording::read(path);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().kind == ErrorKind::kBadInput);
  CHECK(result.error().message.find(path.filename().string()) != std::string::npos);
  CHECK(result.error().message.ends_with('.'));
  return result.error().message;
}

}  // namespace

TEST_CASE("an event is small") { CHECK(sizeof(MemEvent) <= 72); }

TEST_CASE("CRC-32C has the standard's value") {  // "123456789" → e3069283 (as in RFC 3720)
  CHECK(crc32c(std::as_bytes(std::span("123456789", 9))) == 0xe3069283U);
}

TEST_CASE("a file contains the whole recording") {
  const TemporaryFolder folder;
  for (const bool gpu : {false, true})
    for (const bool out_of_memory : {false, true}) {
      const Recording made = made_recording(
          {.device = gpu ? DeviceKind::kGpu : DeviceKind::kCpu, .out_of_memory = out_of_memory, .every_row = true});
      for_each_row_kind([&](const auto& kind) { CHECK_FALSE(made.rows<RowOf<decltype(kind)>>().empty()); });
      REQUIRE(made.write(folder / "a.hrec").ok());
      const Result<Recording> read = Recording::read(folder / "a.hrec");
      REQUIRE(read.ok());
      check_same(read.value(), made);
      CHECK_FALSE(read.value().truncated());
      CHECK(folder.entries() == 1);
    }
}

TEST_CASE("the same recording gives the same bytes") {
  const TemporaryFolder folder;
  REQUIRE(made_recording().write(folder / "a.hrec").ok());
  REQUIRE(made_recording().write(folder / "b.hrec").ok());
  CHECK(read_bytes(folder / "a.hrec") == read_bytes(folder / "b.hrec"));
}

TEST_CASE("extreme values survive over many chunks") {
  const TemporaryFolder folder;
  Recording recording(RunInfo{.demo = "tëst \"quoted\"\n",
                              .params = {{"data", "/a/ü.txt"}},
                              .provenance = {},
                              .device = DeviceKind::kGpu,
                              .source = Source::kPredicted,
                              .cap = 1,
                              .device_memory = Bytes{1} << 50});
  recording.append(random_events(1, 40'000));  // three chunks
  MemEvent highest;
  highest.time = Nanoseconds{1} << 61;
  highest.storage = std::numeric_limits<std::uint64_t>::max();
  highest.requested = highest.block = Bytes{1} << 50;
  highest.allocator_allocated = std::numeric_limits<Bytes>::max();
  highest.allocator_reserved = std::numeric_limits<Bytes>::min();
  highest.kind = EventKind::kOutOfMemory;
  highest.device = DeviceKind::kHost;
  highest.phase = Phase::kEvaluation;
  highest.layer = kNoLayer;
  highest.micro_batch = highest.op = 0xffff;
  highest.stream = 0xff;
  recording.append(std::span(&highest, 1));
  for (const Nanoseconds device_time : {Nanoseconds{0}, Nanoseconds{5}, kPending, Nanoseconds{1} << 61, kPending}) {
    const Mark mark{.host_time = 7,
                    .device_time = device_time,
                    .event_index = 3,
                    .step = std::numeric_limits<std::int32_t>::max() - 1,
                    .phase = Phase::kEvaluation,
                    .layer = 4094,
                    .micro_batch = 0xffff};
    recording.append(std::span(&mark, 1));
  }
  recording.append(CounterSample{-5, std::numeric_limits<std::int64_t>::min(), CounterKind::kPowerMilliwatts});
  recording.append(CounterSample{5, std::numeric_limits<std::int64_t>::max(), CounterKind::kPowerMilliwatts});
  recording.append(MetricSample{1, std::numeric_limits<double>::quiet_NaN(), -1, MetricKind::kLoss});
  recording.append(MetricSample{1, 3.5, 9, MetricKind::kEvaluationLoss});
  recording.append(MetricSample{2, -std::numeric_limits<double>::infinity(), 1, MetricKind::kTokensPerSecond});
  recording.append_operators(30, std::vector<std::string>{"attention.q_proj", "λ"});
  recording.add_dropped(17);
  REQUIRE(recording.write(folder / "a.hrec").ok());
  const Result<Recording> read = Recording::read(folder / "a.hrec");
  REQUIRE(read.ok());
  check_same(read.value(), recording);
  CHECK(read.value().op_name(31) == "λ");
  CHECK(read.value().op_name(29).empty());
  CHECK(read.value().op_name(32).empty());
  CHECK(read.value().truncated());
}

TEST_CASE("totals that follow from the events take no space") {
  const auto size = [](std::uint64_t noise) {
    std::vector<MemEvent> events = random_events(3, 10'000);
    Bytes allocated = 0;
    std::mt19937_64 random(4);
    for (MemEvent& event : events) {
      event.device = DeviceKind::kGpu;
      event.kind = event.storage % 2 == 0 ? EventKind::kAlloc : EventKind::kFree;
      allocated += event.kind == EventKind::kAlloc ? event.block : -event.block;
      event.allocator_allocated =
          noise == 2 ? kUnknownBytes : allocated + static_cast<Bytes>(noise * (random() % 100'000));
      event.allocator_reserved = kUnknownBytes;
    }
    return encode_rows(events).size();
  };
  CHECK(size(0) < size(2) + 200);
  CHECK(size(1) > size(2) + 10'000);
}

TEST_CASE("a live run is marked as recorded when read again") {
  const TemporaryFolder folder;
  Recording live = made_recording();
  live.set_source(Source::kLive);
  REQUIRE(live.write(folder / "a.hrec").ok());
  CHECK(Recording::read(folder / "a.hrec").value().info().source == Source::kRecorded);
}

TEST_CASE("a recording that grows by chunks equals the file made of them") {
  const TemporaryFolder folder;
  const Recording made = made_recording({.device = DeviceKind::kGpu, .out_of_memory = true});
  std::vector<std::vector<std::byte>> chunks{encode(made.info())};
  chunks.push_back(encode_operators(0, made.operators()));
  for (std::size_t first = 0; first < made.events().size(); first += 7)
    chunks.push_back(
        encode_rows(std::span(made.events()).subspan(first, std::min<std::size_t>(7, made.events().size() - first))));
  std::vector<Mark> pending = made.marks();
  std::vector<Nanoseconds> times;
  for (Mark& mark : pending) times.push_back(std::exchange(mark.device_time, kPending));
  chunks.push_back(encode_rows(std::span(pending).first(5)));
  chunks.push_back(encode_device_times(std::span(times).first(3)));
  chunks.push_back(encode_rows(std::span(pending).subspan(5)));
  chunks.push_back(encode_device_times(std::span(times).subspan(3)));
  chunks.push_back(encode_rows(made.counters()));
  chunks.push_back(encode_rows(made.metrics()));
  chunks.push_back(encode(*made.outcome()));

  Recording growing;
  Result<RecordingWriter> writer = RecordingWriter::create(folder / "a.hrec");
  REQUIRE(writer.ok());
  for (const auto& chunk : chunks) {
    REQUIRE(growing.append_chunk(chunk).ok());
    REQUIRE(writer.value().append(chunk).ok());
  }
  REQUIRE(writer.value().commit().ok());
  check_same(growing, made);
  const Result<Recording> read = Recording::read(folder / "a.hrec");
  REQUIRE(read.ok());
  check_same(read.value(), growing);
}

TEST_CASE("decreasing times and places are raised") {
  Recording recording;
  const MemEvent events[] = {{.time = 10}, {.time = 5}, {.time = 12}};
  recording.append(events);
  CHECK(recording.events()[1].time == 10);
  CHECK(recording.events()[2].time == 12);
  const Mark marks[] = {{.host_time = 10, .event_index = 3}, {.host_time = 9, .event_index = 2}};
  recording.append(marks);
  CHECK(recording.marks()[1].host_time == 10);
  CHECK(recording.marks()[1].event_index == 3);
}

TEST_CASE("device times are assigned to pending marks only") {
  Recording recording;
  const Mark marks[] = {{.host_time = 1}, {.host_time = 2, .device_time = 20}, {.host_time = 3}};
  recording.append(marks);
  const Nanoseconds times[] = {10, 30};
  REQUIRE(recording.append_chunk(encode_device_times(times)).ok());
  CHECK(recording.marks()[0].device_time == 10);
  CHECK(recording.marks()[1].device_time == 20);
  CHECK(recording.marks()[2].device_time == 30);
  CHECK_FALSE(recording.append_chunk(encode_device_times(std::span(times).first(1))).ok());
  CHECK_THROWS(recording.append_device_times(times));
}

TEST_CASE("a truncated file is read up to its last complete chunk") {
  const TemporaryFolder folder;
  Recording whole = made_recording();
  whole.append(random_events(5, 40'000));
  REQUIRE(whole.write(folder / "whole.hrec").ok());
  const std::vector<std::byte> bytes = read_bytes(folder / "whole.hrec");
  const std::vector<std::size_t> places = chunk_places(bytes);
  REQUIRE(places.size() > 7);
  REQUIRE(places.back() == bytes.size());
  for (std::size_t i = 1; i + 1 < places.size(); ++i) {
    for (const std::size_t cut : {places[i], places[i] + 1, places[i] + kChunkHeaderBytes - 1,
                                  places[i] + kChunkHeaderBytes, places[i + 1] - 1}) {
      CAPTURE(i, cut);
      write_bytes(folder / "cut.hrec", std::span(bytes).first(cut));
      const Result<Recording> read = Recording::read(folder / "cut.hrec");
      REQUIRE(read.ok());
      CHECK(read.value().truncated());
      CHECK_FALSE(read.value().outcome().has_value());
      CHECK(read.value().info().demo == "train_step");
      const std::vector<MemEvent>& events = read.value().events();
      CHECK(std::equal(events.begin(), events.end(), whole.events().begin()));
      const std::size_t event_chunks = std::min<std::size_t>(i < 2 ? 0 : i - 2, 3);  // info, operators, three of events
      CHECK(events.size() == std::min(event_chunks * 16'384, whole.events().size()));
    }
  }
}

TEST_CASE("a file truncated before its run info is refused") {
  const TemporaryFolder folder;
  REQUIRE(made_recording().write(folder / "whole.hrec").ok());
  const std::vector<std::byte> bytes = read_bytes(folder / "whole.hrec");
  const std::size_t first_chunk_end = chunk_places(bytes)[1];
  for (std::size_t cut = 1; cut < first_chunk_end; ++cut) {
    write_bytes(folder / "cut.hrec", std::span(bytes).first(cut));
    CHECK(refusal(folder / "cut.hrec").find("is truncated before it names its run; record the run again.") !=
          std::string::npos);
  }
  write_bytes(folder / "cut.hrec", {});
  CHECK(refusal(folder / "cut.hrec").find("is empty; record the run again.") != std::string::npos);
}

TEST_CASE("a file that is not a recording is refused with the cure") {
  const TemporaryFolder folder;
  CHECK(refusal(folder / "missing.hrec").find("cannot be opened (No such file or directory); check the path.") !=
        std::string::npos);
  std::filesystem::create_directory(folder / "folder.hrec");
  CHECK(refusal(folder / "folder.hrec").find("is a folder; choose a recording in it.") != std::string::npos);
  const std::string text = "{\"not\": \"a recording\"}";
  write_bytes(folder / "text.hrec", std::as_bytes(std::span(text)));
  CHECK(refusal(folder / "text.hrec").find("is not a Headroom recording") != std::string::npos);
}

TEST_CASE("a read error is not treated as the end of a file") {
  // A process's memory starts with an unreadable page: EIO, like a bad sector.
  CHECK(refusal("/proc/self/mem").find("cannot be read (Input/output error); check the disk or use another copy.") !=
        std::string::npos);
}

TEST_CASE("a newer major version is refused, and unknown chunks of a newer minor version are skipped") {
  const TemporaryFolder folder;
  REQUIRE(made_recording().write(folder / "a.hrec").ok());
  const std::vector<std::byte> bytes = read_bytes(folder / "a.hrec");

  std::vector<std::byte> newer = bytes;
  newer[8] = std::byte{2};
  write_bytes(folder / "newer.hrec", newer);
  CHECK(refusal(folder / "newer.hrec")
            .find("was written by a newer Headroom (file format 2, this one reads 1); update Headroom to open it.") !=
        std::string::npos);

  newer = bytes;
  newer[10] = std::byte{9};
  const std::vector<std::byte> unknown = seal(static_cast<ChunkKind>(4'711), std::as_bytes(std::span("something new")));
  newer.insert(newer.begin() + static_cast<std::ptrdiff_t>(chunk_places(bytes)[1]), unknown.begin(), unknown.end());
  write_bytes(folder / "minor.hrec", newer);
  const Result<Recording> read = Recording::read(folder / "minor.hrec");
  REQUIRE(read.ok());
  check_same(read.value(), made_recording());
}

TEST_CASE("a damaged chunk is refused with its place") {
  const TemporaryFolder folder;
  REQUIRE(made_recording().write(folder / "a.hrec").ok());
  const std::vector<std::byte> bytes = read_bytes(folder / "a.hrec");
  const std::size_t place = chunk_places(bytes)[2];
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{4}, std::size_t{8}, std::size_t{12}, std::size_t{16}, kChunkHeaderBytes + 10}) {
    std::vector<std::byte> damaged = bytes;
    damaged[place + offset] ^= std::byte{0x40};
    write_bytes(folder / "damaged.hrec", damaged);
    const std::string message = refusal(folder / "damaged.hrec");
    CHECK(message.find("is damaged at byte " + std::to_string(place) + ": the checksum of a chunk") !=
          std::string::npos);
    CHECK(message.find("use another copy or record the run again.") != std::string::npos);
  }
}
