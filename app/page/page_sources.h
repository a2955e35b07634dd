// Sources of a page's runs and predictions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/common/predictions.h"
#include "demos/backend/backend.h"
#include "demos/record/recording.h"

namespace headroom::app::page {

struct PageSources {
  backend::Backend* runner = nullptr;                            // not owned
  Predictions* predictions = nullptr;                            // not owned; may be null
  std::string why_no_engine;                                     // one sentence with the cure; may be empty
  std::string fixed_settings;                                    // why settings cannot change; may be empty
  bool files_here = true;                                        // false: the engine may be on another machine
  std::vector<std::shared_ptr<const record::Recording>> stored;  // the first is shown at once
  // Opened by the reader: shown first, with its settings and without a question.
  std::shared_ptr<const record::Recording> given;
};

}  // namespace headroom::app::page
