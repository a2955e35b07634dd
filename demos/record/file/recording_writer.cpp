// Writes a partial file; then fsync, rename and fsync of the folder.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>

#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/record/file/chunk.h"
#include "demos/record/file/sync_folder.h"
#include "demos/record/recording.h"
#include "demos/record/text.h"

namespace headroom::record {
namespace {

std::string reason(int error_number) { return std::generic_category().message(error_number); }

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

Error not_written(const std::filesystem::path& path, std::string_view rest) {
  return {fmt::format("{} was not written: {}", printable(path.string()), rest), ErrorKind::kNotWritten};
}

bool disk_is_full(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

struct Opened {
  int descriptor = -1;
  int error_number = 0;
  bool in_use = false;  // being written by another program
};

// False if another program holds the lock. File systems without locks always succeed.
bool lock(int descriptor) { return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

// The file may have been renamed, removed or replaced between open and lock.
bool is_at(int descriptor, const std::filesystem::path& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

// Replaces a file that a killed program has left, recognized by its missing lock. Only the lock's holder may rename or
// remove the file.
Opened open_partial(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 && lock(descriptor) && is_at(descriptor, path)) return {.descriptor = descriptor};
    if (descriptor >= 0) {  // another program took it for a leftover
      ::close(descriptor);
      continue;
    }
    if (errno != EEXIST) return {.error_number = errno};
    const int old = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (old < 0 && errno == ENOENT) continue;  // its writer has just finished
    if (old < 0) return {.error_number = errno};
    const bool in_use = !lock(old);
    if (!in_use && is_at(old, path)) ::unlink(path.c_str());
    ::close(old);
    if (in_use) return {.error_number = EEXIST, .in_use = true};
  }
  return {.error_number = EEXIST, .in_use = true};
}

}  // namespace

Result<RecordingWriter> RecordingWriter::create(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return not_written(path, S_ISDIR(status.st_mode) ? "it is a folder; choose the name of a file."
                                                     : "it is not a regular file; choose another name.");
  if (!path.has_filename())
    return not_written(path.empty() ? "\"\"" : path, "it is not the name of a file; choose a name such as a.hrec.");
  std::filesystem::path partial = path;
  partial += ".partial";
  const Opened opened = open_partial(partial);
  if (opened.descriptor < 0) {
    if (opened.in_use) return not_written(path, "another run is being recorded there; choose another name.");
    if (opened.error_number == ENOENT)
      return not_written(path, "its folder does not exist; create it or choose another one.");
    return not_written(path, fmt::format("{}; choose a folder that you can write to.", reason(opened.error_number)));
  }
  RecordingWriter writer(path);
  writer.partial_.reset(new Partial{std::move(partial), opened.descriptor});
  if (Status written = writer.append(file_header()); !written) return written.error();
  return writer;
}

RecordingWriter::Partial::~Partial() {
  if (!path.empty()) ::unlink(path.c_str());
  if (descriptor >= 0) ::close(descriptor);
}

Error RecordingWriter::fail(const std::string& what, int error_number, std::size_t bytes_wanted) {
  std::string rest = fmt::format("{} failed ({}); choose another folder.", what, reason(error_number));
  if (disk_is_full(error_number)) {
    std::error_code ignored;
    const std::filesystem::space_info space = std::filesystem::space(folder_of(target_), ignored);
    rest = fmt::format("the disk is full ({} more needed, {} free; {}); free some space or choose another folder.",
                       format_bytes(static_cast<Bytes>(bytes_wanted)),
                       ignored ? "unknown" : format_bytes(static_cast<Bytes>(space.available)), reason(error_number));
  }
  failure_ = not_written(target_, rest);
  partial_.reset();
  return *failure_;
}

Status RecordingWriter::append(std::span<const std::byte> chunk) {
  if (failure_) return *failure_;
  if (!partial_) throw std::logic_error("a recording was written to after its end");
  while (!chunk.empty()) {
    const ssize_t written = ::write(partial_->descriptor, chunk.data(), chunk.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail("writing", errno, chunk.size());
    chunk = chunk.subspan(static_cast<std::size_t>(written));
  }
  return Ok{};
}

Status RecordingWriter::commit() {
  if (failure_) return *failure_;
  if (!partial_) throw std::logic_error("a recording was ended twice");
  // After a failed fsync the data may be lost, so do not retry.
  if (::fsync(partial_->descriptor) != 0) return fail("syncing", errno, 0);
  if (::rename(partial_->path.c_str(), target_.c_str()) != 0) return fail("renaming", errno, 0);
  partial_->path.clear();                                               // renamed to the target; nothing to remove
  const int closed = ::close(std::exchange(partial_->descriptor, -1));  // unlocks, after renaming
  if (closed != 0) return fail("closing", errno, 0);
  partial_.reset();
  if (const int error_number = sync_folder(folder_of(target_)); error_number != 0)
    return fail("syncing its folder", error_number, 0);
  return Ok{};
}

}  // namespace headroom::record
