// Loads CUPTI.
#include "demos/engine/live/trace/cupti.h"

#include <type_traits>

#include <dlfcn.h>

namespace headroom::live {

bool Cupti::load() {
  // The short name finds the copy that LibTorch has loaded.
  void* const library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  bool all = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    all = all && function != nullptr;
  };
  find(subscribe, "cuptiSubscribe_v2");
  find(enable_callback, "cuptiEnableCallback");
  find(set_attribute, "cuptiActivitySetAttribute");
  find(register_timestamp, "cuptiActivityRegisterTimestampCallback");
  find(register_buffers, "cuptiActivityRegisterCallbacks");
  find(enable, "cuptiActivityEnable");
  find(flush_all, "cuptiActivityFlushAll");
  find(next_record, "cuptiActivityGetNextRecord");
  find(num_dropped, "cuptiActivityGetNumDroppedRecords");
  find(result_string, "cuptiGetResultString");
  find(version, "cuptiGetVersion");
  return all;
}

std::string Cupti::sentence(CUptiResult result) const {
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) {
    return "The driver allows only administrators to trace the GPU (its option NVreg_RestrictProfilingToAdminUsers).";
  }
  const char* text = nullptr;
  if (result_string(result, &text) != CUPTI_SUCCESS || text == nullptr) text = "unknown error";
  return std::string("CUPTI cannot trace the GPU here (") + text + "); run `headroom doctor` to see what is missing.";
}

}  // namespace headroom::live
