// The card and model that `headroom plan` and `headroom advise` are given.
#pragma once

#include <optional>
#include <string>

#include "app/cli/command.h"
#include "app/common/plan/card_words.h"
#include "app/common/plan/step_plan.h"
#include "app/common/session.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Takes a name in any usual spelling, `this machine`, or a size such as 24GiB. Form factors are ignored.
record::Result<PlannedCard> card_of(const std::string& words);

// Reports which defaults replace missing settings that decide the step's size.
void say_what_is_taken(const record::Params& params, const CommonOptions& options, bool has_batch, bool has_seq);

void say_if_too_old(const PlannedCard& card);

// States a closed form's accuracy and `why` it is used.
std::string closed_form_note(const std::string& why, bool beyond_step);

inline record::Bytes usable_bytes(const PlannedCard& card) { return card.memory - card.process.bytes; }

// The default step on a GPU. `model`: a name of the schema, or a file or folder with a model's shape.
record::Result<record::Params> gpu_step(const std::optional<std::string>& model);

// Like check_files(); a model that no run supports needs only its config.json.
record::Status check_planned(const record::Params& params, const EngineChoice& engine);

}  // namespace headroom::app
