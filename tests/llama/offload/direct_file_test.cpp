// A file for optimizer state: round trips, full disks, and no name left behind.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "demos/engine/llama/host/direct_file.h"
#include "demos/engine/llama/host/state_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_folder.h"

namespace {

using namespace headroom;
using llama::DirectFile;
using llama::HostArena;
using llama::StateFile;

class Folder : public tests::TemporaryFolder {
 public:
  using TemporaryFolder::TemporaryFolder;
  std::filesystem::path file() const { return path() / "state"; }
  bool empty() const { return entries() == 0; }
};

// Limits this process's file size.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t most) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit less{.rlim_cur = most, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &less);
  }
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("pieces survive a round trip through a file, on a disk and in memory") {
  const std::string parent = GENERATE(as<std::string>{}, std::filesystem::temp_directory_path().string(), "/dev/shm");
  if (!std::filesystem::exists(parent)) return;
  CAPTURE(parent);
  const Folder folder(parent);
  constexpr record::Bytes kPiece = 10000, kPieces = 7;
  auto file = DirectFile::create(folder.file(), kPieces * StateFile::room(kPiece));
  REQUIRE(file.ok());
  CHECK(folder.empty());  // the name is removed
  const int direct = open(folder.file().c_str(), O_RDWR | O_CREAT | O_DIRECT, 0600);
  CHECK(file.value()->direct() == (direct >= 0));
  if (direct >= 0) close(direct);
  HostArena arena(at::kCPU);
  StateFile states(std::move(file).value(), kPiece, arena);
  const auto each = [&](const auto& see) {
    states.ahead(0, kPiece);
    for (int i = 0; i < kPieces; ++i) {
      if (i + 1 < kPieces) states.ahead((i + 1) * StateFile::room(kPiece), kPiece);
      see(i, states.take());
      states.put_back();
    }
    states.finish();
  };
  each([](int i, at::Tensor memory) {
    CHECK(memory.narrow(0, 0, kPiece).max().item<int>() == 0);  // a new file is zeros
    memory.narrow(0, 0, kPiece).fill_(i + 1);
  });
  each([](int i, const at::Tensor& memory) {
    CHECK(memory.narrow(0, 0, kPiece).min().item<int>() == i + 1);
    CHECK(memory.narrow(0, 0, kPiece).max().item<int>() == i + 1);
  });
  const llama::FileTraffic read = states.take_read(), written = states.take_written();
  CHECK(read.bytes == 2 * kPieces * StateFile::room(kPiece));
  CHECK(written.bytes == read.bytes);
  CHECK(read.time > 0);
  CHECK(written.time > 0);
}

TEST_CASE("the time of overlapping transfers counts once") {
  constexpr record::Bytes kPiece = 16 << 20;
  auto file = DirectFile::create({}, 3 * kPiece);
  REQUIRE(file.ok());
  HostArena arena(at::kCPU);
  StateFile states(std::move(file).value(), kPiece, arena);
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i) states.ahead(i * kPiece, kPiece);
    for (int i = 0; i < 3; ++i) {
      states.take();
      states.put_back();
    }
  }
  states.finish();
  const auto all = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  const llama::FileTraffic read = states.take_read(), written = states.take_written();
  CHECK(read.bytes == 15 * kPiece);
  CHECK(written.bytes == 15 * kPiece);
  CHECK(read.time <= all);
  CHECK(written.time <= all);
}

TEST_CASE("a file that does not fit on the disk is refused before a write, and leaves nothing") {
  const Folder folder;
  const SmallFiles small(1 << 20);
  const auto file = DirectFile::create(folder.file(), 2 << 20);
  REQUIRE(!file.ok());
  CHECK(file.error().message == "The file of the optimizer's state \"" + folder.file().string() +
                                    "\" cannot be created: the disk has no space for 2.00 MiB; choose another place.");
  CHECK(folder.empty());
  CHECK(DirectFile::create(folder.file(), 1 << 20).ok());
}

TEST_CASE("an existing file is not changed, and a missing folder is reported") {
  const Folder folder;
  { std::ofstream(folder.file()) << "mine"; }
  const auto there = DirectFile::create(folder.file(), 4096);
  REQUIRE(!there.ok());
  CHECK(there.error().message.find("a file with that name exists") != std::string::npos);
  CHECK(std::filesystem::file_size(folder.file()) == 4);
  const auto nowhere = DirectFile::create(folder.file() / "deeper", 4096);
  REQUIRE(!nowhere.ok());
  CHECK(nowhere.error().message.find("cannot be created") != std::string::npos);
}

TEST_CASE("a failed write is reported in a sentence") {
  const Folder folder;
  auto file = DirectFile::create(folder.file(), 4096);
  REQUIRE(file.ok());
  alignas(4096) static char block[4096]{};
  const SmallFiles small(4096);
  signal(SIGXFSZ, SIG_IGN);
  try {
    file.value()->write(4096, block, 4096);
    FAIL("it was written");
  } catch (const std::runtime_error& error) {
    CHECK(std::string(error.what()).find("The optimizer's state could not be written to") == 0);
  }
  signal(SIGXFSZ, SIG_DFL);
}
