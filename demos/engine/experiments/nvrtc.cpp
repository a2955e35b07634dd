// Loads NVRTC lazily: an engine that compiles nothing loads no compiler.
#include "demos/engine/experiments/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nvrtc.h>

namespace headroom::experiments {

namespace {

constexpr const char* kLibrary = "libnvrtc.so.13";
constexpr std::string_view kFileName = "kernel.cu";
constexpr const char* kDeclarations = "headroom_declarations.h";

struct Nvrtc {
  decltype(&::nvrtcVersion) version;
  decltype(&::nvrtcCreateProgram) create;
  decltype(&::nvrtcDestroyProgram) destroy;
  decltype(&::nvrtcCompileProgram) compile;
  decltype(&::nvrtcGetProgramLogSize) log_size;
  decltype(&::nvrtcGetProgramLog) log;
  decltype(&::nvrtcGetCUBINSize) binary_size;
  decltype(&::nvrtcGetCUBIN) binary;
  decltype(&::nvrtcGetErrorString) error_string;
  std::string headers;  // include folder of NVRTC's toolkit
};

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Nvrtc> load() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  Nvrtc nvrtc{};
  const bool whole =
      find(library, "nvrtcVersion", nvrtc.version) && find(library, "nvrtcCreateProgram", nvrtc.create) &&
      find(library, "nvrtcDestroyProgram", nvrtc.destroy) && find(library, "nvrtcCompileProgram", nvrtc.compile) &&
      find(library, "nvrtcGetProgramLogSize", nvrtc.log_size) && find(library, "nvrtcGetProgramLog", nvrtc.log) &&
      find(library, "nvrtcGetCUBINSize", nvrtc.binary_size) && find(library, "nvrtcGetCUBIN", nvrtc.binary) &&
      find(library, "nvrtcGetErrorString", nvrtc.error_string);
  if (!whole) return std::nullopt;
  Dl_info place{};
  if (dladdr(reinterpret_cast<void*>(nvrtc.compile), &place) != 0)
    nvrtc.headers = (std::filesystem::path(place.dli_fname).parent_path().parent_path() / "include").string();
  return nvrtc;
}

// The number at the beginning of `text`, after blanks; 0: none.
std::int64_t number_at(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The number before `words`: 160 of "160 bytes stack frame".
std::int64_t number_before(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return 0;
  const std::string_view before = line.substr(0, at);
  const std::size_t last = before.find_last_of("0123456789");
  if (last == std::string_view::npos) return 0;
  const std::size_t begin = before.find_last_not_of("0123456789", last);
  return number_at(before.substr(begin == std::string_view::npos ? 0 : begin + 1));
}

std::string_view quoted(std::string_view line) {
  const std::size_t begin = line.find('\'');
  const std::size_t end = line.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string_view() : line.substr(begin + 1, end - begin - 1);
}

struct MessageHead {
  std::int64_t line = 0;
  bool error = false;
  std::string_view text;
};

// Parses "kernel.cu(11): error: text", "At end of source: error: text", "ptxas error   : text" and such warnings.
std::optional<MessageHead> message_head(std::string_view line, std::int64_t lines) {
  MessageHead head;
  if (line.starts_with("ptxas error") || line.starts_with("ptxas warning") || line.starts_with("ptxas fatal")) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    head.error = !line.starts_with("ptxas warning");
    head.text = line.substr(std::min(colon + 2, line.size()));
    return head;
  }
  for (const std::string_view severity : {"catastrophic error", "error", "warning", "remark"}) {
    const std::size_t word = line.find(": " + std::string(severity));
    if (word == std::string_view::npos) continue;
    const std::size_t colon = line.find(": ", word + 2 + severity.size());
    const std::size_t text = colon == std::string_view::npos ? word + 2 : colon + 2;
    const std::string_view place = line.substr(0, word);
    if (place.starts_with(kFileName) && place.size() > kFileName.size())
      head.line = std::min(number_at(place.substr(kFileName.size() + 1)), lines);
    else if (place == "At end of source")
      head.line = lines;
    else if (place.find('(') == std::string_view::npos)
      return std::nullopt;
    head.error = severity.ends_with("error");
    // Headers are not shown, so their messages keep the header's name.
    head.text = head.line != 0 ? line.substr(text) : line;
    return head;
  }
  return std::nullopt;
}

}  // namespace

