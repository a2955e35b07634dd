// CUPTI's functions, by name: a program that is linked with CUPTI does not start where there is none.
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

  // False: it is not there, or lacks one of these.
  bool load();
  // Why something failed, for a reader.
  std::string sentence(CUptiResult result) const;
};

}  // namespace headroom::live
