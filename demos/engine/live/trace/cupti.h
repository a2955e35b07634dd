// CUPTI's functions, loaded by name, so that programs start without it.
#pragma once

#include <string>

#include <cupti.h>

namespace headroom::live {

struct Cupti {
  decltype(&cuptiSubscribe_v2) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_buffers = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) num_dropped = nullptr;
  decltype(&cuptiGetResultString) result_string = nullptr;
  decltype(&cuptiGetVersion) version = nullptr;

  // False if CUPTI or one of its functions is missing.
  bool load();
  std::string sentence(CUptiResult result) const;
};

}  // namespace headroom::live
