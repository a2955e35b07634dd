// Where a page's runs and predictions come from.
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
  Predictions* predictions = nullptr;                            // not owned; null: there are none
  std::string why_no_engine;                                     // one sentence with the cure; empty: there is one
  std::string fixed_settings;                                    // why settings cannot be changed; empty: they can
  bool files_here = true;                                        // else the engine may be on another machine
  std::vector<std::shared_ptr<const record::Recording>> stored;  // the first shows at once
  // The reader's run that the page is opened for: it shows first, with its settings, and the page asks nothing.
  std::shared_ptr<const record::Recording> given;
};

}  // namespace headroom::app::page
