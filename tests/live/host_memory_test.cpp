// Memory that the machine can give, read from files like the kernel's.
#include "demos/engine/live/probes/host_memory.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "tests/support/catch.h"

namespace {

namespace fs = std::filesystem;
using headroom::live::host_memory;
using headroom::live::HostMemory;
using headroom::record::kGiB;
using headroom::record::kMiB;

class Tree {
 public:
  Tree() : root_(fs::temp_directory_path() / ("headroom_memory_" + std::to_string(getpid()))) {
    write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  100 kB\nMemAvailable:   12582912 kB\n");
  }
  // LibTorch exports an fs::remove_all from an older compiler, which fails here.
  ~Tree() {
    std::error_code not_empty;
    for (const fs::path& file : files_) {
      for (fs::path path = file; path != root_.parent_path(); path = path.parent_path()) fs::remove(path, not_empty);
    }
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  void write(const fs::path& path, const std::string& text) {
    files_.push_back(root_ / path);
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  HostMemory memory() const { return host_memory(root_.string()); }
  std::string large_pages() const { return headroom::live::large_pages(root_.string()); }

 private:
  fs::path root_;
  std::vector<fs::path> files_;
};

std::string bytes(std::int64_t number) { return std::to_string(number) + "\n"; }

}  // namespace

TEST_CASE("the machine's own numbers count without control groups") {
  Tree tree;
  CHECK(tree.memory().total == 16 * kGiB);
  CHECK(tree.memory().available == 12 * kGiB);
  tree.write("proc/self/cgroup", "4:cpu,memory:/job\n0::/job\n");
  tree.write("sys/fs/cgroup/job/memory.max", "max\n");
  tree.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(tree.memory().total == 16 * kGiB);
  CHECK(tree.memory().available == 12 * kGiB);
}

TEST_CASE("a control group's limit counts, but its page cache does not") {
  Tree tree;
  tree.write("proc/self/cgroup", "1:name=systemd:/\n0::/batch/job\n");
  tree.write("sys/fs/cgroup/batch/job/memory.max", bytes(4 * kGiB));
  tree.write("sys/fs/cgroup/batch/job/memory.current", bytes(3 * kGiB));
  CHECK(tree.memory().total == 4 * kGiB);
  CHECK(tree.memory().available == 1 * kGiB);
  tree.write("sys/fs/cgroup/batch/job/memory.stat", "anon 1073741824\nfile 2147483648\ninactive_file " +
                                                        bytes(1536 * kMiB) + "active_file " + bytes(512 * kMiB));
  CHECK(tree.memory().available == 3 * kGiB);
  // A parent group may have less available.
  tree.write("sys/fs/cgroup/batch/memory.max", bytes(8 * kGiB));
  tree.write("sys/fs/cgroup/batch/memory.current", bytes(7 * kGiB));
  CHECK(tree.memory().total == 4 * kGiB);
  CHECK(tree.memory().available == 1 * kGiB);
}

TEST_CASE("limits of version 1 control groups are found inside a container") {
  Tree tree;
  tree.write("proc/self/cgroup", "3:cpuset:/docker/abc\n2:cpu,memory:/docker/abc\n");
  tree.write("sys/fs/cgroup/memory/memory.limit_in_bytes", bytes(2 * kGiB));
  tree.write("sys/fs/cgroup/memory/memory.usage_in_bytes", bytes(1 * kGiB));
  tree.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file " + bytes(512 * kMiB));
  CHECK(tree.memory().total == 2 * kGiB);
  CHECK(tree.memory().available == 1536 * kMiB);
  tree.write("sys/fs/cgroup/memory/memory.usage_in_bytes", bytes(3 * kGiB));  // briefly above the limit
  CHECK(tree.memory().available == 0);
}

TEST_CASE("the large page setting is read from the brackets") {
  Tree tree;
  CHECK(tree.large_pages().empty());
  tree.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  CHECK(tree.large_pages() == "madvise");
}

TEST_CASE("this machine reports some memory") {
  const HostMemory memory = host_memory();
  CHECK(memory.available > 0);
  CHECK(memory.available <= memory.total);
}
