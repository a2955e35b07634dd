// Direct I/O by pread and pwrite.
#include "demos/engine/llama/host/direct_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include "demos/record/text.h"

namespace headroom::llama {

namespace {

using record::Bytes;

std::string reason(int error) { return std::generic_category().message(error); }

std::filesystem::path temporary_path() {
  static std::atomic<int> number{0};
  return std::filesystem::temp_directory_path() /
         ("headroom-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".state");
}

// Ignores the signal that ends a process at its file size limit; the error is enough.
int reserve(int descriptor, Bytes bytes) {
  struct sigaction ignore {
  }, before{};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &before);
  const int error = posix_fallocate(descriptor, 0, bytes);
  sigaction(SIGXFSZ, &before, nullptr);
  return error;
}

}  // namespace

record::Result<std::unique_ptr<DirectFile>> DirectFile::create(const std::filesystem::path& path, Bytes bytes) {
  const std::filesystem::path where = path.empty() ? temporary_path() : path;
  const auto refused = [&](const std::string& why) {
    return record::Error{"The file of the optimizer's state " + record::quoted(where.string()) +
                             " cannot be created: " + why + "; choose another place.",
                         record::ErrorKind::kNotWritten};
  };
  const int descriptor = open(where.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return refused(errno == EEXIST ? "a file with that name exists" : reason(errno));
  unlink(where.c_str());
  if (const int error = reserve(descriptor, bytes); error != 0) {
    close(descriptor);
    return refused(error == ENOSPC || error == EFBIG ? "the disk has no space for " + record::format_bytes(bytes)
                                                     : reason(error));
  }
  // Direct I/O begins only after the reservation: if the file system cannot reserve, the C library writes single bytes,
  // which direct I/O refuses.
  const bool direct = fcntl(descriptor, F_SETFL, O_DIRECT) == 0;
  return std::unique_ptr<DirectFile>(new DirectFile(descriptor, direct, where));
}

DirectFile::~DirectFile() { close(descriptor_); }

void DirectFile::write(Bytes offset, const void* data, Bytes bytes) const {
  for (Bytes done = 0; done < bytes;) {
    const ssize_t count = pwrite(descriptor_, static_cast<const char*>(data) + done,
                                 static_cast<std::size_t>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw std::runtime_error("The optimizer's state could not be written to " + record::quoted(path_.string()) +
                               ": " + reason(errno) + ".");
    }
    done += count;
  }
}

void DirectFile::read(Bytes offset, void* data, Bytes bytes) const {
  for (Bytes done = 0; done < bytes;) {
    const ssize_t count =
        pread(descriptor_, static_cast<char*>(data) + done, static_cast<std::size_t>(bytes - done), offset + done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw std::runtime_error("The optimizer's state could not be read from " + record::quoted(path_.string()) + ": " +
                               (count == 0 ? std::string("it ends early") : reason(errno)) + ".");
    }
    done += count;
  }
}

}  // namespace headroom::llama
