// Maps with POSIX calls.
#include "demos/tokens/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace headroom::tokens {

namespace fs = std::filesystem;
using record::Error;

record::Result<MappedFile> MappedFile::open(const fs::path& file) {
  const std::string name = file.string();
  std::error_code failed;
  const auto status = fs::status(file, failed);
  if (!fs::exists(status)) return Error{fmt::format("There is no data file {}: check the path.", name)};
  if (fs::is_directory(status)) return Error{fmt::format("{} is a folder: use one file with text or tokens.", name)};
  // The check would empty a pipe before the engine reads it.
  if (!fs::is_regular_file(status))
    return Error{fmt::format("{} is a pipe or a device: save its output to a file first.", name)};
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Error{fmt::format("The data file {} cannot be opened: check its permissions.", name)};
  struct stat facts {};
  const bool known = fstat(descriptor, &facts) == 0;
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* const first = known && size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  ::close(descriptor);
  if (known && size == 0) return Error{fmt::format("The data file {} is empty: use a file with text or tokens.", name)};
  if (first == MAP_FAILED) return Error{fmt::format("The data file {} cannot be read: check the disk.", name)};
  return MappedFile(static_cast<const std::byte*>(first), size);
}

void MappedFile::Unmap::operator()(const std::byte* first) const { munmap(const_cast<std::byte*>(first), size); }

}  // namespace headroom::tokens
