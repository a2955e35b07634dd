// The error of a collective: one sentence instead of c10d's paragraphs.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "demos/protocol/launchers.h"

namespace headroom::llama {

// Says which rank failed, in which collective, and why.
class CollectiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A clause about an exception of c10d, gloo or NCCL: "another rank ended or lost its connection".
std::string cause_of(const std::exception& error);

// Names the place where the ranks meet: "at 10.0.0.1:29500".
std::string meeting_place(const protocol::RankPlace& place);

// The error of a rank that could not connect to the others.
CollectiveError not_connected(const protocol::RankPlace& place, const std::exception& error);

}  // namespace headroom::llama
