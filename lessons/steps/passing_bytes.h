// What a rank holds only for a moment for the sake of the others: weights gathered from them, and whole gradients that are
// being summed with theirs.
#pragma once

#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/panels/timeline.h"

namespace headroom::lessons {

// Sets `passing` of the panel and of its columns, which are those of `columns`. Such tensors are told by their operators;
// with ZeRO-2 and 3 a gradient that is no rank's share is being summed.
void add_passing(Timeline& panel, const std::vector<record::Column>& columns, const record::Ledger& run);

}  // namespace headroom::lessons
