// A Result is either a value or one sentence for the user.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace headroom::record {

// The command line's exit codes.
enum class ErrorKind {
  kBadInput = 2,  // unusable argument, file, value or message
  kRefused = 3,   // no suitable device, or a refused combination
  kTimeLimit = 5,
  kNotWritten = 6,  // output folder or disk failed
  kEngine = 7,
  kInterrupted = 130,  // by the user; the sentence may be empty
};

// A sentence: what is wrong, where, and what to do.
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

  // Access to the wrong alternative throws std::bad_variant_access.
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
