// Describes the failed request.
#include "demos/predict/ran_out.h"

#include <string>

#include <fmt/format.h>

#include "demos/record/scope.h"

namespace headroom::predict {

record::Outcome ran_out(const record::Recording& requests, const record::MemEvent& asked,
                        record::OutOfMemoryFacts facts) {
  facts.op = std::string(requests.op_name(asked.op));
  facts.phase = asked.phase;
  facts.layer = asked.layer;
  std::string who = facts.op.empty() ? "The run" : facts.op;
  if (facts.layer != record::kNoLayer) who += fmt::format(" in layer {}", facts.layer);
  return {.kind = record::OutcomeKind::kOutOfMemory,
          .message = fmt::format("{} ({}) requests {} more while {} are in use; the limit is {}.", who,
                                 record::label_of(facts.phase), record::format_bytes(facts.requested),
                                 record::format_bytes(facts.allocated), record::format_bytes(facts.limit)),
          .out_of_memory = facts};
}

}  // namespace headroom::predict
