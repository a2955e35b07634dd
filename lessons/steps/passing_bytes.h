// A rank holds some tensors only for a moment: weights gathered from the others, and whole gradients that are being
// summed with theirs.
#pragma once

#include <vector>

#include "demos/record/ledger.h"
#include "demos/record/timeline.h"
#include "lessons/panels/timeline.h"

namespace headroom::lessons {

// Sets `passing` of the panel and of its columns, which are those of `columns`. Such tensors are told by their
// operators: if the ranks keep shares of gradients, as with ZeRO-2 and 3, all other gradients are being summed.
void add_passing(Timeline& panel, const std::vector<record::Column>& columns, const record::Ledger& run);

}  // namespace headroom::lessons
