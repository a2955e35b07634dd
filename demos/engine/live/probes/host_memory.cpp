// Reads /proc/meminfo and the limits of control groups.
#include "demos/engine/live/probes/host_memory.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>

namespace headroom::live {

using record::Bytes;

namespace {

// The number after `key` on the line that starts with it; 0: none.
Bytes number_after(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) return std::strtoll(line.c_str() + key.size(), nullptr, 10);
  }
  return 0;
}

std::optional<Bytes> number_in(const std::string& path) {
  std::ifstream file(path);
  Bytes number = 0;
  return file >> number ? std::optional(number) : std::nullopt;  // fails for "max"
}

struct GroupFiles {
  const char *limit, *usage;
  const char *old_cache, *new_cache;  // keys in memory.stat
};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file ", "active_file "};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                               "total_active_file "};

struct Group {
  std::string mounted, path;  // path: "/batch/job", below `mounted`
  const GroupFiles* files;
};

// Parses a line of /proc/self/cgroup: "0::/batch/job" (version 2), "4:cpu,memory:/batch/job" (version 1).
std::optional<Group> memory_group(const std::string& line, const std::string& root) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const std::string path = line.substr(second + 1);
  if (controllers == ",,") return Group{root + "/sys/fs/cgroup", path, &kVersion2};
  if (controllers.find(",memory,") == std::string::npos) return std::nullopt;
  return Group{root + "/sys/fs/cgroup/memory", path, &kVersion1};
}

void apply_limit(HostMemory& memory, Bytes machine_total, const std::string& folder, const GroupFiles& files) {
  const std::optional<Bytes> limit = number_in(folder + files.limit);
  if (!limit || *limit >= machine_total) return;
  const std::string stat = folder + "memory.stat";
  const Bytes cache = number_after(stat, files.old_cache) + number_after(stat, files.new_cache);
  const Bytes used = number_in(folder + files.usage).value_or(0) - cache;
  memory.total = std::min(memory.total, *limit);
  memory.available = std::clamp<Bytes>(*limit - used, 0, memory.available);
}

}  // namespace

HostMemory host_memory(const std::string& root) {
  constexpr Bytes kUnit = 1024;  // "kB" in /proc
  const std::string meminfo = root + "/proc/meminfo";
  const Bytes machine_total = number_after(meminfo, "MemTotal:") * kUnit;
  HostMemory memory{.total = machine_total, .available = number_after(meminfo, "MemAvailable:") * kUnit};
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::optional<Group> group = memory_group(line, root);
    if (!group) continue;
    // Limits of parent groups apply as well.
    for (std::string path = group->path;;) {
      apply_limit(memory, machine_total, group->mounted + path + "/", *group->files);
      const std::size_t parent = path.rfind('/');
      if (parent == std::string::npos) break;
      path.resize(parent);
    }
  }
  return memory;
}

std::string large_pages(const std::string& root) {
  std::ifstream file(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string word; file >> word;)  // "always [madvise] never"
    if (word.size() > 2 && word.front() == '[' && word.back() == ']') return word.substr(1, word.size() - 2);
  return "";
}

}  // namespace headroom::live
