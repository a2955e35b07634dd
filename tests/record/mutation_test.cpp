// Hostile input: files and chunks changed at every place, and invalid contents with valid checksums. Nothing crashes;
// each refusal is a sentence and changes nothing.
#include <limits>
#include <random>

#include <zstd.h>

#include "demos/record/file/chunk.h"
#include "demos/record/file/json_fields.h"
#include "demos/record/file/packing.h"
#include "demos/record/ledger.h"
#include "demos/record/recording.h"
#include "demos/record/timeline.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

void check_sentence(const Error& error) {
  CHECK(error.kind == ErrorKind::kBadInput);
  CHECK(error.message.size() > 20);
  CHECK(error.message.ends_with('.'));
}

void use(const Recording& recording) {
  const Ledger ledger(recording);
  for (const TimeAxis axis : {TimeAxis::kDevice, TimeAxis::kHost, TimeAxis::kEvent}) {
    const TimeMap map(recording, axis, 0, kNever);
    (void)reduce(ledger, map, 0, map.end(), 50);
    for (const StepRange& step : steps_of(recording)) (void)phase_spans(recording, map, step, true);
  }
  (void)ledger.alive_rows(ledger.peak().event);
}

// One unpacked chunk of each kind.
std::vector<std::pair<ChunkKind, std::vector<std::byte>>> contents() {
  const Recording made = made_recording({.device = DeviceKind::kGpu, .steps = 2, .out_of_memory = true});
  const std::string names[] = {"attention", "mlp"};
  const Nanoseconds times[] = {1, 2, 3};
  const Measurement measurements[] = {{.panel = "a", .median = 1, .high = 2}, {.panel = "b", .error = 0.5}};
  const KernelSpan spans[] = {{.start = 5, .duration = 2, .kind = SpanKind::kRuntimeCall},
                              {.start = 9, .duration = 40, .bytes = 4'096, .correlation = 7, .step = 1, .name = 1}};
  const Collective collectives[] = {
      {.issued = 3, .begin = 5, .end = 9, .bytes = 1 << 20, .step = 0, .layer = 1, .ranks = 2},
      {.issued = 7, .begin = 9, .end = 9, .sequence = 1, .kind = CollectiveKind::kAllToAll, .axis = Axis::kExpert}};
  const KernelReport report{.messages = {{.line = 1, .text = "a"}}, .kernels = {{.name = "b"}}, .error = 0.5};
  const SweepPoint points[] = {{.series = "a",
                                .params = {{"batch", "4"}},
                                .outcome = *made.outcome(),
                                .peak = {.by_category = {1, 2}},
                                .tokens_per_second = 2,
                                .tokens_per_second_low = 1,
                                .tokens_per_second_high = 3,
                                .loss = 0.5},
                               {.label = "b"}};
  std::vector<std::pair<ChunkKind, std::vector<std::byte>>> found;
  for (const std::vector<std::byte>& chunk :
       {encode(made.info()), encode_rows(std::span(made.events()).first(12)),
        encode_rows(std::span(made.marks()).first(6)), encode_device_times(times), encode_rows(made.counters()),
        encode_rows(made.metrics()), encode_operators(1, names), encode_dropped(3), encode_rows(measurements),
        encode_rows(spans), encode_rows(collectives), encode(report), encode_rows(points), encode(*made.outcome())}) {
    const auto header = std::get<ChunkHeader>(open_header(chunk));
    found.emplace_back(header.kind, std::get<std::vector<std::byte>>(
                                        open_payload(header, std::span(chunk).subspan(kChunkHeaderBytes))));
  }
  return found;
}

// Accepts every kind of chunk.
Recording target() {
  Recording recording = made_recording({.steps = 1, .finished = false});
  const Mark waiting[4] = {};
  recording.append(waiting);
  return recording;
}

struct Counts {
  std::size_t events, marks, counters, metrics, measurements, kernel_spans, sweep_points, collectives;
  std::uint64_t dropped;
  bool outcome;
  bool operator==(const Counts&) const = default;
};
Counts counts(const Recording& r) {
  return {r.events().size(),       r.marks().size(),        r.counters().size(),     r.metrics().size(),
          r.measurements().size(), r.kernel_spans().size(), r.sweep_points().size(), r.collectives().size(),
          r.dropped_events(),      r.outcome().has_value()};
}

}  // namespace

TEST_CASE("a file with one changed byte is refused in a sentence or read") {
  const TemporaryFolder folder;
  REQUIRE(made_recording({.device = DeviceKind::kGpu, .steps = 1}).write(folder / "a.hrec").ok());
  const std::vector<std::byte> bytes = read_bytes(folder / "a.hrec");
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const std::byte change : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      std::vector<std::byte> changed = bytes;
      changed[at] ^= change;
      write_bytes(folder / "changed.hrec", changed);
      const Result<Recording> read = Recording::read(folder / "changed.hrec");
      if (read.ok())
        ++accepted;
      else
        check_sentence(read.error());
    }
  }
  CHECK(accepted == 6);  // changes of the minor version's two bytes
}

