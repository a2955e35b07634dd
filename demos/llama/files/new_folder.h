// A folder that appears only once it is complete. Until then it has a temporary name and reserved space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "demos/record/result.h"

namespace headroom::llama {

// Errors are kNotWritten and give the system's reason.
class NewFolder {
 public:
  // Fails if `path` exists or its parent does not.
  static record::Status check(const std::filesystem::path& path);
  static record::Result<std::unique_ptr<NewFolder>> create(const std::filesystem::path& path);
  // Removes everything unless commit() succeeded.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // Notices a full disk before the first step.
  record::Status reserve(const std::string& file, std::uint64_t bytes);
  // Call reserve() first.
  record::Status write(const std::string& file, std::uint64_t begin, std::span<const std::byte> bytes);
  record::Status put(const std::string& file, std::string_view content);
  // Flushes everything to disk and renames the folder; never replaces an existing one.
  record::Status commit();

 private:
  NewFolder(std::filesystem::path path, std::filesystem::path beside);
  record::Error error(int number) const;

  const std::filesystem::path path_, beside_;
  std::map<std::string, int> files_;  // name → descriptor
  bool named_ = false;
};

}  // namespace headroom::llama
