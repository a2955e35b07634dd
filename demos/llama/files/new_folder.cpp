// Uses a temporary folder, posix_fallocate and renameat2.
#include "demos/llama/files/new_folder.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "demos/record/file/sync_folder.h"

namespace headroom::llama {

namespace fs = std::filesystem;
using record::Error;
using record::ErrorKind;
using record::Ok;
using record::Status;

namespace {

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// Removes a trailing '/'.
fs::path plain(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

std::string beside_name(const fs::path& path, std::string run) {
  std::ranges::replace(run, ' ', '-');
  return plain(path).string() + "." + (run.empty() ? "XXXXXX" : run);
}

// Ignores SIGXFSZ, which would end the process when a write exceeds the file size limit.
class NoSizeSignal {
 public:
  NoSizeSignal() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &before_);
  }
  ~NoSizeSignal() { sigaction(SIGXFSZ, &before_, nullptr); }
  NoSizeSignal(const NoSizeSignal&) = delete;
  NoSizeSignal& operator=(const NoSizeSignal&) = delete;

 private:
  struct sigaction before_ {};
};

}  // namespace

Status NewFolder::check(const fs::path& path) {
  std::error_code failed;
  const auto refused = [&](const char* why) {
    return Error{fmt::format("The folder {} cannot be created: {}; choose another one with save.", path.string(), why),
                 ErrorKind::kNotWritten};
  };
  if (fs::exists(fs::symlink_status(plain(path), failed)))
    return refused("the name exists already, and nothing is overwritten");
  if (!fs::is_directory(parent_of(plain(path)), failed)) return refused("its parent folder does not exist");
  return Ok{};
}

record::Result<std::unique_ptr<NewFolder>> NewFolder::create(const fs::path& path, const std::string& run) {
  if (const Status free = check(path); !free) return free.error();
  std::string beside = beside_name(path, run);
  const bool made = run.empty() ? mkdtemp(beside.data()) != nullptr : ::mkdir(beside.c_str(), 0700) == 0;
  if (!made)
    return Error{fmt::format("The folder {} cannot be created ({}); choose another one with save.", path.string(),
                             std::generic_category().message(errno)),
                 ErrorKind::kNotWritten};
  const mode_t mask = umask(0);
  umask(mask);
  ::chmod(beside.c_str(), 0777 & ~mask);  // mkdtemp makes private folders
  return std::unique_ptr<NewFolder>(new NewFolder(plain(path), beside, true));
}

std::unique_ptr<NewFolder> NewFolder::join(const fs::path& path, const std::string& run) {
  return std::unique_ptr<NewFolder>(new NewFolder(plain(path), beside_name(path, run), false));
}

NewFolder::NewFolder(fs::path path, fs::path beside, bool created_here)
    : path_(std::move(path)), beside_(std::move(beside)), created_here_(created_here) {}

NewFolder::~NewFolder() {
  for (const auto& [file, descriptor] : files_) {
    ::close(descriptor);
    if (created_here_ && !named_) ::unlink((beside_ / file).c_str());
  }
  if (created_here_ && !named_) ::rmdir(beside_.c_str());
}

Error NewFolder::error(int number) const {
  return {fmt::format("The folder {} cannot be written ({}): free some space there, or choose another place.",
                      path_.string(), std::generic_category().message(number)),
          ErrorKind::kNotWritten};
}

Status NewFolder::reserve(const std::string& file, std::uint64_t bytes) {
  const NoSizeSignal quiet;
  const int flags = created_here_ ? O_RDWR | O_CREAT | O_EXCL : O_RDWR;
  const int descriptor = ::open((beside_ / file).c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0 && !created_here_)
    return Error{fmt::format("Rank 0 created the folder {}, but this rank cannot open {} in it ({}): save to a folder "
                             "that all hosts share.",
                             path_.string(), file, std::generic_category().message(errno)),
                 ErrorKind::kNotWritten};
  if (descriptor < 0) return error(errno);
  files_.emplace(file, descriptor);
  const int failed = bytes == 0 || !created_here_ ? 0 : posix_fallocate(descriptor, 0, static_cast<off_t>(bytes));
  return failed == 0 ? Status(Ok{}) : Status(error(failed));
}

Status NewFolder::write(const std::string& file, std::uint64_t begin, std::span<const std::byte> bytes) {
  const NoSizeSignal quiet;
  const int descriptor = files_.at(file);
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(begin));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error(errno);
    // Starts writing to disk now instead of at commit()'s fsync: saving 2.5 GB from a GPU takes 0.8 instead of 1.3 s
    // (docs/results/checkpoints.md). Some file systems do not support this call.
    (void)::sync_file_range(descriptor, static_cast<off_t>(begin), count, SYNC_FILE_RANGE_WRITE);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    begin += static_cast<std::uint64_t>(count);
  }
  return Ok{};
}

Status NewFolder::put(const std::string& file, std::string_view content) {
  if (const Status made = reserve(file, content.size()); !made) return made;
  return write(file, 0, std::as_bytes(std::span(content)));
}

Status NewFolder::flush() {
  for (const auto& [file, descriptor] : files_)
    if (::fsync(descriptor) != 0) return error(errno);
  return Ok{};
}

Status NewFolder::commit() {
  if (const Status flushed = flush(); !flushed) return flushed;
  (void)record::sync_folder(beside_);
  if (::renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) return check(path_).error();
    // Some file systems do not support RENAME_NOREPLACE.
    if (errno != EINVAL && errno != ENOSYS) return error(errno);
    if (const Status free = check(path_); !free) return free;
    if (::rename(beside_.c_str(), path_.c_str()) != 0) return error(errno);
  }
  named_ = true;
  (void)record::sync_folder(parent_of(path_));
  return Ok{};
}

}  // namespace headroom::llama
