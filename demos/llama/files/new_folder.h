// A folder that appears only once it is complete. Until then it has a temporary name and reserved space. The ranks of a
// run fill one folder.
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
  // `run`: the name of a run of several ranks, which is part of the temporary name; empty: a random one.
  static record::Result<std::unique_ptr<NewFolder>> create(const std::filesystem::path& path,
                                                           const std::string& run = "");
  // For the other ranks, after one rank has called create() and reserved the files.
  static std::unique_ptr<NewFolder> join(const std::filesystem::path& path, const std::string& run);
  // Removes everything unless commit() succeeded. A folder that another rank created stays.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  bool created_here() const { return created_here_; }
  // Notices a full disk before the first step. Opens the file if another rank reserved it.
  record::Status reserve(const std::string& file, std::uint64_t bytes);
  // Call reserve() first.
  record::Status write(const std::string& file, std::uint64_t begin, std::span<const std::byte> bytes);
  record::Status put(const std::string& file, std::string_view content);
  // Flushes this rank's writes to disk.
  record::Status flush();
  // Flushes everything to disk and renames the folder; never replaces an existing one. For the rank that created it.
  record::Status commit();

 private:
  NewFolder(std::filesystem::path path, std::filesystem::path beside, bool created_here);
  record::Error error(int number) const;

  const std::filesystem::path path_, beside_;
  std::map<std::string, int> files_;  // name → descriptor
  const bool created_here_;
  bool named_ = false;
};

}  // namespace headroom::llama