TEST_CASE("a file truncated anywhere is refused in a sentence or read as truncated") {
  const TemporaryFolder folder;
  REQUIRE(made_recording({.steps = 1}).write(folder / "a.hrec").ok());
  const std::vector<std::byte> bytes = read_bytes(folder / "a.hrec");
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    write_bytes(folder / "cut.hrec", std::span(bytes).first(cut));
    const Result<Recording> read = Recording::read(folder / "cut.hrec");
    if (!read.ok()) {
      check_sentence(read.error());
      continue;
    }
    CHECK(read.value().truncated());
    use(read.value());
  }
}

TEST_CASE("changed contents with a valid checksum are refused or usable") {
  for (const auto& [kind, content] : contents()) {
    CAPTURE(static_cast<int>(kind));
    std::size_t refused = 0;
    for (std::size_t at = 0; at < content.size(); ++at) {
      for (const std::byte change :
           {std::byte{0x01}, std::byte{0x08}, std::byte{0x40}, std::byte{0x80}, std::byte{0xff}}) {
        std::vector<std::byte> changed = content;
        changed[at] ^= change;
        Recording recording = target();
        const Counts before = counts(recording);
        const Status status = recording.append_chunk(seal(kind, changed));
        if (status.ok()) {
          use(recording);
          continue;
        }
        ++refused;
        check_sentence(status.error());
        CHECK(counts(recording) == before);
      }
    }
    CHECK(refused > 0);
    const auto check_refused = [kind = kind](std::span<const std::byte> wrong) {
      Recording recording = target();
      const Counts before = counts(recording);
      const Status status = recording.append_chunk(seal(kind, wrong));
      REQUIRE_FALSE(status.ok());
      check_sentence(status.error());
      CHECK(counts(recording) == before);
    };
    for (std::size_t cut = 0; cut < content.size(); ++cut) check_refused(std::span(content).first(cut));
    std::vector<std::byte> longer = content;
    longer.push_back(std::byte{'}'});
    check_refused(longer);
  }
}

TEST_CASE("random contents are refused or usable") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 4'000; ++round) {
    std::vector<std::byte> content(random() % 120);
    for (std::byte& byte : content) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 8);
    Recording recording = target();
    const Status status = recording.append_chunk(seal(static_cast<ChunkKind>(1 + random() % 17), content));
    if (status.ok())
      use(recording);
    else
      check_sentence(status.error());
  }
}

