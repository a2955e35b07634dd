// A reader of the first page, with a scripted backend and one stored run.
#pragma once

#include <memory>

#include "app/page/page_model.h"
#include "demos/experiments/demo.h"
#include "tests/gui/support/scripted_backend.h"
#include "tests/gui/support/small_run.h"
#include "tests/support/course.h"

namespace headroom::tests {

using app::page::PageModel;
using app::page::PageSources;

inline constexpr double kMiB = static_cast<double>(record::kMiB);

inline const lessons::Page& page() { return tests::page("where_memory_goes"); }
inline const experiments::DemoInfo& demo() { return *experiments::find_demo("train_step"); }

struct Reader {
  std::shared_ptr<record::Recording> stored = small_run();
  ScriptedBackend backend{small_run({.weights = 80 * record::kMiB})};
  PageModel model{page(), demo(),
                  PageSources{.runner = &backend, .predictions = nullptr, .fixed_settings = "", .stored = {stored}}};
  double now = 0;

  void poll(int times = 1) {
    for (int i = 0; i < times; ++i) {
      const bool news = backend.poll();
      model.poll(now += 0.1, news);
    }
  }
  void finish_run() {
    for (int i = 0; i < 1000 && model.control().running(); ++i) poll();
  }
};

}  // namespace headroom::tests
