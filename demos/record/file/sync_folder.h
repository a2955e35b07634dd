// Flushes a folder to disk.
#pragma once

#include <filesystem>

namespace headroom::record {

// Makes renames in the folder durable. Some file systems cannot sync folders (EINVAL) and need not. Returns 0 or
// errno.
int sync_folder(const std::filesystem::path& folder);

}  // namespace headroom::record
