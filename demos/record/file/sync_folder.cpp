// Uses fsync().
#include "demos/record/file/sync_folder.h"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace headroom::record {

int sync_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int error_number = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error_number;
}

}  // namespace headroom::record
