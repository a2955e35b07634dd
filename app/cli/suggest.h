// The message for an unknown name, with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace headroom::app {

// unknown_name("demo", "train_stop", {"train_step"}): There is no demo "train_stop"; the nearest is train_step, …
std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known);

}  // namespace headroom::app
