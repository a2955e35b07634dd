// Translates messages of c10d, gloo and NCCL.
#include "demos/engine/llama/ranks/collective_error.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace headroom::llama {
namespace {

using Words = std::pair<std::string_view, std::string_view>;  // part of a message, our clause

constexpr std::array kCauses{
    Words{"onnection closed", "another rank ended or lost its connection"},
    Words{"onnection reset", "another rank ended or lost its connection"},
    Words{"roken pipe", "another rank ended or lost its connection"},
    Words{"ocket closed", "another rank ended or lost its connection"},
    Words{"remote process exited", "another rank ended or lost its connection"},
    Words{"EADDRINUSE", "another program uses this port"},
    Words{"imed out", "another rank did not answer in time"},
    Words{"imeout", "another rank did not answer in time"},
    Words{"Ping failed", "another program answers at this address"},
    Words{"onnection refused", "no rank answers at this address"},
    Words{"failed to connect", "no rank answers at this address"},
    Words{"uplicate GPU", "two ranks use the same GPU"},
    Words{"unhandled cuda error", "NCCL failed on the GPU, for example because no device memory was left"},
};

// The message's first line without the source position before it.
std::string first_line(std::string_view text) {
  if (text.starts_with('[')) text.remove_prefix(std::min(text.find("] ") + 2, text.size()));
  text = text.substr(0, text.find('\n'));
  while (text.ends_with('.') || text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::string cause_of(const std::exception& error) {
  const std::string_view message = error.what();
  for (const auto& [words, clause] : kCauses)
    if (message.find(words) != std::string_view::npos) return std::string(clause);
  return first_line(message);
}

std::string meeting_place(const protocol::RankPlace& place) {
  return place.store.empty() ? "at " + place.address + ":" + std::to_string(place.port)
                             : "in the folder " + place.store;
}

CollectiveError not_connected(const protocol::RankPlace& place, const std::exception& error) {
  return CollectiveError("Rank " + std::to_string(place.rank) + " of " + std::to_string(place.ranks) +
                         " could not meet the others " + meeting_place(place) + ": " + cause_of(error) + ".");
}

}  // namespace headroom::llama
