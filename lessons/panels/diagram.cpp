#include "lessons/panels/diagram.h"

namespace headroom::lessons {

std::string_view key_of(BoxState state) {
  switch (state) {
    case BoxState::kPlain:
      return "plain";
    case BoxState::kNotYet:
      return "not_yet";
    case BoxState::kAlive:
      return "alive";
    case BoxState::kRecomputed:
      return "recomputed";
    case BoxState::kFreed:
      return "freed";
    case BoxState::kSame:
      return "same";
    case BoxState::kChanged:
      return "changed";
    case BoxState::kZero:
      return "zero";
    case BoxState::kOne:
      return "one";
  }
  return "";
}

std::string_view label_of(BoxState state) {
  switch (state) {
    case BoxState::kPlain:
      return "";
    case BoxState::kNotYet:
      return "not computed yet";
    case BoxState::kAlive:
      return "in memory";
    case BoxState::kRecomputed:
      return "in memory, computed again";
    case BoxState::kFreed:
      return "freed";
    case BoxState::kSame:
      return "the same";
    case BoxState::kChanged:
      return "changed";
    case BoxState::kZero:
      return "0";
    case BoxState::kOne:
      return "1";
  }
  return "";
}

}  // namespace headroom::lessons
