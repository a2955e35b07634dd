// Recordings are written next to their target and survive failures and interruptions.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <thread>

#include "demos/record/recording.h"
#include "tests/record/support.h"
#include "tests/support/catch.h"
#include "tests/support/made_recording.h"

using namespace headroom::record;
using namespace headroom::tests;

namespace {

std::string refusal(const Status& status) {
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == ErrorKind::kNotWritten);
  CHECK(status.error().message.ends_with('.'));
  return status.error().message;
}

// Simulates a full disk: no file may exceed `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

Recording large_recording() {
  Recording recording = made_recording();
  recording.append(random_events(2, 50'000));
  return recording;
}

}  // namespace

TEST_CASE("a recording appears under its name only when complete") {
  const TemporaryFolder folder;
  {
    Result<RecordingWriter> writer = RecordingWriter::create(folder / "a.hrec");
    REQUIRE(writer.ok());
    REQUIRE(writer.value().append(encode(RunInfo{})).ok());
    CHECK(std::filesystem::exists(folder / "a.hrec.partial"));
    CHECK_FALSE(std::filesystem::exists(folder / "a.hrec"));
    REQUIRE(writer.value().commit().ok());
    CHECK(std::filesystem::exists(folder / "a.hrec"));
    CHECK(folder.entries() == 1);
    CHECK_THROWS(writer.value().append(encode(RunInfo{})));
    CHECK_THROWS(writer.value().commit());
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("a writer without commit() leaves only the old file") {
  const TemporaryFolder folder;
  REQUIRE(made_recording().write(folder / "a.hrec").ok());
  const std::vector<std::byte> before = read_bytes(folder / "a.hrec");
  {
    Result<RecordingWriter> writer = RecordingWriter::create(folder / "a.hrec");
    REQUIRE(writer.ok());
    REQUIRE(writer.value().append(encode_dropped(1)).ok());
    RecordingWriter moved = std::move(writer).value();
    REQUIRE(moved.append(encode_dropped(1)).ok());
    CHECK(folder.entries() == 2);
  }
  CHECK(folder.entries() == 1);
  CHECK(read_bytes(folder / "a.hrec") == before);
}

TEST_CASE("a full disk is reported in one sentence and leaves only the old file") {
  const TemporaryFolder folder;
  REQUIRE(made_recording().write(folder / "a.hrec").ok());
  const std::vector<std::byte> before = read_bytes(folder / "a.hrec");
  const Recording large = large_recording();
  Status status = Ok{};
  {
    const FileSizeLimit limit(64 * 1024);
    status = large.write(folder / "a.hrec");
  }
  const std::string message = refusal(status);
  CHECK(message.find("a.hrec was not written: the disk is full (") != std::string::npos);
  CHECK(message.find(" more needed, ") != std::string::npos);
  CHECK(message.find(" free; ") != std::string::npos);
  CHECK(message.find("free some space or choose another folder.") != std::string::npos);
  CHECK(read_bytes(folder / "a.hrec") == before);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a writer that failed keeps failing in the same way") {
  const TemporaryFolder folder;
  Result<RecordingWriter> writer = RecordingWriter::create(folder / "a.hrec");
  REQUIRE(writer.ok());
  Status first = Ok{};
  {
    const FileSizeLimit limit(1024);
    first = writer.value().append(encode_rows(random_events(1, 1'000)));
  }
  const std::string message = refusal(first);
  CHECK(refusal(writer.value().append(encode_dropped(1))) == message);
  CHECK(refusal(writer.value().commit()) == message);
  CHECK(folder.entries() == 0);
}

TEST_CASE("unwritable places are named with the cure") {
  const TemporaryFolder folder;
  const Recording made = made_recording();
  CHECK(refusal(made.write(folder / "no/such/folder/a.hrec"))
            .find("its folder does not exist; create it or choose another one.") != std::string::npos);
  std::filesystem::create_directory(folder / "folder");
  CHECK(refusal(made.write(folder / "folder")).find("it is a folder; choose the name of a file.") != std::string::npos);
  CHECK(refusal(made.write("/dev/full")).find("it is not a regular file; choose another name.") != std::string::npos);
  CHECK(refusal(made.write(folder / std::string(300, 'x'))).find("choose a folder that you can write to.") !=
        std::string::npos);
  CHECK(refusal(made.write(""))
            .starts_with("\"\" was not written: it is not the name of a file; choose a name such "
                         "as a.hrec."));
  CHECK(refusal(made.write(folder / "new/")).find("it is not the name of a file") != std::string::npos);
  CHECK(refusal(made.write("/proc/self/a.hrec")).find("/proc/self/a.hrec was not written") != std::string::npos);
  CHECK(folder.entries() == 1);
}

TEST_CASE("two runs cannot record to one file at once") {
  const TemporaryFolder folder;
  Result<RecordingWriter> first = RecordingWriter::create(folder / "a.hrec");
  REQUIRE(first.ok());
  const Result<RecordingWriter> second = RecordingWriter::create(folder / "a.hrec");
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message.find("another run is being recorded there; choose another name.") != std::string::npos);
  REQUIRE(first.value().append(encode(RunInfo{})).ok());
  REQUIRE(first.value().commit().ok());
  CHECK(folder.entries() == 1);
}

TEST_CASE("a finished recording is never taken for a leftover") {
  const TemporaryFolder folder;
  std::atomic<bool> done = false;
  std::thread other([&] {  // another program requests the name
    while (!done) (void)RecordingWriter::create(folder / "a.hrec");
  });
  int committed = 0;
  for (int round = 0; round < 20'000 && committed < 300; ++round) {
    Result<RecordingWriter> writer = RecordingWriter::create(folder / "a.hrec");
    if (!writer) continue;
    const Status status = writer.value().commit();
    INFO((status ? "" : status.error().message));
    CHECK(status.ok());
    ++committed;
  }
  done = true;
  other.join();
  CHECK(committed > 0);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a killed program's leftover is readable, and the next run replaces it") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    Result<RecordingWriter> writer = RecordingWriter::create(folder / "a.hrec");
    const Recording made = made_recording();
    (void)writer.value().append(encode(made.info()));
    (void)writer.value().append(encode_rows(made.events()));
    (void)writer.value().append(std::span<const std::byte>(encode_rows(made.marks())).first(30));
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const Result<Recording> left = Recording::read(folder / "a.hrec.partial");
  REQUIRE(left.ok());
  CHECK(left.value().truncated());
  CHECK(left.value().events() == made_recording().events());
  REQUIRE(made_recording().write(folder / "a.hrec").ok());
  CHECK(folder.entries() == 1);
  CHECK_FALSE(Recording::read(folder / "a.hrec").value().truncated());
}

TEST_CASE("unusual file names work") {
  const TemporaryFolder folder;
  for (const char* name : {"with space.hrec", "\xff\xfe.hrec", "😀.hrec", ".hrec"}) {
    REQUIRE(made_recording().write(folder / name).ok());
    CHECK(Recording::read(folder / name).ok());
  }
  CHECK(folder.entries() == 4);
}
