// Sentences about a page.
#pragma once

#include <optional>
#include <string>

#include "app/page/page_model.h"

namespace headroom::app::page {

struct Notice {
  enum class Kind { kTrouble, kOutOfMemory, kVerdict } kind = Kind::kTrouble;
  std::string head, body;
};

// The most important message now, if any.
std::optional<Notice> notice_of(const PageModel& page);
std::string status_line(const PageModel& page);
// `headroom figures …` for this figure and settings; empty: no command draws it.
std::string as_command(const PageModel& page);
// `headroom plan …` for these settings and the card; `headroom run …` on a CPU or under a limit.
std::string plan_command(const PageModel& page);
// The run that answered: "CPU: Tiny, 4 M, fp32, batch 4, 256 tokens".
std::string answered_by(const PageModel& page);
bool left_answer(const PageModel& page);  // another run is shown now
// Why no kernels are drawn below the memory.
std::string why_no_lanes(const PageModel& page);

}  // namespace headroom::app::page
