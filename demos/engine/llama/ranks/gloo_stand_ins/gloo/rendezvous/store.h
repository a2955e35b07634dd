// Stand-in for a header of gloo. LibTorch's wheel contains gloo's code and c10d's ProcessGroupGloo.hpp, but none of the
// gloo headers that ProcessGroupGloo.hpp includes. These five files declare what it names. The code that includes it
// calls only c10d, so no object of these types crosses into gloo.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

// ProcessGroupGloo.hpp overrides the functions below if this is set, as it was when the wheel was built.
#define GLOO_STORE_HAS_STORE_V2 1

namespace gloo::rendezvous {

class Store {
 public:
  virtual ~Store() = default;
  virtual void set(const std::string& key, const std::vector<char>& value) = 0;
  virtual std::vector<char> get(const std::string& key) = 0;
  virtual void wait(const std::vector<std::string>& keys) = 0;
  virtual void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) = 0;
  virtual bool has_v2_support() = 0;
  virtual std::vector<std::vector<char>> multi_get(const std::vector<std::string>& keys) = 0;
  virtual void multi_set(const std::vector<std::string>& keys, const std::vector<std::vector<char>>& values) = 0;
  virtual void append(const std::string& key, const std::vector<char>& value) = 0;
  virtual std::int64_t add(const std::string& key, std::int64_t value) = 0;
};

}  // namespace gloo::rendezvous
