// Writes files atomically.
#include "app/common/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace headroom::app {

namespace {

// Returns 0 or errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

// Sets the usual mode, minus the umask; mkstemp creates private files.
void set_usual_mode(int descriptor) {
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
}

}  // namespace

record::Status write_whole(const std::filesystem::path& path, std::string_view bytes) {
  std::string beside = path.string() + ".XXXXXX";  // unique: two programs may write the same file at once
  const int descriptor = mkstemp(beside.data());
  int error = descriptor < 0 ? errno : write_all(descriptor, bytes);
  if (descriptor >= 0) {
    set_usual_mode(descriptor);
    if (error == 0 && fsync(descriptor) != 0) error = errno;
    if (close(descriptor) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(beside.c_str());
  }
  if (error == 0) return record::Ok{};
  return record::Error{fmt::format("{} cannot be written ({}): free some space there, or choose another place.",
                                   path.string(), std::strerror(error)),
                       record::ErrorKind::kNotWritten};
}

}  // namespace headroom::app
