// Looks a demo up in the catalogue.
#include "demos/experiments/demo.h"

namespace headroom::experiments {

const DemoInfo* find_demo(std::string_view id) {
  for (const DemoInfo* demo : demos()) {
    if (demo->id == id) return demo;
  }
  return nullptr;
}

}  // namespace headroom::experiments
