// A folder's names to the disk.
#pragma once

#include <filesystem>

namespace headroom::record {

// Renaming is lasting only once the folder is on disk too. Some file systems cannot sync a folder (EINVAL) and need not.
// 0, or errno.
int sync_folder(const std::filesystem::path& folder);

}  // namespace headroom::record
