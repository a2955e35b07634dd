// A folder for a test's files.
#pragma once

#include <stdlib.h>  // mkdtemp
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace headroom::tests {

// A new folder, removed with the object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "headroom-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  // Does not call remove_all(): LibTorch exports a version from another compiler, which crashes.
  ~TemporaryFolder() {
    ::chmod(path_.c_str(), S_IRWXU);  // a test may have made it read-only
    std::error_code ignored;
    std::vector<std::filesystem::path> all{path_};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_, ignored)) all.push_back(entry.path());
    for (auto path = all.rbegin(); path != all.rend(); ++path) std::filesystem::remove(*path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  // Sorted names, including those in subfolders.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(path_).string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace headroom::tests
