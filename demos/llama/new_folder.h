// A folder that appears whole: its files are made beside it, with their room, and it gets its name at the end.
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

// All errors are kNotWritten and name the folder and the system's reason.
class NewFolder {
 public:
  // Whether a folder of this name could be made: nothing is there, and what it is to be in is.
  static record::Status check(const std::filesystem::path& path);
  static record::Result<std::unique_ptr<NewFolder>> create(const std::filesystem::path& path);
  // Removes what was written, unless commit() has given it its name.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  // A file of so many bytes, all of them reserved: a full disk is met here, before a step.
  record::Status reserve(const std::string& file, std::uint64_t bytes);
  // Into a file that was reserved.
  record::Status write(const std::string& file, std::uint64_t begin, std::span<const std::byte> bytes);
  record::Status put(const std::string& file, std::string_view content);
  // Makes all durable and names the folder; where one has come there meanwhile, that one stays.
  record::Status commit();

  const std::filesystem::path& path() const { return path_; }

 private:
  NewFolder(std::filesystem::path path, std::filesystem::path beside);
  record::Error error(int number) const;

  const std::filesystem::path path_, beside_;
  std::map<std::string, int> files_;  // and their descriptors
  bool named_ = false;
};

}  // namespace headroom::llama