TEST_CASE("values that are out of range are refused by name") {
  const auto refusal = [](auto change) {
    MemEvent event{.time = 5, .storage = 1, .requested = 100, .block = 512, .device = DeviceKind::kGpu};
    change(event);
    Recording recording;
    const Status status = recording.append_chunk(encode_rows(std::span(&event, 1)));
    REQUIRE_FALSE(status.ok());
    CHECK(recording.events().empty());
    return status.error().message;
  };
  CHECK(refusal([](MemEvent& e) { e.kind = static_cast<EventKind>(6); }) ==
        "A part of the recording is invalid: a kind of event is out of range; run it again.");
  CHECK(refusal([](MemEvent& e) { e.category = static_cast<Category>(7); }).find("a category is out of range") !=
        std::string::npos);
  CHECK(refusal([](MemEvent& e) { e.phase = static_cast<Phase>(8); }).find("a phase is out of range") !=
        std::string::npos);
  CHECK(refusal([](MemEvent& e) { e.layer = kNoLayer + 1; }).find("a layer is out of range") != std::string::npos);
  CHECK(refusal([](MemEvent& e) { e.requested = -1; }).find("a request is out of range") != std::string::npos);
  CHECK(refusal([](MemEvent& e) { e.block = (Bytes{1} << 50) + 1; }).find("a block's size is out of range") !=
        std::string::npos);
  CHECK(refusal([](MemEvent& e) { e.time = (Nanoseconds{1} << 61) + 1; }).find("an event's time is out of range") !=
        std::string::npos);

  const auto span_refusal = [](KernelSpan span) {
    Recording target;
    const Status status = target.append_chunk(encode_rows(std::span(&span, 1)));
    REQUIRE_FALSE(status.ok());
    CHECK(target.kernel_spans().empty());
    return status.error().message;
  };
  CHECK(span_refusal({.kind = static_cast<SpanKind>(5)}).find("a kind of span is out of range") != std::string::npos);
  CHECK(span_refusal({.duration = -1}).find("a kernel's duration is out of range") != std::string::npos);
  CHECK(span_refusal({.bytes = -2}).find("a kernel's bytes is out of range") != std::string::npos);

  const auto collective_refusal = [](Collective collective) {
    Recording target;
    const Status status = target.append_chunk(encode_rows(std::span(&collective, 1)));
    REQUIRE_FALSE(status.ok());
    CHECK(target.collectives().empty());
    return status.error().message;
  };
  CHECK(collective_refusal({.kind = static_cast<CollectiveKind>(8)}).find("a kind of collective is out of range") !=
        std::string::npos);
  CHECK(collective_refusal({.axis = static_cast<Axis>(6)}).find("an axis is out of range") != std::string::npos);
  CHECK(collective_refusal({.begin = 5, .end = 4}).find("a collective's end is out of range") != std::string::npos);
  CHECK(collective_refusal({.bytes = -1}).find("a collective's bytes is out of range") != std::string::npos);
  CHECK(collective_refusal({.ranks = 0}).find("a number of ranks is out of range") != std::string::npos);

  // Steps are displayed from 1, which must not overflow.
  const Mark last_step{.step = std::numeric_limits<std::int32_t>::max()};
  Recording recording;
  const Status status = recording.append_chunk(encode_rows(std::span(&last_step, 1)));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.find("a step is out of range") != std::string::npos);
}

