// The form of a page's text: front matter, prose, fenced blocks. Says nothing about what they mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::lessons {

// What is wrong in a text, and where.
struct Problem {
  std::string file;  // "checkpointing.md"
  int line = 0;      // from 1
  std::string what;  // "There is no figure \"memory_timelin\": the nearest is memory_timeline."

  std::string text() const;  // "checkpointing.md:12: There is no figure …"
};
using Problems = std::vector<Problem>;

// "key: value"
struct Entry {
  std::string key, value;
  int line = 0;
};

// One part of the body. Prose is Markdown; a display formula is a part by itself; "more" is the line <!--more-->.
struct Part {
  std::string kind;            // "prose", "formula", "more", or the word behind ```
  std::vector<Entry> entries;  // of a block with settings: its first lines; of a task those below its words
  std::string text;            // trimmed
  int line = 0;                // of the text's first line
};

//     ---
//     title: Keep it, or compute it again
//     ---
//     Prose with [terms](term:activations).
//
//     ```question
//     kind: number
//
//     How high is the peak?
//     ```
struct Document {
  std::string file;
  std::vector<Entry> front;
  std::vector<Part> parts;
};

// A text line by line, without the ends of lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  int number() const { return number_; }  // of the line that take() gave last, from 1
  std::string_view take();

 private:
  std::string_view rest_;
  int number_ = 0;
};

Document parse_document(std::string_view text, std::string_view file, Problems& problems);

std::string_view trimmed(std::string_view text);
// The words between spaces.
std::vector<std::string> words_of(std::string_view text);

}  // namespace headroom::lessons
