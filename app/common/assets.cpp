// Finds what is shipped beside the program.
#include "app/common/assets.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include "headroom_build.h"

namespace headroom::app {

namespace fs = std::filesystem;
using record::Error;
using record::ErrorKind;

namespace {

// Any of the folders that the program reads makes a folder the assets folder.
bool looks_like_assets(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_directory(folder / "fonts", ignored) || fs::is_directory(folder / "text", ignored) ||
           fs::is_directory(folder / "recordings", ignored);
}

// Length of the UTF-8 sequence that starts at `at`, 0 if there is none. Unicode 15, table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF.
std::size_t utf8_length(const std::string& text, std::size_t at) {
    const auto byte = [&](std::size_t i) -> unsigned { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(at);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(at + 1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : 0xBF;
        return follows(at + 1, low, high) && follows(at + 2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const unsigned low = first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
        return follows(at + 1, low, high) && follows(at + 2) && follows(at + 3) ? 4 : 0;
    }
    return 0;
}

} // namespace

fs::path executable_folder() {
    std::error_code failed;
    const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::current_path(failed) : executable.parent_path();
}

record::Result<fs::path> find_assets() {
    if (const char* asked = std::getenv("HEADROOM_ASSETS"); asked != nullptr && *asked != '\0') {
        if (looks_like_assets(asked)) return fs::path(asked);
        return Error{fmt::format("HEADROOM_ASSETS={} is no assets folder (it has neither fonts, text nor recordings): "
                                 "correct it or leave it unset.", asked)};
    }
    const fs::path bin = executable_folder();
    const fs::path places[] = {
        bin.parent_path() / "share" / "headroom",      // installed: bin/ and share/ side by side
        bin.parent_path().parent_path() / "assets",    // <tree>/build/bin
        fs::path(build::kSourceDir) / "assets",        // a build folder elsewhere
    };
    for (const fs::path& place : places)
        if (looks_like_assets(place)) return place;
    return Error{fmt::format("The assets folder (fonts, page texts, recordings) is neither at {} nor at {}: set "
                             "HEADROOM_ASSETS to where it is.", places[0].string(), places[1].string())};
}

fs::path recording_path(const fs::path& assets, std::string_view name) {
    return assets / "recordings" / (std::string(name) + ".hrec");
}

std::vector<std::string> stored_recordings(const fs::path& assets) {
    std::vector<std::string> names;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(assets / "recordings", failed))
        if (entry.path().extension() == ".hrec") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

record::Status check_text_file(const fs::path& path) {
    std::error_code failed;
    const auto status = fs::status(path, failed);
    if (!fs::exists(status))
        return Error{fmt::format("There is no data file {}: check the path.", path.string())};
    if (fs::is_directory(status))
        return Error{fmt::format("{} is a folder: --data takes one UTF-8 text file.", path.string())};
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{fmt::format("The data file {} cannot be opened: check its permissions.", path.string())};
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) return Error{fmt::format("The data file {} is empty: give a text to train on.", path.string())};

    std::int64_t line = 1;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = utf8_length(text, at);
        if (length == 0)
            return Error{fmt::format("The data file {} is not UTF-8 text (line {}, byte {}): convert it, for example "
                                     "with `iconv -t UTF-8`.", path.string(), line, at)};
        if (text[at] == '\n') ++line;
        at += length;
    }
    return record::Ok{};
}

} // namespace headroom::app
