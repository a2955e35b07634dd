// Flushes a folder to disk.
#pragma once

#include <filesystem>

namespace headroom::record {

// Makes renames in the folder durable. Some file systems cannot sync folders (EINVAL) and do not need it. Returns 0 or
// errno.
int sync_folder(const std::filesystem::path& folder);

}  // namespace headroom::record
