// What `headroom plan` and `headroom advise` are asked about: a card and a model.
#pragma once

#include <optional>
#include <string>

#include "app/cli/command.h"
#include "app/common/session.h"
#include "app/common/step_plan.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// A card's name in any usual spelling, `this machine`, or a size such as 24GiB. Cards that differ in their form alone are one.
record::Result<PlannedCard> card_of(const std::string& words);

// On stderr: the settings that decide how large the step is and that neither --set nor these two options name.
void say_what_is_taken(const record::Params& params, const CommonOptions& options, bool has_batch, bool has_seq);

// On stderr, for a card that no run here can use.
void say_if_too_old(const PlannedCard& card);

// How near a closed form is, and `why` it is used.
std::string closed_form_note(const std::string& why, bool beyond_step);

// Bytes of a card that the allocator can use: the one number that a step is compared with.
inline record::Bytes usable_bytes(const PlannedCard& card) { return card.memory - card.process.bytes; }

// A name of the schema's, else a file or folder with a shape.
record::Status set_model(record::Params& params, const std::optional<std::string>& model);

// Its files are there, as check_files() says; a model that no run takes is planned by its config.json alone.
record::Status check_planned(const record::Params& params, const EngineChoice& engine);

}  // namespace headroom::app
