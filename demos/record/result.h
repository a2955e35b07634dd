// Outcomes as values: a Result holds either a value or one sentence for the user.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace headroom::record {

// What kind of trouble an Error is; the command line turns it into its exit code (the number given here).
enum class ErrorKind {
  kBadInput = 2,    // usage, file, value or message that cannot be used as it is
  kRefused = 3,     // no suitable device, or a combination that is refused
  kNotWritten = 6,  // output folder or disk
  kEngine = 7,      // the engine process failed
};

// One sentence for a person: what is wrong, where, and what to do about it.
struct Error {
  std::string message;
  ErrorKind kind = ErrorKind::kBadInput;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Only after ok(); asking the wrong side is a bug and throws std::bad_variant_access.
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace headroom::record
