// Takes the "key: value" lines of a front matter or block one by one. Lines that are left over are problems.
#pragma once

#include "lessons/pages/page.h"
#include "lessons/pages/page_reader.h"

namespace headroom::lessons {

class Entries {
 public:
  // `place`: "The front matter". `line`: where missing keys are reported.
  Entries(const std::string& file, std::string_view place, const std::vector<Entry>& entries, int line,
          Problems& problems)
      : file_(file), place_(place), entries_(entries), line_(line), problems_(problems) {}

  std::string take(std::string_view key);  // empty if missing
  std::string need(std::string_view key);  // a missing key is a problem
  std::vector<std::string> take_words(std::string_view key) { return words_of(take(key)); }
  std::vector<Setting> take_settings(std::string_view key);  // "batch=4 seq=128"
  // Reports keys that were not taken.
  void end();

  // Reports a problem at the last key taken.
  void complain(std::string what) { problems_.push_back({file_, at_, std::move(what)}); }

 private:
  const std::string& file_;
  std::string_view place_;
  const std::vector<Entry>& entries_;
  int line_;
  Problems& problems_;
  int at_ = 0;
  std::vector<std::string_view> known_;
};

}  // namespace headroom::lessons
