// What `headroom plan` and `headroom advise` are asked about: a card and a model.
#pragma once

#include <optional>
#include <string>

#include "app/common/session.h"
#include "app/common/step_plan.h"
#include "demos/record/result.h"
#include "demos/record/schema.h"

namespace headroom::app {

// Words of a card's name, `this machine`, or a size such as 24GiB.
record::Result<PlannedCard> card_of(const std::string& words);

// A name of the schema's, else a file or folder with a shape.
record::Status set_model(record::Params& params, const std::optional<std::string>& model);

// Its files are there, as check_files() says; a model that no run takes is planned by its config.json alone.
record::Status check_planned(const record::Params& params, const EngineChoice& engine);

}  // namespace headroom::app