void read_compiler_log(std::string_view log, std::int64_t lines, Compilation& compilation) {
  record::KernelResources* kernel = nullptr;
  bool in_message = false, of_kernel = false;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (const auto head = message_head(line, lines)) {
      compilation.messages.push_back({.line = head->line, .error = head->error, .text = std::string(head->text)});
      in_message = true;
    } else if (line.empty() || line.starts_with("ptxas") || line.starts_with("Remark:")) {
      in_message = false;
    } else if (in_message) {
      compilation.messages.back().text += "\n" + std::string(line);
    }
    if (line.find("Compiling entry function") != std::string_view::npos)
      kernel = &compilation.kernels.emplace_back(record::KernelResources{.name = std::string(quoted(line))});
    if (kernel == nullptr) continue;
    if (const std::size_t at = line.find("Function properties for "); at != std::string_view::npos)
      of_kernel = line.substr(at + 24) == kernel->name;
    if (of_kernel && line.find("bytes stack frame") != std::string_view::npos) {
      kernel->stack = number_before(line, " bytes stack frame");
      kernel->spilled = number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
    }
    if (line.find("Used ") != std::string_view::npos && line.find(" registers") != std::string_view::npos) {
      kernel->registers = number_before(line, " registers");
      kernel->shared = number_before(line, " bytes smem");
    }
  }
}

record::Result<Compilation> compile_kernel(const CompileRequest& request) {
  static const std::optional<Nvrtc> nvrtc = load();
  if (!nvrtc) {
    return record::Error{
        fmt::format("The compiler for kernels, {}, cannot be loaded: `./run doctor` shows what is missing.", kLibrary),
        record::ErrorKind::kRefused};
  }
  Compilation made;
  int major = 0, minor = 0;
  nvrtc->version(&major, &minor);
  made.compiler = fmt::format("NVRTC {}.{}", major, minor);

  const char* const header = request.declarations.c_str();
  nvrtcProgram program = nullptr;
  nvrtcResult result = nvrtc->create(&program, request.source.c_str(), kFileName.data(), 1, &header, &kDeclarations);
  if (result != NVRTC_SUCCESS)
    return record::Error{fmt::format("The compiler did not start: {}.", nvrtc->error_string(result))};
  const auto destroy = [](nvrtcProgram* held) { nvrtc->destroy(held); };
  const std::unique_ptr<nvrtcProgram, decltype(destroy)> guard(&program, destroy);

  std::vector<std::string> options;
  options.push_back(fmt::format("--gpu-architecture={}", request.architecture));
  options.push_back(fmt::format("--pre-include={}", kDeclarations));
  options.push_back(fmt::format("-I{}", nvrtc->headers));
  for (const auto& [name, value] : request.macros) options.push_back(fmt::format("-D{}={}", name, value));
  // Results cached by the driver lack the assembler's messages.
  std::vector<const char*> words{"-std=c++20", "--ptxas-options=-v", "--no-cache"};
  for (const std::string& option : options) words.push_back(option.c_str());
  result = nvrtc->compile(program, static_cast<int>(words.size()), words.data());
  if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION)
    return record::Error{fmt::format("The compiler failed: {}.", nvrtc->error_string(result))};

  std::size_t size = 0;
  nvrtc->log_size(program, &size);
  std::string log(size, '\0');
  nvrtc->log(program, log.data());
  log.resize(std::min(log.find('\0'), log.size()));
  const auto lines = 1 + std::count(request.source.begin(), request.source.end(), '\n');
  read_compiler_log(log, lines, made);
  if (result != NVRTC_SUCCESS) {
    made.kernels.clear();
    if (std::none_of(made.messages.begin(), made.messages.end(), [](const auto& m) { return m.error; }))
      made.messages.push_back({.error = true, .text = log});
    return made;
  }
  nvrtc->binary_size(program, &size);
  made.binary.resize(size);
  nvrtc->binary(program, made.binary.data());
  return made;
}

}  // namespace headroom::experiments