TEST_CASE("sizes are checked before memory is taken") {
  const auto chunk = [](ChunkKind kind, std::uint32_t raw, std::vector<std::byte> payload, std::uint32_t stored) {
    Packer out;
    out.fixed32(static_cast<std::uint32_t>(kind));
    out.fixed32(stored);
    out.fixed32(raw);
    out.fixed32(crc32c(payload));
    out.fixed32(crc32c(out.bytes()));
    out.append(payload);
    return out.take();
  };
  const auto refusal = [](std::span<const std::byte> bytes) {
    Recording recording;
    const Status status = recording.append_chunk(bytes);
    REQUIRE_FALSE(status.ok());
    return status.error().message;
  };
  CHECK(refusal(chunk(ChunkKind::kEvents, 0xffffffffU, {}, 0)).find("larger than 64 MiB") != std::string::npos);
  CHECK(refusal(chunk(ChunkKind::kEvents, 10, {}, 0xffffffffU)).find("larger than 64 MiB") != std::string::npos);
  CHECK(refusal(chunk(ChunkKind::kEvents, 10, {}, 5)).find("size differs from the size in its header") !=
        std::string::npos);

  // 100 MB of zeros in a frame whose header promises ten bytes.
  const std::vector<std::byte> zeros(100'000'000);
  std::vector<std::byte> bomb(ZSTD_compressBound(zeros.size()));
  bomb.resize(ZSTD_compress(bomb.data(), bomb.size(), zeros.data(), zeros.size(), 1));
  CHECK(refusal(chunk(ChunkKind::kEvents, 10, bomb, static_cast<std::uint32_t>(bomb.size())))
            .find("unpacked size differs from the size") != std::string::npos);

  Packer many;  // a billion rows in a few bytes
  many.varint(1'000'000'000);
  CHECK(refusal(seal(ChunkKind::kEvents, many.bytes())).find("fewer rows than its header says") != std::string::npos);
  Packer names;
  names.varint(65'000);
  names.varint(10'000);
  for (int i = 0; i < 10'000; ++i) names.varint(0);
  CHECK(refusal(seal(ChunkKind::kOperators, names.bytes())).find("more operators than the limit") != std::string::npos);
  CHECK(refusal({}).find("shorter than its header") != std::string::npos);
}

TEST_CASE("text of the run's info is checked") {
  const std::string good = to_json(made_recording().info());
  REQUIRE(from_json<RunInfo>(good).has_value());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return from_json<RunInfo>(text.replace(at, from.size(), to));
  };
  CHECK(with("\"cap\":0", "\"cap\":7")->cap == 7);
  CHECK(with("\"cap\":0", "\"cap\":0,\"new\":[1,{}]").has_value());  // a later version's field
  CHECK_FALSE(with("\"cap\":0", "\"cap\":-1"));
  CHECK_FALSE(with("\"cap\":0", "\"cap\":1.5"));
  CHECK_FALSE(with("\"cap\":0", "\"cap\":18446744073709551615"));
  CHECK_FALSE(with("\"cap\":0", "\"cap\":\"0\""));
  CHECK_FALSE(with("\"cap\":0,", ""));
  CHECK_FALSE(with("\"cpu\"", "\"tpu\""));
  CHECK(with("\"rank\":0,", "")->rank == 0);  // older files lack these fields
  CHECK(with("\"ranks\":1,", "")->ranks == 1);
  CHECK(with("\"clock_start\":0,", "")->clock_start == 0);
  CHECK(with("\"rank\":0,\"ranks\":1", "\"rank\":3,\"ranks\":4")->rank == 3);
  CHECK_FALSE(with("\"rank\":0", "\"rank\":1"));  // of one
  CHECK_FALSE(with("\"rank\":0", "\"rank\":-1"));
  CHECK_FALSE(with("\"ranks\":1", "\"ranks\":0"));
  CHECK_FALSE(with("\"clock_start\":0", "\"clock_start\":-1"));
  CHECK_FALSE(with("\"batch\":\"4\"", "\"batch\":4"));
  CHECK_FALSE(with("\"cap\":0", "\"cap\":0,\"deep\":" + std::string(100'000, '[') + std::string(100'000, ']')));
  CHECK_FALSE(with("}", ""));
  for (const char* text : {"", "null", "[]", "7", "\"", "{", "{\"demo\":\xff}"}) CHECK_FALSE(from_json<RunInfo>(text));
  CHECK_FALSE(from_json<Outcome>("{\"kind\":\"won\",\"message\":\"\"}"));
  CHECK_FALSE(from_json<Outcome>("{\"kind\":\"completed\",\"message\":\"\",\"out_of_memory\":{}}"));
  CHECK(from_json<Outcome>("{\"kind\":\"completed\",\"message\":\"\"}").has_value());
}

TEST_CASE("bytes that are not UTF-8 in a path do not stop a recording") {
  RunInfo info;
  info.params["data"] = "/tmp/\xff\xfe.txt";
  Recording recording;
  REQUIRE(recording.append_chunk(encode(info)).ok());
  CHECK(recording.info().params.at("data") == "/tmp/\uFFFD\uFFFD.txt");
  const std::string bad_name[] = {"\xc3\x28"};
  CHECK_FALSE(recording.append_chunk(encode_operators(1, bad_name)).ok());
}
